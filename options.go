package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// Options configure a client. The zero value is usable and advertises no capability: capabilities follow from the
// handlers that are set. Connect copies the options; changing them later has no effect.
//
// Handlers run on goroutines of their own and may call the client, which they find with [ClientFromContext]. Their ctx
// ends when the server cancels the request, and when the client is closed. A panic in a handler is recovered and
// logged; so is the end of its goroutine (runtime.Goexit, which is what FailNow of a test does).
type Options struct {
	// Info is how the client introduces itself. Name and Version default to "mcp" and "unknown".
	Info Implementation

	// Versions are the revisions to accept; nil means all that the client speaks. One alone pins it. Some servers offer
	// 2026-07-28 and have tools that fail there, since they still ask the user or a model as it was done before:
	// without that revision they work.
	Versions []string

	// ProbeTimeout is how long Connect waits for the answer of a server that may belong to either era before it begins
	// the handshake of the legacy one as well: 1 s if zero. It matters only where the two share a channel (stdio,
	// pipe).
	ProbeTimeout time.Duration
	// Timeout bounds the time in which a call sees neither an answer nor progress: 60 s if zero, none if negative.
	// While a handler of the client is answering the server, the time does not run.
	Timeout time.Duration
	// MaxTimeout bounds a call as a whole; nothing renews it: 1 h if zero, none if negative.
	MaxTimeout time.Duration
	// MaxPages bounds the pages of one list: 1,000 if zero. More are an error, never a shorter list.
	MaxPages int
	// MaxListBytes bounds the pages of one list together, as JSON: 64 MiB if zero. More is an error as well.
	MaxListBytes int
	// MaxInputRounds bounds how often a server may ask for input before it answers one call (2026-07-28): 10 if zero.
	MaxInputRounds int
	// KeepAlive is the interval at which to look for a dead connection: never if zero. Whatever the server sends is a
	// sign of life; if nothing has come since the last time, it is pinged. The connection ends when nothing comes for
	// an interval after a ping, but not as long as calls that were made before it wait for their answers within limits
	// of their own: a server that does one thing after the other is busy, not dead. A server that does not know ping is
	// left alone after the first.
	KeepAlive time.Duration

	// Cache keeps results for as long as the server allows (2026-07-28): none are kept if nil.
	Cache *Cache

	// Elicit asks the user to fill in a form. Fields that the user leaves out get the defaults of the schema, and what
	// is accepted is checked against it before it is sent.
	Elicit func(context.Context, *ElicitRequest) (*ElicitResult, error)
	// ElicitURL asks the user for consent to visit a URL (2025-11-25). Show the whole URL; never fetch it.
	ElicitURL func(context.Context, *ElicitRequest) (*ElicitResult, error)
	// CreateMessage asks a language model for the server.
	CreateMessage func(context.Context, *CreateMessageRequest) (*CreateMessageResult, error)
	// CreateMessageTools says that CreateMessage honours tools and toolChoice (2025-11-25). Requests that have them are
	// refused otherwise.
	CreateMessageTools bool
	// Roots returns the directories and files that the server may work on.
	Roots func(context.Context) ([]Root, error)
	// On are handlers of notifications.
	On Notifications
	// Requests are handlers of requests beyond the protocol, by method.
	Requests map[string]RequestHandler
	// Experimental are non-standard capabilities to advertise, by name; each value is a JSON object.
	Experimental map[string]json.RawMessage
	// Extensions are the extensions of the protocol that the caller supports, by identifier; each value is the JSON
	// object of its settings (2026-07-28, basic/versioning, Extension Negotiation). The server's are in its
	// capabilities.
	Extensions map[string]json.RawMessage

	// Tasks lets the server go on with a call of a tool after it has answered (2026-07-28, extension
	// io.modelcontextprotocol/tasks). Nothing changes for the caller: [Client.CallTool] asks for the result until it is
	// there, within MaxTimeout. An entry for the extension in Extensions does the same. It is off by default as all
	// extensions have to be. See [WithTask].
	Tasks bool

	// Interceptors stand around every exchange with the server. See [Interceptor].
	Interceptors []Interceptor

	// Logger gets diagnostics: what was tolerated, skipped or dropped. Nil discards them. It is called on a goroutine
	// of its own, and may do anything; at most 256 records wait for it, and what comes on top is counted in the next
	// one.
	Logger *slog.Logger
}

// Notifications are handlers of what the server says unasked. They are called one after the other, in the order of
// arrival, on one goroutine. Changes coalesce: however many arrive while a handler is busy, each handler is called once
// more, so that a slow one falls behind but never piles up work. They are called as well where the server's messages
// may have been missed for a while.
type Notifications struct {
	ToolsChanged     func(context.Context)
	PromptsChanged   func(context.Context)
	ResourcesChanged func(context.Context)
	// ResourceUpdated is called after SubscribeResource; changes of one resource coalesce.
	ResourceUpdated func(ctx context.Context, uri string)
	// ElicitationComplete says that what a URL elicitation asked for was done (2025-11-25).
	ElicitationComplete func(ctx context.Context, elicitationID string)
	// Log gets the server's log messages. At most 1,024 wait for a slow handler; what comes on top is dropped.
	Log func(context.Context, *LogMessage)
	// Other gets every other notification, params as they came (nil if there were none). Those wait together with log
	// messages.
	Other func(ctx context.Context, method string, params json.RawMessage)
}

// A RequestHandler answers a request of the server. The result must encode to a JSON object; nil stands for an empty
// one. An [*RPCError] is sent as it is. Any other error is logged, and the server is told only that the handler failed:
// its text may say more about the host than a server should know.
type RequestHandler func(ctx context.Context, params json.RawMessage) (result any, err error)

const (
	defaultProbeTimeout = time.Second
	defaultTimeout      = 60 * time.Second
	defaultMaxTimeout   = time.Hour
	defaultMaxPages     = 1000
	defaultMaxListBytes = 64 << 20
	defaultInputRounds  = 10
)

// resolved returns a copy of the options with the defaults filled in.
func (o *Options) resolved() (*Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	var err error
	if r.Versions, err = acceptedVersions(r.Versions); err != nil {
		return nil, err
	}
	if r.ProbeTimeout <= 0 {
		r.ProbeTimeout = defaultProbeTimeout
	}
	r.Timeout = limit(r.Timeout, defaultTimeout)
	r.MaxTimeout = limit(r.MaxTimeout, defaultMaxTimeout)
	if r.MaxPages <= 0 {
		r.MaxPages = defaultMaxPages
	}
	if r.MaxListBytes <= 0 {
		r.MaxListBytes = defaultMaxListBytes
	}
	if r.MaxInputRounds <= 0 {
		r.MaxInputRounds = defaultInputRounds
	}
	if r.Info.Name == "" {
		r.Info.Name = "mcp"
	}
	if r.Info.Version == "" {
		r.Info.Version = "unknown"
	}
	if r.Logger == nil {
		r.Logger = discarded
	}
	if r.Cache != nil && r.Cache.store == nil {
		return nil, errors.New("Options.Cache is not from NewCache")
	}
	r.Requests = maps.Clone(r.Requests)
	for method, handler := range r.Requests {
		if handler == nil || builtInRequests[method] {
			return nil, fmt.Errorf("Options.Requests: %q cannot be handled here", method)
		}
	}
	r.Interceptors = slices.Clone(r.Interceptors)
	for i, interceptor := range r.Interceptors {
		if interceptor == nil {
			return nil, fmt.Errorf("Options.Interceptors: number %d is nil", i)
		}
	}
	r.Experimental, r.Extensions = maps.Clone(r.Experimental), maps.Clone(r.Extensions)
	r.Tasks = r.Tasks || r.Extensions[tasksExtension] != nil
	return &r, nil
}

// discarded is the logger of a client that was given none.
var discarded = slog.New(slog.DiscardHandler)

// limit applies a default to a duration for which zero means the default and less means none; none is zero from here
// on.
func limit(d, byDefault time.Duration) time.Duration {
	switch {
	case d == 0:
		return byDefault
	case d < 0:
		return 0
	}
	return d
}

// capabilities are what the client advertises: what there is a handler for, and nothing else.
func (o *Options) capabilities(modern bool) *clientCapabilities {
	c := &clientCapabilities{Experimental: o.Experimental, Extensions: o.extensions(modern)}
	if o.Roots != nil {
		c.Roots = &rootsCapability{ListChanged: !modern} // 2026-07-28 has no notification for it
	}
	if o.CreateMessage != nil {
		c.Sampling = &samplingCapability{}
		if o.CreateMessageTools {
			c.Sampling.Tools = &struct{}{}
		}
	}
	if o.Elicit != nil || o.ElicitURL != nil {
		c.Elicitation = &elicitationCapability{}
		if o.Elicit != nil {
			c.Elicitation.Form = &struct{}{}
		}
		if o.ElicitURL != nil {
			c.Elicitation.URL = &struct{}{}
		}
	}
	return c
}

// extensions are those that the client advertises. Legacy revisions know nothing of tasks in this form (SEP-2663,
// Backward Compatibility).
func (o *Options) extensions(modern bool) map[string]json.RawMessage {
	if !o.Tasks || o.Extensions[tasksExtension] != nil && modern {
		return o.Extensions
	}
	all := maps.Clone(o.Extensions)
	if !modern {
		delete(all, tasksExtension)
		return all
	}
	if all == nil {
		all = make(map[string]json.RawMessage, 1)
	}
	all[tasksExtension] = json.RawMessage("{}")
	return all
}
