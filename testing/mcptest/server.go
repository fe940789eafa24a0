package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// A Server does what a test tells it to. The zero value is ready: it offers nothing, and knows what every server does.
// The capabilities that it names follow from what was added before the client connected.
//
// It serves modern revisions (since 2026-07-28) and legacy ones, each request by the one that it says or that the
// client has agreed on with initialize.
//
// Set the fields before the first client connects. The methods may be called at any time from any goroutine.
type Server struct {
	// Info is how the server introduces itself, by default as "mcptest" in version "1".
	Info mcp.Implementation
	// Instructions tell a model how to use the server; none if empty.
	Instructions string
	// Versions are the revisions that the server speaks; nil means all. Without a modern one, the server does not know
	// server/discover; without a legacy one, it refuses initialize. A client that asks for another one with initialize
	// gets the newest legacy one.
	Versions []string
	// TTL is how long a client may keep lists and the like, which modern revisions say; 0 means not at all. They are
	// private, unless a handler says something else.
	TTL time.Duration
	// PollInterval is how often a client is to ask for a task, if it is not 0. See [Server.AddTaskTool].
	PollInterval time.Duration
	// PageSize is how many items of a list are on a page; 0 means all.
	PageSize int
	// Logging says that the server offers to log. See [Call.Log].
	Logging bool
	// Complete answers completion/complete, which the server offers if it is not nil.
	Complete func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error)
	// Capabilities is sent as it is in place of what the server offers, unless it is nil.
	Capabilities json.RawMessage

	tools     offers[mcp.Tool]
	resources offers[mcp.Resource]
	templates offers[mcp.ResourceTemplate]
	prompts   offers[mcp.Prompt]

	mu       sync.Mutex
	handlers map[string]Handler
	sessions []*Session
	received []transport.Message
	tasks    map[string]*task // by id; nil if there is no tool for them
}

// A Handler answers requests, each on a goroutine of its own. Its ctx ends when the client cancels the request, which
// is then not answered, and when the session ends; the handler must return then.
//
// The result is encoded as JSON; nil is an empty object. What a modern revision wants on every result is added unless
// it is there. A [json.RawMessage] is sent as it is. An [*mcp.RPCError] is sent as it is, [ErrNoAnswer] not at all, any
// other error as an internal one with its text. [NeedInput] asks the client for something first.
type Handler func(ctx context.Context, call *Call) (result any, err error)

// Handlers with a result of their own type. They are like [Handler] otherwise, but for the errors of tools: see
// [Server.AddTool].
type (
	ToolHandler     func(ctx context.Context, call *Call) (*mcp.CallToolResult, error)
	ResourceHandler func(ctx context.Context, call *Call) (*mcp.ReadResourceResult, error)
	PromptHandler   func(ctx context.Context, call *Call) (*mcp.GetPromptResult, error)
)

// ErrNoAnswer is what a handler returns for its request never to be answered.
var ErrNoAnswer = errors.New("mcptest: no answer")

// Handle has a handler answer a method, whether the server knows it otherwise or not. With nil the server does not know
// the method. A handler of a notification is called in addition to what the server does by itself. Requests of a modern
// revision that lack the _meta that they must have, or name another revision, do not get to a handler.
func (s *Server) Handle(method string, h Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handlers == nil {
		s.handlers = make(map[string]Handler)
	}
	s.handlers[method] = h
}

// AddTool offers a tool, in place of one of the same name. An error that h returns becomes a result that says so, with
// IsError set; an [*mcp.RPCError] goes out as such.
func (s *Server) AddTool(t *mcp.Tool, h ToolHandler) {
	s.tools.add(t.Name, t, reportingFailure(typed(h)))
}

// AddResource offers a resource, in place of one of the same URI.
func (s *Server) AddResource(r *mcp.Resource, h ResourceHandler) {
	s.resources.add(r.URI, r, typed(h))
}

// AddResourceTemplate offers resources by a URI template (RFC 6570). To read one, expressions like {id} match any text
// without a slash, and ones with an operator, like {+path}, any text at all.
func (s *Server) AddResourceTemplate(t *mcp.ResourceTemplate, h ResourceHandler) {
	s.templates.add(t.URITemplate, t, typed(h))
}

// AddPrompt offers a prompt, in place of one of the same name.
func (s *Server) AddPrompt(p *mcp.Prompt, h PromptHandler) {
	s.prompts.add(p.Name, p, typed(h))
}

// Remove takes back what was added under the name of a tool or a prompt, the URI of a resource, or a URI template. The
// kind of list stays on offer.
func (s *Server) Remove(name string) {
	s.tools.remove(name)
	s.resources.remove(name)
	s.templates.remove(name)
	s.prompts.remove(name)
}

// Notify sends a notification to every client that is connected. Changes of lists and resources go to a client of a
// modern revision only where it listens for them, on each of its subscriptions that wants them. Params are encoded as
// JSON; nil is none. Adding and removing things notifies nobody: that is up to the test.
func (s *Server) Notify(ctx context.Context, method string, params any) error {
	var errs []error
	for _, session := range s.Sessions() {
		if !isChange(method) || !session.modern() {
			errs = append(errs, session.Notify(ctx, method, params))
		}
		errs = append(errs, session.tell(ctx, method, params))
	}
	return errors.Join(errs...)
}

// ResourceUpdated tells those clients that a resource changed which have subscribed to it.
func (s *Server) ResourceUpdated(ctx context.Context, uri string) error {
	const method = string(mcp.ResourceUpdated)
	params := map[string]string{"uri": uri}
	var errs []error
	for _, session := range s.Sessions() {
		if session.subscribed(uri) {
			errs = append(errs, session.Notify(ctx, method, params))
		}
		errs = append(errs, session.tell(ctx, method, params))
	}
	return errors.Join(errs...)
}

// Sessions returns those that are connected, in the order in which they did.
func (s *Server) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sessions)
}

// Received returns the messages that came from clients, in order: those of the methods, or all if none is given,
// answers included. Nothing is ever forgotten.
func (s *Server) Received(methods ...string) []transport.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []transport.Message
	for _, m := range s.received {
		if len(methods) == 0 || slices.Contains(methods, m.Method) {
			all = append(all, m)
		}
	}
	return all
}

func (s *Server) record(m *transport.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, *m)
}

// handler finds who answers a method, nil if nobody does.
func (s *Server) handler(method string, modern bool) Handler {
	if h, own := s.own(method); own {
		return h
	}
	return builtIn(method, modern)
}

// own finds the handler that the test has set for a method.
func (s *Server) own(method string) (Handler, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, own := s.handlers[method]
	return h, own
}
