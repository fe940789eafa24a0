package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// parentKey is where a test's interceptor puts what came as traceparent.
type parentKey struct{}

func parentOf(ctx context.Context) string {
	parent, _ := ctx.Value(parentKey{}).(string)
	return parent
}

// extract is an interceptor that takes the context out of what the server sends.
func extract(ctx context.Context, x *mcp.Exchange) (context.Context, ending, error) {
	if parent := x.Meta["traceparent"]; x.Incoming && parent != nil {
		ctx = context.WithValue(ctx, parentKey{}, string(parent))
	}
	return ctx, nil, nil
}

const traced = `{"_meta":{"traceparent":"tp"},"level":"info","data":1,"elicitationId":"e"}`

func TestHandlersOfTheServersRequestsRunInside(t *testing.T) {
	var l ledger
	parents := make(chan string, 1)
	_, p := connected(t, &mcp.Options{
		Interceptors: []mcp.Interceptor{l.intercept, extract},
		Requests: map[string]mcp.RequestHandler{
			"x": func(ctx context.Context, params json.RawMessage) (any, error) {
				parents <- parentOf(ctx)
				return map[string]int{"a": 1}, nil
			},
			"fails":  func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("broken") },
			"panics": func(context.Context, json.RawMessage) (any, error) { panic("broken") },
		},
	})
	l.take()
	for _, c := range []struct{ method, params, parent string }{
		{"x", traced, `"tp"`}, {"x", `{"_meta":7}`, ""}, {"x", `{}`, ""},
	} {
		assert.JSONEq(t, `{"a":1}`, string(p.ask(`"q"`, c.method, c.params).Result))
		assert.Equal(t, c.parent, <-parents)
		assert.Equal(t, []string{
			`< x "q": 2025-11-25 stream ` + c.params, `< x "q" = {"a":1} <nil>`,
		}, l.take())
	}
	p.ask(`5`, "fails", `{}`)
	p.ask(`6`, "panics", `{}`)
	p.ask(`7`, "ping", `{}`)
	p.ask(`8`, "unknown", `{}`)
	assert.Equal(t, []string{
		`< fails 5: 2025-11-25 stream {}`, `< fails 5 =  broken`,
		`< panics 6: 2025-11-25 stream {}`, `< panics 6 =  a panic ended it`,
	}, l.take(), "what has no handler is not seen")
}

func TestAWithdrawnRequestEndsAsCancelled(t *testing.T) {
	ends := make(chan error, 1)
	begun := make(chan struct{})
	_, p := connected(t, &mcp.Options{
		Interceptors: []mcp.Interceptor{func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
			if !x.Incoming {
				return nil, nil, nil
			}
			return nil, func(result json.RawMessage, err error) {
				assert.Nil(t, result)
				ends <- err
			}, nil
		}},
		Requests: map[string]mcp.RequestHandler{"x": func(ctx context.Context, _ json.RawMessage) (any, error) {
			close(begun)
			<-ctx.Done()
			return nil, nil // nobody gets it
		}},
	})
	p.write(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
	<-begun
	p.notify("notifications/cancelled", `{"requestId":1}`)
	assert.ErrorIs(t, <-ends, context.Canceled)
}

func TestAServersRequestIsRefused(t *testing.T) {
	handled := func(context.Context, json.RawMessage) (any, error) {
		t.Error("the handler was called")
		return nil, nil
	}
	_, p := connected(t, &mcp.Options{
		Interceptors: []mcp.Interceptor{
			refusing("a", &mcp.RPCError{Code: -7, Message: "not that"}),
			refusing("b", errors.New("for reasons that are ours")),
			func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
				if x.Method == "c" {
					panic("broken")
				}
				return nil, nil, nil
			},
		},
		Requests: map[string]mcp.RequestHandler{"a": handled, "b": handled, "c": handled},
	})
	assert.Equal(t, &mcp.RPCError{Code: -7, Message: "not that"}, p.ask(`1`, "a", `{}`).Error)
	internal := &mcp.RPCError{Code: mcp.CodeInternalError, Message: "the client's handler failed"}
	assert.Equal(t, internal, p.ask(`2`, "b", `{}`).Error)
	assert.Equal(t, internal, p.ask(`3`, "c", `{}`).Error)
}

func TestHandlersOfNotificationsRunInside(t *testing.T) {
	var l ledger
	got := make(chan string, 10)
	tell := func(ctx context.Context, what string) { got <- what + " " + parentOf(ctx) }
	_, p := connected(t, &mcp.Options{
		Interceptors: []mcp.Interceptor{l.intercept, extract},
		On: mcp.Notifications{
			ToolsChanged:        func(ctx context.Context) { tell(ctx, "tools") },
			ResourceUpdated:     func(ctx context.Context, uri string) { tell(ctx, uri) },
			ElicitationComplete: func(ctx context.Context, id string) { tell(ctx, id) },
			Log:                 func(ctx context.Context, m *mcp.LogMessage) { tell(ctx, string(m.Data)) },
			Other: func(ctx context.Context, method string, _ json.RawMessage) {
				tell(ctx, method)
			},
		},
	})
	l.take()
	p.notify("notifications/message", traced)
	p.notify("notifications/elicitation/complete", traced)
	p.notify("notifications/x", traced)
	p.notify("notifications/tools/list_changed", traced)
	p.notify("notifications/resources/updated", `{"uri":"a:b"}`)
	p.notify("notifications/last", `{}`)
	for _, want := range []string{
		`1 "tp"`, `e "tp"`, `notifications/x "tp"`, "tools ", "a:b ", "notifications/last ",
	} {
		assert.Equal(t, want, <-got)
	}
	assert.Equal(t, []string{
		"< notifications/message: 2025-11-25 stream " + traced, "< notifications/message =  <nil>",
		"< notifications/elicitation/complete: 2025-11-25 stream " + traced,
		"< notifications/elicitation/complete =  <nil>",
		"< notifications/x: 2025-11-25 stream " + traced, "< notifications/x =  <nil>",
		"< notifications/tools/list_changed: 2025-11-25 stream ", "< notifications/tools/list_changed =  <nil>",
		`< notifications/resources/updated: 2025-11-25 stream {"uri":"a:b"}`,
		"< notifications/resources/updated =  <nil>",
		"< notifications/last: 2025-11-25 stream {}",
	}, l.take()[:11])
}

func TestARefusedNotificationHasNoEffect(t *testing.T) {
	var d diagnostics
	got := make(chan string, 10)
	_, p := connected(t, &mcp.Options{
		Logger: d.logger(),
		Interceptors: []mcp.Interceptor{
			refusing("a", errors.New("not wanted")),
			func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
				if x.Method == "b" {
					panic("broken")
				}
				return nil, nil, nil
			},
		},
		On: mcp.Notifications{Other: func(_ context.Context, method string, _ json.RawMessage) { got <- method }},
	})
	for _, method := range []string{"a", "b", "c"} {
		p.notify(method, `{}`)
	}
	assert.Equal(t, "c", <-got)
	d.wait(t, `msg="an interceptor refused a notification" transport=stream method=a error="not wanted"`)
	d.wait(t, "panic: broken")
}

func TestTheNoticeOfACancelledCallBelongsToIt(t *testing.T) {
	var l ledger
	c, p := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{
		func(ctx context.Context, x *mcp.Exchange) (context.Context, ending, error) {
			switch x.Method {
			case "tools/call":
				ctx = context.WithValue(ctx, parentKey{}, "the call's")
			case "notifications/cancelled":
				l.add("%v %q", ctx.Err(), parentOf(ctx))
				return ctx, nil, x.Meta.Set("traceparent", parentOf(ctx))
			}
			return ctx, nil, nil
		},
		l.intercept,
	}})
	l.take()
	ctx, cancel := context.WithCancel(t.Context())
	result := call(c, ctx, "a")
	m := p.expect("tools/call")
	l.take()
	cancel()
	_, err := result()
	require.Error(t, err)
	notice := p.expect("notifications/cancelled")
	assert.JSONEq(t, `{"_meta":{"traceparent":"the call's"},"requestId":`+string(m.ID)+`}`, string(notice.Params))
	assert.Contains(t, l.take(), `<nil> "the call's"`, "the values of the call, not its end")
}

func TestASubscriptionBelongsToItsCaller(t *testing.T) {
	c, p := modern(t, &mcp.Options{Interceptors: []mcp.Interceptor{
		func(ctx context.Context, x *mcp.Exchange) (context.Context, ending, error) {
			if x.Method == "subscriptions/listen" {
				return ctx, nil, x.Meta.Set("traceparent", parentOf(ctx))
			}
			return ctx, nil, nil
		},
	}})
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), parentKey{}, "the listener's"))
	result := listening(c, ctx, mcp.Filter{Tools: true})
	m := p.expect("subscriptions/listen")
	assert.Equal(t, `"the listener's"`, string(metaOf(t, m)["traceparent"]))
	p.acknowledge(m, `{"toolsListChanged":true}`)
	s, err := result()
	require.NoError(t, err)
	cancel() // which bounds Listen only
	p.event(string(m.ID), "notifications/tools/list_changed", "")
	assert.Equal(t, mcp.ToolsChanged, next(t, s).Kind)
	closed := async(func() (any, error) { return nil, s.Close() })
	assert.Equal(t, "notifications/cancelled", p.read().Method)
	_, err = closed()
	require.NoError(t, err)
}

func panicking(method string) mcp.Interceptor {
	return func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
		if x.Method == method && !x.Incoming {
			panic("broken")
		}
		return nil, nil, nil
	}
}

func TestAPanicOfAnInterceptorIsTheCallers(t *testing.T) {
	var l ledger
	c, p := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{
		l.intercept, panicking("tools/call"), panicking("notifications/x"),
	}})
	l.take()
	assert.PanicsWithValue(t, "broken", func() { _, _ = c.CallTool(t.Context(), "a", nil) })
	assert.PanicsWithValue(t, "broken", func() { _ = c.Notify(t.Context(), "notifications/x", nil) })
	assert.Zero(t, c.Pending())
	assert.Equal(t, `> tools/call 2 =  a panic ended it`, l.take()[1])
	ping := async(func() (any, error) { return nil, c.Ping(t.Context()) })
	p.answer(p.expect("ping"), `{}`)
	_, err := ping()
	require.NoError(t, err)
}

func TestAPanicOfAProgressHandlerEndsTheExchange(t *testing.T) {
	var l ledger
	c, p := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{l.intercept}})
	l.take()
	panicked := async(func() (value any, _ error) {
		defer func() { value = recover() }()
		return c.CallTool(t.Context(), "a", nil, mcp.WithProgress(func(mcp.Progress) { panic("broken") }))
	})
	m := p.expect("tools/call")
	p.notify("notifications/progress", `{"progressToken":`+string(m.ID)+`,"progress":1}`)
	value, _ := panicked()
	assert.Equal(t, "broken", value)
	assert.Equal(t, `> tools/call 2 =  a panic ended it`, l.take()[1])
	assert.Zero(t, c.Pending())
}

func TestAPanicOfAnInterceptorInTheBackgroundFailsTheExchange(t *testing.T) {
	t.Run("connecting", func(t *testing.T) {
		connect, _ := connecting(t, t.Context(), &mcp.Options{Interceptors: []mcp.Interceptor{
			panicking("server/discover"), panicking("initialize"),
		}})
		_, err := connect()
		assert.ErrorContains(t, err, "an interceptor failed: panic: broken")
		assert.NotContains(t, err.Error(), ".go", "no stack")
	})
	t.Run("listening", func(t *testing.T) {
		c, _ := modern(t, &mcp.Options{Interceptors: []mcp.Interceptor{panicking("subscriptions/listen")}})
		_, err := c.Listen(t.Context(), mcp.Filter{Tools: true})
		assert.EqualError(t, err, "mcp: subscriptions/listen: an interceptor failed: panic: broken")
	})
	t.Run("a notice", func(t *testing.T) {
		var d diagnostics
		c, p := connected(t, &mcp.Options{
			Logger: d.logger(), Interceptors: []mcp.Interceptor{panicking("notifications/cancelled")},
		})
		ctx, cancel := context.WithCancel(t.Context())
		result := call(c, ctx, "a")
		p.expect("tools/call")
		cancel()
		_, err := result()
		require.Error(t, err)
		d.wait(t, "panic: broken")
	})
	t.Run("after the answer", func(t *testing.T) {
		ended := make(chan struct{})
		o := &mcp.Options{Interceptors: []mcp.Interceptor{
			func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
				if x.Method != "ping" {
					return nil, nil, nil
				}
				return nil, func(json.RawMessage, error) {
					close(ended)
					panic("broken")
				}, nil
			},
		}}
		called := make(chan error, 1)
		o.Requests = map[string]mcp.RequestHandler{"x": func(ctx context.Context, _ json.RawMessage) (any, error) {
			called <- mcp.ClientFromContext(ctx).Ping(ctx)
			return nil, nil
		}}
		_, p := connected(t, o)
		p.write(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
		p.answer(p.expect("ping"), `{}`)
		<-ended
		assert.NoError(t, <-called, "the answer is there")
		assert.JSONEq(t, `{}`, string(p.read().Result))
	})
}

func TestAnInterceptorMayCloseTheClient(t *testing.T) {
	var d diagnostics
	ends := make(chan error, 1)
	o := &mcp.Options{Logger: d.logger()}
	var c *mcp.Client
	o.Interceptors = []mcp.Interceptor{func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
		if x.Method == "notifications/cancelled" {
			ends <- c.Close()
		}
		return nil, nil, nil
	}}
	c, p := connected(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	result := call(c, ctx, "a")
	p.expect("tools/call")
	cancel()
	_, err := result()
	require.Error(t, err)
	require.NoError(t, <-ends)
	assert.NotContains(t, d.String(), "did not let go", "Close does not wait for what calls it")
	_, err = p.next()
	assert.Error(t, err, "nothing was sent")
	assert.ErrorIs(t, c.Ping(t.Context()), transport.ErrClosed)
}
