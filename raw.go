package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// Request sends a request of any method and returns its result as it came. params must encode to a JSON object, or to
// null for none. A progress token is sent only with [WithProgress].
func (c *Client) Request(ctx context.Context, method string, params any, opts ...CallOption) (json.RawMessage, error) {
	o := c.callOptions(opts)
	r := &request{method: method}
	if method == "" {
		return nil, r.wrap(transport.Unsent(errNoMethod))
	}
	var err error
	if r.params, err = objectParams(params); err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	if err := r.adoptMeta(&o); err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	if err := c.mirrorRaw(r); err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	answer, err := c.call(ctx, r, &o)
	if err != nil {
		return nil, err
	}
	return answer.Result, nil
}

var errNoMethod = errors.New("the method is empty")

// adoptMeta moves the _meta of params that a caller made to the options, where the client adds its own members.
func (r *request) adoptMeta(o *callOptions) error {
	d := jsonscan.New(r.params)
	var meta Meta
	params := []byte{'{'}
	for name := range d.Object() {
		value := d.Raw()
		if string(name) == "_meta" {
			if err := json.Unmarshal(value, &meta); err != nil {
				return fmt.Errorf("params._meta: %w", err)
			}
			continue
		}
		params = append(appendMember(params, string(name)), value...)
	}
	if meta == nil {
		return nil
	}
	r.params = append(params, '}')
	maps.Copy(meta, o.meta)
	o.meta = meta
	return nil
}

// Notify sends a notification of any method. It returns when it was written, which says nothing about its effect.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	raw, err := objectParams(params)
	if method == "" {
		err = transport.Unsent(errNoMethod)
	}
	if err == nil {
		err = c.notify(ctx, method, raw)
	}
	if err != nil {
		return fmt.Errorf("mcp: %s: %w", method, err)
	}
	return nil
}

// notify sends a notification. It is bounded as a call is, and sent once more as one is.
func (c *Client) notify(ctx context.Context, method string, params json.RawMessage) error {
	session := c.session.Load()
	err := c.attemptNotify(ctx, method, params)
	if session == nil || !forgotten(err) {
		return err
	}
	if err := c.replace(ctx, session); err != nil {
		return err
	}
	return c.attemptNotify(ctx, method, params)
}

func (c *Client) attemptNotify(ctx context.Context, method string, params json.RawMessage) error {
	if ctx.Err() != nil {
		return transport.Unsent(ended(ctx))
	}
	if err := c.cause(); err != nil {
		return transport.Unsent(err)
	}
	session := c.session.Load()
	r, o := &request{method: method, params: params}, &callOptions{}
	if err := r.adoptMeta(o); err != nil {
		return transport.Unsent(err)
	}
	if len(c.opts.Interceptors) > 0 {
		return c.interceptNotification(ctx, session, r, o)
	}
	return c.sendNotification(ctx, session, r, o)
}

// interceptNotification is apart for the reason that interceptRequest is.
func (c *Client) interceptNotification(ctx context.Context, session *session, r *request, o *callOptions) error {
	x := c.newExchange(&transport.Message{Method: r.method, Params: r.params}, session)
	_, err := c.interceptSending(ctx, x, o, func(ctx context.Context, o *callOptions) (*transport.Message, error) {
		return nil, c.sendNotification(ctx, session, r, o)
	})
	return err
}

func (c *Client) sendNotification(ctx context.Context, session *session, r *request, o *callOptions) error {
	ctx, cancel := c.boundedBy(ctx, r.method)
	defer cancel()
	params, err := r.withMeta(0, session.commonMeta(), o)
	if err != nil {
		return transport.Unsent(err)
	}
	m := &transport.Message{Method: r.method, Params: params}
	err = c.conn.Send(ctx, transport.Outgoing{Message: m, Version: session.version(), Deliver: c.dispatch})
	if err != nil && ctx.Err() != nil {
		return ended(ctx)
	}
	return err
}

// boundedBy bounds what is not a call by the time that a call may be idle.
func (c *Client) boundedBy(ctx context.Context, method string) (context.Context, context.CancelFunc) {
	if c.opts.Timeout <= 0 {
		return ctx, func() {}
	}
	limit := &TimeoutError{Method: method, Limit: c.opts.Timeout}
	return context.WithTimeoutCause(ctx, c.opts.Timeout, limit)
}

// objectParams encodes params, nil if there are none.
func objectParams(params any) (json.RawMessage, error) {
	raw, err := encodeObject(params)
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	return raw, nil
}

// encodeObject encodes what has to become a JSON object, nil if it becomes null.
func encodeObject(v any) (json.RawMessage, error) {
	raw, err := jsonscan.AppendValue(nil, v)
	if err != nil {
		return nil, err
	}
	switch d := jsonscan.New(raw); d.Kind() {
	case jsonscan.Object:
		return raw, nil
	case jsonscan.Null:
		return nil, nil
	default:
		return nil, fmt.Errorf("%v, not an object", d.Kind())
	}
}
