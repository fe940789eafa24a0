package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/seed62b61957/mcp/transport"
)

// An Interceptor stands around what goes over the wire, for traces, metrics, logs, audits and policies. It is called
// for each [Exchange] before it begins, and may
//
//   - refuse it with an error, so that nothing is sent, or no handler runs;
//   - add to the _meta of what is sent, see [Exchange].Meta;
//   - return a ctx with more values or an earlier end for what happens inside: the transport's work, or the handler;
//     nil stands for the one that it was given;
//   - return a function to be called once with what came of it, on the same goroutine; nil if there is nothing to do.
//
// It sees results, and cannot change them. If it returns an error, the rest of what it returns is ignored.
//
// The first of [Options].Interceptors is the outermost: it is called first, and its end last. Interceptors are called
// from any number of goroutines at once, and the time that they take does not count for a call's limits.
//
// A call is an exchange for each request that it takes: for each page of a list, each round of input, and for the
// repetition after a lost session. So what an interceptor sees has one id, one revision and one result; what belongs to
// the call as a whole is in ctx. Connecting takes exchanges as well, and so do pings that keep a connection alive and
// notices of cancellation.
//
// What the server sends is intercepted where it meets a handler of [Options], not where the client deals with it alone:
// pings, progress, requests of unknown methods, events of a [Subscription]. The refusal of a request is answered as the
// error of a [RequestHandler] is; that of a notification is logged.
//
// A panic in an interceptor is the caller's on the goroutine of a call. Elsewhere it is recovered and logged, and fails
// the exchange; so does an interceptor that ends its goroutine (runtime.Goexit).
type Interceptor func(ctx context.Context, x *Exchange) (
	inner context.Context, end func(result json.RawMessage, err error), err error)

// An Exchange is a request with its answer, or a notification, as an [Interceptor] sees it. Only Meta may be changed.
type Exchange struct {
	// Incoming says that the server began it.
	Incoming bool
	Method   string
	// ID is the request's. It is not valid for a notification, nor for a request that came in an answer, which is how
	// servers ask for input since 2026-07-28.
	ID transport.ID
	// Params are an object, or nil if there are none. Those that are sent have no _meta yet. For changes, of which
	// several may have become one, they say what the [Event] does.
	Params json.RawMessage
	// Meta is the _meta that a caller gave, and an interceptor may change it: that goes out with this exchange only.
	// The members that the protocol gives to the client, like the progress token, are not in it, and are ignored. Of
	// what the server sent it is the _meta that came, nil if there was none.
	Meta Meta
	// Version is the revision that is spoken, "" as long as none is agreed on.
	Version string
	// Transport is the name of the binding: "stdio", "pipe", "http" (see [transport.Traits]).
	Transport string
}

// clientsMeta are the members of _meta that are the client's own.
var clientsMeta = map[string]bool{
	metaProgressToken: true,
	metaVersion:       true,
	metaClientInfo:    true,
	metaCapabilities:  true,
	metaLogLevel:      true,
}

// errUnwound is how an exchange ends for its interceptors while a panic, or runtime.Goexit, goes through them.
var errUnwound = errors.New("a panic ended it")

// intercept runs an exchange inside of interceptors. Whatever they do, run is called once at most, and every one that
// has begun is ended.
func intercept(
	ctx context.Context, all []Interceptor, x *Exchange, run func(context.Context) (json.RawMessage, error),
) (result json.RawMessage, err error) {
	if len(all) == 0 {
		return run(ctx)
	}
	inner, end, err := all[0](ctx, x)
	if err != nil {
		return nil, err
	}
	inner, release := endingWith(ctx, inner)
	defer release()
	if end != nil {
		err = errUnwound
		defer func() { end(result, err) }()
	}
	return intercept(inner, all[1:], x, run)
}

// endingWith returns inner, which an interceptor made, in a form that surely ends when ctx does.
func endingWith(ctx, inner context.Context) (context.Context, func()) {
	if inner == nil {
		inner = ctx
	}
	if inner.Done() == ctx.Done() {
		return inner, func() {}
	}
	inner, cancel := context.WithCancelCause(inner)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return inner, func() {
		stop()
		cancel(nil)
	}
}

// interceptSending has the interceptors stand around send, which gets what they leave of the options. Send returns no
// answer for a notification.
func (c *Client) interceptSending(
	ctx context.Context, x *Exchange, o *callOptions,
	send func(context.Context, *callOptions) (*transport.Message, error),
) (answer *transport.Message, err error) {
	if ClientFromContext(ctx) != nil { // a goroutine of the client's, or a handler's
		defer func() {
			if v := recover(); v != nil {
				if answer == nil {
					err = fmt.Errorf("an interceptor failed: panic: %v", v)
				}
				c.log.Error("an interceptor failed", slog.String("method", x.Method),
					slog.String("error", fmt.Sprintf("panic: %v\n%s", v, debug.Stack())))
			}
		}()
	}
	allowed := false
	x.Meta = make(Meta, len(o.meta)+1)
	for name, value := range o.meta {
		if !clientsMeta[name] {
			x.Meta[name] = value
		}
	}
	_, err = intercept(ctx, c.opts.Interceptors, x, func(ctx context.Context) (json.RawMessage, error) {
		allowed = true
		if ctx.Err() != nil {
			return nil, transport.Unsent(ended(ctx))
		}
		own := *o
		own.meta = x.metaToSend(o.meta)
		var err error
		switch answer, err = send(ctx, &own); {
		case err != nil || answer == nil:
			return nil, err
		case answer.Error != nil:
			return nil, answer.Error
		}
		return answer.Result, nil
	})
	switch {
	case answer != nil:
		return answer, nil
	case !allowed:
		return nil, transport.Unsent(err)
	}
	return nil, err
}

// metaToSend is what interceptors left of Meta, with the client's own members as the caller gave them.
func (x *Exchange) metaToSend(callers Meta) Meta {
	meta := make(Meta, len(x.Meta))
	for name, value := range x.Meta {
		if !clientsMeta[name] {
			meta[name] = value
		}
	}
	for name := range clientsMeta {
		if value, given := callers[name]; given {
			meta[name] = value
		}
	}
	return meta
}

// interceptReceived has the interceptors stand around what handles a message of the server's.
func (c *Client) interceptReceived(
	ctx context.Context, m *transport.Message, handle func(context.Context) (json.RawMessage, error),
) (json.RawMessage, error) {
	if len(c.opts.Interceptors) == 0 {
		return handle(ctx)
	}
	x := c.newExchange(m, c.session.Load())
	x.Incoming = true
	var params struct {
		Meta Meta `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &params) == nil { // what has the wrong type is as if it were not there
		x.Meta = params.Meta
	}
	return intercept(ctx, c.opts.Interceptors, x, handle)
}

func (c *Client) newExchange(m *transport.Message, session *session) *Exchange {
	return &Exchange{
		Method:    m.Method,
		ID:        m.ID,
		Params:    m.Params,
		Version:   session.version(),
		Transport: c.conn.Traits().Name,
	}
}

// onBehalf returns the client's ctx with the values of one of the caller's, for interceptors to find: the life of what
// it is for is not that of the caller's ctx.
func (c *Client) onBehalf(caller context.Context) context.Context {
	if len(c.opts.Interceptors) == 0 {
		return c.ctx()
	}
	return behalf{c.ctx(), caller}
}

// behalf takes from the caller's ctx only the values that its own does not have. So what package context keeps there is
// its own, and no goroutine is needed to pass on its end.
type behalf struct {
	context.Context
	caller context.Context
}

func (b behalf) Value(key any) any {
	if v := b.Context.Value(key); v != nil {
		return v
	}
	return b.caller.Value(key)
}
