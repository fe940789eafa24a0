package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// A Session is one connection of a client. Its methods may be called from any goroutine.
type Session struct {
	server *Server
	conn   transport.Conn
	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc
	calls  sync.WaitGroup // the goroutines of handlers

	mu            sync.Mutex
	initialized   bool // by a handshake
	modernOpened  bool // there was a request of a modern revision
	version       string
	client        mcp.Implementation
	capabilities  json.RawMessage
	level         mcp.LogLevel
	subscriptions map[string]bool // of legacy revisions, by URI
	listeners     []*subscription // of modern ones
	running       map[transport.ID]*Call
	lastID        int64
	asked         map[transport.ID]chan *transport.Message // what the client has to answer
}

// run serves the client until the connection ends, and returns when every handler has.
func (x *Session) run() error {
	defer x.server.end(x)
	for {
		m, err := x.conn.Receive(x.ctx)
		if err != nil {
			return err
		}
		x.server.record(m)
		x.take(m)
	}
}

func (s *Server) begin(conn transport.Conn) *Session {
	session := &Session{
		server:        s,
		conn:          conn,
		subscriptions: make(map[string]bool),
		running:       make(map[transport.ID]*Call),
		asked:         make(map[transport.ID]chan *transport.Message),
	}
	session.ctx, session.cancel = context.WithCancelCause(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, session)
	return session
}

func (s *Server) end(session *Session) {
	s.mu.Lock()
	s.sessions = without(s.sessions, session)
	s.mu.Unlock()
	session.cancel(errClosed)
	session.conn.Close()
	session.calls.Wait()
}

// without returns a new list, since others may hold the old one.
func without(list []*Session, one *Session) []*Session {
	var rest []*Session
	for _, other := range list {
		if other != one {
			rest = append(rest, other)
		}
	}
	return rest
}

// take handles a message, and waits for nothing. What is no message is skipped, as servers do.
func (x *Session) take(m *transport.Message) {
	switch {
	case m.Fault != nil:
	case m.IsRequest():
		x.serve(m)
	case m.IsNotification():
		x.notified(m)
	case m.IsResponse():
		x.answered(m)
	}
}

// errCancelled is the cause that the ctx of a handler ends with when the client cancels its request.
var errCancelled = errors.New("mcptest: cancelled by the client")

func (x *Session) serve(m *transport.Message) {
	call := newCall(x, m)
	refusal := x.admit(call) // here, since it depends on what came before
	var ctx context.Context
	ctx, call.cancel = context.WithCancelCause(x.ctx)
	x.mu.Lock()
	x.running[m.ID] = call
	x.mu.Unlock()
	x.calls.Go(func() {
		defer x.done(call)
		reply := call.answer(ctx, refusal)
		if reply == nil || context.Cause(ctx) == errCancelled {
			return // basic/utilities/cancellation: no response to a cancelled request
		}
		_ = x.Send(x.ctx, reply) // an error means that nobody is there to be answered
	})
}

func (x *Session) done(call *Call) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running[call.ID] == call { // a client may use an id twice
		delete(x.running, call.ID)
	}
	call.cancel(nil)
	close(call.finished)
}

// answer runs the handler, unless the call is refused, and returns what to send, nil for nothing.
func (c *Call) answer(ctx context.Context, refusal error) *transport.Message {
	reply := &transport.Message{ID: c.ID}
	err := refusal
	if err == nil {
		reply.Result, err = c.handle(ctx)
	}
	if errors.Is(err, ErrNoAnswer) {
		return nil
	}
	if err != nil {
		reply.Result = nil
		if !errors.As(err, &reply.Error) {
			reply.Error = &mcp.RPCError{Code: mcp.CodeInternalError, Message: err.Error()}
		}
	}
	return reply
}

func (c *Call) handle(ctx context.Context) (json.RawMessage, error) {
	h := c.Session.server.handler(c.Method, c.modern)
	if h == nil {
		return nil, unknownMethod(c)
	}
	result, err := c.run(ctx, h)
	if err != nil {
		return nil, err
	}
	if result == nil {
		result = struct{}{}
	}
	if _, asItIs := result.(json.RawMessage); asItIs || !c.modern {
		return encoded(result)
	}
	return c.stamped(result)
}

func (x *Session) notified(m *transport.Message) {
	if m.Method == "notifications/cancelled" {
		x.cancelled(m.Params)
	}
	if h, _ := x.server.own(m.Method); h != nil {
		x.calls.Go(func() { _, _ = h(x.ctx, newCall(x, m)) })
	}
}

func (x *Session) cancelled(raw json.RawMessage) {
	var params struct {
		ID transport.ID `json:"requestId"`
	}
	if json.Unmarshal(raw, &params) != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if call := x.running[params.ID]; call != nil {
		call.cancel(errCancelled)
	}
}

func (x *Session) initialize(version string, client mcp.Implementation, capabilities json.RawMessage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.initialized = true
	x.version, x.client, x.capabilities = version, client, capabilities
}

func (x *Session) subscribe(uri string, on bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.subscriptions[uri] = on
}

func (x *Session) subscribed(uri string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.subscriptions[uri]
}

func (x *Session) setLevel(level mcp.LogLevel) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.level = level
}

// encoded is the JSON of what a test wants to send.
func encoded(v any) (json.RawMessage, error) { return jsonscan.AppendValue(nil, v) }
