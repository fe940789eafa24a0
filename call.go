package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// A request is one call on its way out.
type request struct {
	method string
	target string          // the tool, prompt or resource that error messages name; may be empty
	params json.RawMessage // a compact object without _meta, or nil
	mirror transport.Mirror
	// renewable: progress may come, so that a token is sent even if the caller does not listen: it renews the idle
	// limit.
	renewable bool
	// opening: the request opens the connection (initialize, server/discover). It must not be cancelled on the wire
	// (2025-11-25, basic/utilities/cancellation); a server of the other era would not know what that is about.
	opening bool
	// listener takes the notifications of a request that subscribes.
	listener *listener
	// cache is set for requests whose answers may be kept.
	cache *cacheUse
	// in is the session that an opening request speaks in; it has none of its own yet.
	in *session
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
	answer, err := c.complete(ctx, r, o)
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
		c.cache.unusable(r)
		return nil, r.wrap(fmt.Errorf("unusable result: %w", err))
	}
	return result, nil
}

// exchangeAnew sends a request and returns what the server answered. A request that the server cannot have executed,
// because it has forgotten the session or refuses the revision, is sent once more after that is mended.
func (c *Client) exchangeAnew(ctx context.Context, r *request, o *callOptions) (*transport.Message, error) {
	session := c.session.Load()
	answer, err := c.attempt(ctx, r, o)
	switch {
	case session == nil:
		return answer, err
	case forgotten(err):
		if err := c.replace(ctx, session); err != nil {
			return nil, err
		}
	case err == nil && answer.Error != nil && answer.Error.Code == CodeUnsupportedProtocolVersion:
		if mended, err := c.speakOther(ctx, session, answer.Error); !mended {
			return answer, err
		}
	default:
		return answer, err
	}
	return c.attempt(ctx, r, o)
}

// speakOther goes over to another revision, of those that the server named when it refused the one it was asked in. On
// a shared channel the era stays: the server has accepted it.
func (c *Client) speakOther(ctx context.Context, old *session, refusal *RPCError) (mended bool, err error) {
	if !old.modern() {
		return false, nil
	}
	supported := supportedVersions(refusal)
	if v := mutual(modernVersions(c.opts.Versions), supported); v != "" {
		server := old.server
		server.ProtocolVersion = v
		return true, c.adopt(&server)
	}
	if mutual(legacyVersions(c.opts.Versions), supported) == "" || !c.conn.Traits().RequestStreams {
		return false, nil
	}
	if err := c.renew(ctx, old); err != nil {
		return false, fmt.Errorf("%w: %w", refusal, err)
	}
	return true, nil
}

func (c *Client) attempt(ctx context.Context, r *request, o *callOptions) (*transport.Message, error) {
	if ctx.Err() != nil {
		return nil, transport.Unsent(ended(ctx))
	}
	session := r.in
	if !r.opening {
		session = c.session.Load()
	}
	id := c.nextID.Add(1)
	if len(c.opts.Interceptors) > 0 {
		return c.interceptRequest(ctx, id, session, r, o)
	}
	return c.send(ctx, id, session, r, o)
}

// interceptRequest is apart from attempt so that what it captures stays off the heap where there are no interceptors.
func (c *Client) interceptRequest(
	ctx context.Context, id int64, session *session, r *request, o *callOptions,
) (*transport.Message, error) {
	m := &transport.Message{ID: transport.IntID(id), Method: r.method, Params: r.params}
	return c.interceptSending(ctx, c.newExchange(m, session), o,
		func(ctx context.Context, o *callOptions) (*transport.Message, error) {
			return c.send(ctx, id, session, r, o)
		})
}

// send sends a request and waits for what comes of it. Only from here on is the call pending.
func (c *Client) send(
	ctx context.Context, id int64, session *session, r *request, o *callOptions,
) (*transport.Message, error) {
	p := &pendingCall{
		id:       id,
		method:   r.method,
		wanted:   o.progress != nil,
		listener: r.listener,
		opening:  r.opening,
		token:    r.renewable || o.progress != nil,
		wake:     make(chan struct{}, 1),
		active:   time.Now(),
	}
	params, err := r.withMeta(p.id, session.commonMeta(), o)
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

	out := transport.Outgoing{
		Message: &transport.Message{ID: transport.IntID(p.id), Method: r.method, Params: params},
		Version: session.version(),
		Mirror:  r.mirror,
		Header:  o.header,
		Deliver: func(m *transport.Message) {
			if p.listener != nil && m.IsNotification() {
				p.listener.notified(m) // whether or not it says which subscription it belongs to
				return
			}
			c.dispatch(m)
			p.report(o.progress)
		},
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
		if !unsent && !r.opening && !c.closesStreams() {
			c.postOutgoing(ctx, transport.Outgoing{Message: cancelNotice(p.id), Unattended: true})
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

// closesStreams reports whether a request is cancelled by closing its response stream, without a notice.
func (c *Client) closesStreams() bool {
	return c.session.Load().modern() && c.conn.Traits().RequestStreams
}

// requires returns a CapabilityError if the server does not offer what a request needs.
func (c *Client) requires(r *request, offered bool, capability string) error {
	if offered {
		return nil
	}
	return r.wrap(transport.Unsent(&CapabilityError{Capability: capability}))
}
