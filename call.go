package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// A request is one call on its way out.
type request struct {
	method string
	target string          // the tool, prompt or resource that error messages name; may be empty
	params json.RawMessage // a compact object without _meta, or nil
	// renewable: progress may come, so that a token is sent even if the caller does not listen: it renews the idle
	// limit.
	renewable bool
	// handshake: the request is initialize. It goes out without a version, also when a session is renewed, and must not
	// be cancelled on the wire (basic/utilities/cancellation).
	handshake bool
}

// wrap puts the operation in front of an error, once.
func (r *request) wrap(err error) error {
	if r.target != "" {
		return fmt.Errorf("mcp: %s %q: %w", r.method, r.target, err)
	}
	return fmt.Errorf("mcp: %s: %w", r.method, err)
}

// call sends a request and returns the message that answers it, which has a result. Progress handlers run in here. The
// errors are wrapped already.
func (c *Client) call(ctx context.Context, r *request, o *callOptions) (*transport.Message, error) {
	answer, err := c.exchange(ctx, r, o)
	if err == nil && answer.Error != nil {
		err = answer.Error
	}
	if err != nil {
		return nil, r.wrap(err)
	}
	return answer, nil
}

// callAs sends a request and decodes its result.
func callAs[T any, P decodable[T]](ctx context.Context, c *Client, r *request, o *callOptions) (*T, error) {
	answer, err := c.call(ctx, r, o)
	if err != nil {
		return nil, err
	}
	result, notes, err := decodeResult[T, P](answer.Result)
	c.tolerated(r.method, notes)
	if err != nil {
		return nil, r.wrap(fmt.Errorf("unusable result: %w", err))
	}
	return result, nil
}

// exchange sends a request and returns what the server answered. If the server has forgotten the session, and so cannot
// have executed the request, it is sent once more in a new one.
func (c *Client) exchange(ctx context.Context, r *request, o *callOptions) (*transport.Message, error) {
	session := c.session.Load()
	answer, err := c.attempt(ctx, r, o)
	if session == nil || !forgotten(err) {
		return answer, err
	}
	if err := c.renew(ctx, session); err != nil {
		return nil, transport.Unsent(fmt.Errorf("%w, and there is no new one: %w", ErrSessionExpired, err))
	}
	return c.attempt(ctx, r, o)
}

func (c *Client) attempt(ctx context.Context, r *request, o *callOptions) (*transport.Message, error) {
	if ctx.Err() != nil {
		return nil, transport.Unsent(ended(ctx))
	}
	p := &pendingCall{
		id:     c.nextID.Add(1),
		method: r.method,
		wanted: o.progress != nil,
		wake:   make(chan struct{}, 1),
		active: time.Now(),
	}
	params, err := r.withMeta(p.id, o)
	if err != nil {
		return nil, transport.Unsent(err)
	}
	if err := c.addPending(p); err != nil {
		return nil, transport.Unsent(err)
	}
	defer c.removePending(p) // a progress handler may panic
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limits := c.newDeadline(p, o, cancel)
	defer limits.stop()

	m := &transport.Message{ID: transport.IntID(p.id), Method: r.method, Params: params}
	out := transport.Outgoing{Message: m, Deliver: func(m *transport.Message) {
		c.dispatch(m)
		p.report(o.progress)
	}}
	if !r.handshake {
		out.Version = c.version()
	}
	if err := c.conn.Send(ctx, out); err != nil {
		return c.unanswered(ctx, p, r, err)
	}
	return c.await(ctx, p, r, o)
}

// await runs progress handlers until the answer is there, or nobody waits for it any longer.
func (c *Client) await(ctx context.Context, p *pendingCall, r *request, o *callOptions) (*transport.Message, error) {
	for {
		if answer, err := p.report(o.progress); answer != nil || err != nil {
			return answer, err
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
			return c.unanswered(ctx, p, r, ctx.Err())
		case <-c.done:
			return c.unanswered(ctx, p, r, c.err)
		}
	}
}

// unanswered ends a call that failed with err on this side. An answer that came all the same wins.
func (c *Client) unanswered(ctx context.Context, p *pendingCall, r *request, err error) (*transport.Message, error) {
	waiting := c.removePending(p)
	if _, answer, failure := p.take(); answer != nil || failure != nil {
		return answer, failure
	}
	unsent := transport.SafeToRetry(err)
	switch {
	case !waiting:
		err = c.err // the client has ended, which says more than what its transport ran into
	case ctx.Err() != nil:
		err = ended(ctx)
		if !unsent && !r.handshake {
			c.post(cancelNotice(p.id))
		}
	}
	if unsent {
		err = transport.Unsent(err)
	}
	return nil, err
}

// report hands progress to the caller, on its own goroutine, and then returns the answer if there is one.
func (p *pendingCall) report(handle func(Progress)) (*transport.Message, error) {
	progress, answer, err := p.take()
	for _, params := range progress {
		handle(decodeProgress(params))
	}
	return answer, err
}

func (c *Client) addPending(p *pendingCall) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		return c.err
	}
	c.pending[p.id] = p
	return nil
}

// removePending forgets a call and reports whether it was still waiting on a living connection.
func (c *Client) removePending(p *pendingCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waiting := c.pending[p.id]
	delete(c.pending, p.id)
	return waiting
}

// withMeta returns the params with the _meta that the request goes out with, if any.
func (r *request) withMeta(id int64, o *callOptions) (json.RawMessage, error) {
	token := r.renewable || o.progress != nil
	if !token && len(o.meta) == 0 {
		return r.params, nil
	}
	b := make([]byte, 0, len(r.params)+48)
	b = append(b, `{"_meta":{`...)
	if token {
		b = append(b, `"progressToken":`...)
		b = transport.IntID(id).Append(b)
	}
	for name, value := range o.meta {
		if name == "progressToken" && token {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(jsonscan.AppendString(b, name), ':')
		var err error
		if b, err = jsonscan.AppendRaw(b, value); err != nil {
			return nil, fmt.Errorf("_meta %q: %w", name, err)
		}
	}
	b = append(b, '}')
	if len(r.params) <= len("{}") {
		return append(b, '}'), nil
	}
	b = append(b, ',')
	return append(b, r.params[1:]...), nil
}

// requires returns a CapabilityError if the server does not offer what a request needs.
func (c *Client) requires(r *request, offered bool, capability string) error {
	if offered {
		return nil
	}
	return r.wrap(transport.Unsent(&CapabilityError{Capability: capability}))
}
