package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// requestServer runs the handlers of the server's requests, a bounded number at once.
type requestServer struct {
	mu       sync.Mutex
	running  map[transport.ID]context.CancelCauseFunc // the handlers, by normalized id
	answered time.Time                                // when the last one returned
	workers  int                                      // the goroutines that run handlers and send what comes of it
	waiting  []*transport.Message                     // for a worker

	waitingBytes int // of what they hold
}

const (
	maxHandlers = 32
	maxWaiting  = 256
	// maxQueueBytes bounds what any queue for a slow handler holds of the messages that wait in it, since each of them
	// may be large.
	maxQueueBytes = 16 << 20
	// replyTimeout bounds the sending of an answer to a peer that takes no bytes.
	replyTimeout = time.Minute
)

// builtInRequests are the requests that the client answers itself or through a handler with a type of its own.
var builtInRequests = map[string]bool{
	"ping":                   true,
	"roots/list":             true,
	"sampling/createMessage": true,
	"elicitation/create":     true,
}

// requestHandler returns the handler of a method, nil if there is none.
func (o *Options) requestHandler(method string) RequestHandler {
	switch {
	case method == "roots/list" && o.Roots != nil:
		return o.listRoots
	case method == "sampling/createMessage" && o.CreateMessage != nil:
		return o.createMessage
	case method == "elicitation/create" && (o.Elicit != nil || o.ElicitURL != nil):
		return o.elicit
	}
	return o.Requests[method]
}

// serveRequest sees to it that a request of the server is answered. What needs no handler is answered at once, however
// many handlers are busy.
func (c *Client) serveRequest(m *transport.Message) {
	if m.Method == "ping" {
		c.post(&transport.Message{ID: m.ID, Result: json.RawMessage("{}")})
		return
	}
	if c.opts.requestHandler(m.Method) == nil {
		c.log.Debug("refused a request that has no handler", slog.String("method", clip(m.Method, maxLoggedText)))
		c.post(errorResponse(m.ID, CodeMethodNotFound, "method not found"))
		return
	}
	s := c.requests.get()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.has(normalized(m.ID)):
		c.log.Warn("dropped a request whose id is already in use", slog.String("method", m.Method))
	case s.workers < maxHandlers:
		s.workers++
		go c.work(s.begin(c.ctx(), m), m)
	case len(s.waiting) < maxWaiting && s.waitingBytes+requestBytes(m) <= maxQueueBytes:
		s.waiting = append(s.waiting, m)
		s.waitingBytes += requestBytes(m)
	default:
		c.log.Warn("refused a request, too many are unanswered", slog.String("method", m.Method))
		c.post(errorResponse(m.ID, CodeInternalError, "too many requests at once"))
	}
}

// requestBytes is about how much a request of the server's holds. Its method is one that has a handler.
func requestBytes(m *transport.Message) int { return len(m.Params) + m.ID.Size() }

// has reports whether a request with the id is unanswered. The lock is held.
func (s *requestServer) has(id transport.ID) bool {
	return s.running[id] != nil ||
		slices.ContainsFunc(s.waiting, func(m *transport.Message) bool { return normalized(m.ID) == id })
}

// work answers a request, and then those that wait for a worker.
func (c *Client) work(ctx context.Context, m *transport.Message) {
	goexit.Persist(func() bool {
		if m == nil {
			ctx, m = c.requests.get().next(c.ctx())
		}
		if m == nil {
			return false
		}
		current := m
		m = nil
		c.answer(ctx, current)
		return true
	})
}

// next returns a request that waits, nil if the worker is not needed any longer.
func (s *requestServer) next(client context.Context) (context.Context, *transport.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 || client.Err() != nil {
		s.workers--
		return nil, nil
	}
	m := s.waiting[0]
	s.waiting = s.waiting[1:]
	s.waitingBytes -= requestBytes(m)
	return s.begin(client, m), m
}

// begin registers a request that is about to run, so that it can be cancelled. The lock is held.
func (s *requestServer) begin(client context.Context, m *transport.Message) context.Context {
	ctx, cancel := context.WithCancelCause(client)
	if s.running == nil {
		s.running = make(map[transport.ID]context.CancelCauseFunc)
	}
	s.running[normalized(m.ID)] = cancel
	return ctx
}

// finish ends what begin began. From here on the server may use the id again.
func (s *requestServer) finish(m *transport.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[normalized(m.ID)](nil)
	delete(s.running, normalized(m.ID))
	s.answered = time.Now()
}

// activity reports whether handlers run now, and when the last one returned.
func (s *requestServer) activity() (busy bool, until time.Time) {
	if s == nil {
		return false, until
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running) > 0, s.answered
}

// errWithdrawn is the cause that the ctx of a handler ends with when the server cancels its request.
var errWithdrawn = errors.New("cancelled by the server")

// cancelRequest ends the handler of a request that the server no longer wants an answer to.
func (c *Client) cancelRequest(params json.RawMessage) {
	d := jsonscan.New(params)
	var id transport.ID
	for name := range d.Object() {
		if string(name) == "requestId" {
			id, _ = transport.ParseID(d.Raw())
		}
	}
	if c.endListener(id) { // 2026-07-28: so a server tears a subscription down
		return
	}
	s, key := c.requests.get(), normalized(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[key]; cancel != nil {
		cancel(errWithdrawn)
		return
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(m *transport.Message) bool {
		if normalized(m.ID) != key {
			return false
		}
		s.waitingBytes -= requestBytes(m)
		return true
	})
}

// normalized is the id under which a request is known: 1 and "1" are the same to servers that mix them up.
func normalized(id transport.ID) transport.ID {
	if n, ok := id.Int64(); ok {
		return transport.IntID(n)
	}
	return id
}

// answer runs the handler of a request and sends what comes of it.
func (c *Client) answer(ctx context.Context, m *transport.Message) {
	result, err := json.RawMessage(nil), goexit.Err
	defer func() { c.reply(ctx, m, result, err) }()
	result, err = c.runHandler(ctx, m)
}

// reply sends what came of a request, unless the server has cancelled it.
func (c *Client) reply(ctx context.Context, m *transport.Message, result json.RawMessage, err error) {
	c.requests.get().finish(m)
	if context.Cause(ctx) == errWithdrawn {
		return // basic/utilities/cancellation: a cancelled request gets no response
	}
	reply := &transport.Message{ID: m.ID, Result: result}
	var rpc *RPCError
	switch {
	case err == nil:
	case errors.As(err, &rpc):
		reply.Error = rpc
	default:
		c.log.Error("a handler failed", slog.String("method", m.Method), slog.Any("error", err))
		reply.Error = &RPCError{Code: CodeInternalError, Message: "the client's handler failed"}
	}
	ctx, cancel := context.WithTimeout(c.ctx(), replyTimeout)
	defer cancel()
	out := transport.Outgoing{Message: reply, Version: c.version(), Deliver: c.dispatch}
	if err := c.conn.Send(ctx, out); err != nil {
		c.log.Warn("an answer was not sent", slog.String("method", m.Method), slog.Any("error", err))
	}
}

// runHandler returns the result of a request's handler, encoded.
func (c *Client) runHandler(ctx context.Context, m *transport.Message) (result json.RawMessage, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return c.interceptReceived(ctx, m, func(ctx context.Context) (json.RawMessage, error) {
		result, err := c.opts.requestHandler(m.Method)(ctx, m.Params)
		switch {
		case context.Cause(ctx) == errWithdrawn:
			return nil, ended(ctx)
		case err != nil:
			return nil, err
		}
		return encodeResult(result)
	})
}

// encodeResult turns what a handler returned into the object that a result has to be.
func encodeResult(result any) (json.RawMessage, error) {
	raw, err := encodeObject(result)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	if raw == nil {
		raw = json.RawMessage("{}")
	}
	return raw, nil
}

func errorResponse(id transport.ID, code int64, message string) *transport.Message {
	return &transport.Message{ID: id, Error: &RPCError{Code: code, Message: message}}
}
