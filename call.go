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
	mirror transport.Mirror
	// renewable: progress may come, so that a token is sent even if the caller does not listen: it renews the idle
	// limit.
	renewable bool
	// unshared: the result is for this call alone, and is not kept.
	unshared bool
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
	result := new(T)
	notes, err := decodeFrom(c.scan(r, answer), P(result))
	c.tolerated(r.method, notes)
	if err != nil {
		c.cache.unusable(r)
		return nil, r.wrap(fmt.Errorf("unusable result: %w", err))
	}
	return result, nil
}

// scan returns what reads the result of a request. The message is the client's own, so that long strings of results
// that nobody else may see again, neither an interceptor nor a later caller, are decoded in place.
func (c *Client) scan(r *request, answer *transport.Message) jsonscan.Decoder {
	if len(c.opts.Interceptors) > 0 || !r.unshared {
		return jsonscan.NewValid(answer.Result)
	}
	return jsonscan.NewOwned(answer.Result)
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
	params, err := r.withMeta(id, session.commonMeta(), o)
	if err != nil {
		return nil, transport.Unsent(err)
	}
	now := time.Now()
	p, err := c.addPending(id, r, o, now)
	if err != nil {
		return nil, transport.Unsent(err)
	}
	inner := &callContext{parent: ctx}
	defer c.retire(p, inner) // also if a progress handler panics
	p.limits.start(inner, r, o, now)

	out := transport.Outgoing{
		Message: &transport.Message{ID: transport.IntID(id), Method: r.method, Params: params},
		Version: session.version(),
		Mirror:  r.mirror,
		Header:  o.header,
		Deliver: p.deliver,
	}
	if err := c.conn.Send(inner, out); err != nil {
		return c.unanswered(inner, p, r, err)
	}
	if c.lends {
		c.receiveAnswer(ctx, p)
	}
	return c.await(inner, p, r)
}

// await runs progress handlers until the answer is there, or nobody waits for it any longer.
func (c *Client) await(ctx *callContext, p *pendingCall, r *request) (*transport.Message, error) {
	for {
		if answer, err := p.report(); answer != nil || err != nil {
			return answer, err
		}
		if err := ctx.Err(); err != nil {
			return c.unanswered(ctx, p, r, err)
		}
		select {
		case <-p.wake:
		case <-ctx.parent.Done():
		case <-c.Done():
			return c.unanswered(ctx, p, r, c.cause())
		}
	}
}

// unanswered ends a call that failed with err on this side. An answer that came all the same wins, after the progress
// that came before it.
func (c *Client) unanswered(ctx context.Context, p *pendingCall, r *request, err error) (*transport.Message, error) {
	waiting := c.removePending(p.id)
	if p.isAnswered() {
		return p.report()
	}
	unsent := transport.SafeToRetry(err)
	switch {
	case !waiting:
		err = c.cause() // the client has ended, which says more than what its transport ran into
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
