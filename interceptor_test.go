package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

type ending = func(json.RawMessage, error)

// A ledger is an interceptor that writes down what it sees.
type ledger struct {
	mu    sync.Mutex
	lines []string
}

func (l *ledger) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// take returns the lines since the last time.
func (l *ledger) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func (l *ledger) intercept(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
	what := "> " + x.Method
	if x.Incoming {
		what = "< " + x.Method
	}
	if x.ID.IsValid() {
		what += " " + x.ID.String()
	}
	l.add("%s: %s %s %s", what, x.Version, x.Transport, x.Params)
	return nil, func(result json.RawMessage, err error) { l.add("%s = %s %v", what, result, err) }, nil
}

// setting returns an interceptor that puts a member in the _meta of a method's messages.
func setting(method, name, value string) mcp.Interceptor {
	return func(ctx context.Context, x *mcp.Exchange) (context.Context, ending, error) {
		if x.Method == method {
			x.Meta[name] = json.RawMessage(value)
		}
		return ctx, nil, nil
	}
}

// refusing returns an interceptor that refuses a method.
func refusing(method string, err error) mcp.Interceptor {
	return func(ctx context.Context, x *mcp.Exchange) (context.Context, ending, error) {
		if x.Method == method {
			return nil, nil, err
		}
		return ctx, nil, nil
	}
}

func TestInterceptorsSeeWhatGoesOverTheWire(t *testing.T) {
	var l ledger
	c, p := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{l.intercept}})
	assert.Equal(t, []string{
		`> initialize 1:  stream {"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"mcp","version":"unknown"}}`,
		`> initialize 1 = {"protocolVersion":"2025-11-25","capabilities":` + everything +
			`,"serverInfo":{"name":"peer","version":"1"}} <nil>`,
		`> notifications/initialized: 2025-11-25 stream `,
		`> notifications/initialized =  <nil>`,
	}, l.take())

	result := call(c, t.Context(), "a", mcp.WithMeta(mcp.Meta{"x": json.RawMessage(`1`)}))
	p.answer(p.expect("tools/call"), hello)
	_, err := result()
	require.NoError(t, err)
	failed := call(c, t.Context(), "b")
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-5,"message":"no"}}`, p.expect("tools/call").ID)
	_, err = failed()
	require.Error(t, err)
	assert.Equal(t, []string{
		`> tools/call 2: 2025-11-25 stream {"name":"a","arguments":{}}`,
		`> tools/call 2 = ` + hello + ` <nil>`,
		`> tools/call 3: 2025-11-25 stream {"name":"b","arguments":{}}`,
		`> tools/call 3 =  no (-5)`,
	}, l.take())
}

func TestEachRoundAndItsInputAreIntercepted(t *testing.T) {
	var l ledger
	o := accepting()
	o.Interceptors = []mcp.Interceptor{l.intercept}
	c, p := modern(t, o)
	l.take()
	result := call(c, t.Context(), "a")
	p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{`+askForRoot+`}}`)
	p.answer(p.expect("tools/call"), hello)
	_, err := result()
	require.NoError(t, err)
	const roots = `{"roots":[{"uri":"file:///a"}]}`
	assert.Equal(t, []string{
		`> tools/call 2: 2026-07-28 stream {"name":"a","arguments":{}}`,
		`> tools/call 2 = {"resultType":"input_required","inputRequests":{` + askForRoot + `}} <nil>`,
		`< roots/list: 2026-07-28 stream `,
		`< roots/list = ` + roots + ` <nil>`,
		`> tools/call 3: 2026-07-28 stream {"name":"a","arguments":{},"inputResponses":{"where":` + roots + `}}`,
		`> tools/call 3 = ` + hello + ` <nil>`,
	}, l.take())
}

func TestTheFirstInterceptorIsTheOutermost(t *testing.T) {
	type key struct{}
	var l ledger
	var chain []mcp.Interceptor
	for _, name := range []string{"a", "b", "c"} {
		chain = append(chain, func(ctx context.Context, x *mcp.Exchange) (context.Context, ending, error) {
			if x.Method != "tools/call" {
				return ctx, nil, nil
			}
			l.add("begin %s in %v", name, ctx.Value(key{}))
			return context.WithValue(ctx, key{}, name), func(json.RawMessage, error) { l.add("end %s", name) }, nil
		})
	}
	c, err := mcp.Connect(t.Context(), exchanging(func(ctx context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "initialize":
			return reply(out, initialized)
		case "tools/call":
			l.add("sent in %v", ctx.Value(key{}))
			return reply(out, hello)
		}
		return nil
	}), legacy(&mcp.Options{Interceptors: chain}))
	require.NoError(t, err)
	defer c.Close()
	chain[0] = nil // the client has a copy
	_, err = c.CallTool(t.Context(), "a", nil)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"begin a in <nil>", "begin b in a", "begin c in b", "sent in c", "end c", "end b", "end a",
	}, l.take())
}

func TestInterceptorsAddToMeta(t *testing.T) {
	const traceparent = `"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"`
	interceptors := []mcp.Interceptor{
		setting("tools/call", "traceparent", traceparent),
		setting("notifications/x", "traceparent", traceparent),
	}
	for _, name := range []string{
		"progressToken", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientInfo",
		"io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/logLevel",
	} {
		interceptors = append(interceptors, setting("tools/call", name, `"forged"`),
			setting("notifications/x", name, `"forged"`))
	}
	o := &mcp.Options{Interceptors: interceptors}
	callers := mcp.Meta{"org.example/a": json.RawMessage(`1`), "traceparent": json.RawMessage(`"stale"`)}

	c, p := connected(t, o)
	result := call(c, t.Context(), "a", mcp.WithMeta(callers))
	m := p.expect("tools/call")
	assert.JSONEq(t, `{"progressToken":`+string(m.ID)+`,"traceparent":`+traceparent+`,"org.example/a":1}`,
		string(paramsOf(t, m)["_meta"]))
	p.answer(m, hello)
	_, err := result()
	require.NoError(t, err)
	assert.Len(t, callers, 2, "the caller's map is as it was")
	assert.Equal(t, `"stale"`, string(callers["traceparent"]))

	sent := async(func() (any, error) { return nil, c.Notify(t.Context(), "notifications/x", nil) })
	assert.JSONEq(t, `{"traceparent":`+traceparent+`}`, string(paramsOf(t, p.expect("notifications/x"))["_meta"]))
	_, err = sent()
	require.NoError(t, err)

	c, p = modern(t, o)
	result = call(c, t.Context(), "a")
	m = p.expect("tools/call")
	meta := metaOf(t, m)
	assert.Equal(t, traceparent, string(meta["traceparent"]))
	assert.Equal(t, `"2026-07-28"`, string(meta["io.modelcontextprotocol/protocolVersion"]))
	assert.NotContains(t, m.line, "forged")
	p.answer(m, hello)
	_, err = result()
	require.NoError(t, err)
}

func TestTheClientsOwnMetaIsNotAnInterceptorsMatter(t *testing.T) {
	const level = "io.modelcontextprotocol/logLevel" // to which a legacy revision gives no meaning
	var seen mcp.Meta
	c, p := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{
		func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
			seen, x.Meta = x.Meta, nil
			return nil, nil, nil
		},
	}})
	result := call(c, t.Context(), "a", mcp.WithMeta(mcp.Meta{
		"org.example/a": json.RawMessage(`1`), level: json.RawMessage(`"info"`),
	}))
	m := p.expect("tools/call")
	assert.Equal(t, mcp.Meta{"org.example/a": json.RawMessage(`1`)}, seen)
	assert.JSONEq(t, `{"progressToken":`+string(m.ID)+`,"`+level+`":"info"}`, string(paramsOf(t, m)["_meta"]))
	p.answer(m, hello)
	_, err := result()
	require.NoError(t, err)
}

func TestARepetitionIsAnExchangeOfItsOwn(t *testing.T) {
	var l ledger
	c, p := modern(t, &mcp.Options{Interceptors: []mcp.Interceptor{l.intercept}})
	l.take()
	result := call(c, t.Context(), "a")
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`,
		p.expect("tools/call").ID)
	p.answer(p.expect("tools/call"), hello)
	_, err := result()
	require.NoError(t, err)
	assert.Equal(t, []string{
		`> tools/call 2: 2026-07-28 stream {"name":"a","arguments":{}}`, `> tools/call 2 =  no (-32022)`,
		`> tools/call 3: 2026-07-28 stream {"name":"a","arguments":{}}`, `> tools/call 3 = ` + hello + ` <nil>`,
	}, l.take())
}

func TestMetaThatIsNoJSONIsNotSent(t *testing.T) {
	var l ledger
	c, _ := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{
		l.intercept, setting("tools/call", "x", `{`),
	}})
	l.take()
	_, err := c.CallTool(t.Context(), "a", nil)
	assert.EqualError(t, err, `mcp: tools/call "a": _meta "x": invalid JSON`)
	assert.True(t, transport.SafeToRetry(err))
	assert.Equal(t, `> tools/call 2 =  _meta "x": invalid JSON`, l.take()[1])
	assert.Zero(t, c.Pending())
}

func TestARefusedExchangeIsNotSent(t *testing.T) {
	var l ledger
	forbidden := errors.New("not allowed here")
	c, p := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{
		l.intercept, refusing("tools/call", forbidden), refusing("notifications/x", forbidden),
		func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
			l.add("inside: %s", x.Method)
			return nil, nil, nil
		},
	}})
	l.take()
	_, err := c.CallTool(t.Context(), "rm", nil)
	assert.EqualError(t, err, `mcp: tools/call "rm": not allowed here`)
	assert.ErrorIs(t, err, forbidden)
	assert.True(t, transport.SafeToRetry(err))
	err = c.Notify(t.Context(), "notifications/x", nil)
	assert.EqualError(t, err, `mcp: notifications/x: not allowed here`)
	assert.True(t, transport.SafeToRetry(err))
	assert.Zero(t, c.Pending())
	assert.Equal(t, []string{
		`> tools/call 2: 2025-11-25 stream {"name":"rm","arguments":{}}`, `> tools/call 2 =  not allowed here`,
		`> notifications/x: 2025-11-25 stream `, `> notifications/x =  not allowed here`,
	}, l.take())
	ping := async(func() (any, error) { return nil, c.Ping(t.Context()) })
	p.answer(p.expect("ping"), `{}`) // nothing else was sent
	_, err = ping()
	require.NoError(t, err)
}

func TestConnectIsRefusedAsAnyCallIs(t *testing.T) {
	forbidden := errors.New("not today")
	for method, o := range map[string]*mcp.Options{
		"server/discover":           nil,
		"initialize":                legacy(nil),
		"notifications/initialized": legacy(nil),
	} {
		t.Run(method, func(t *testing.T) {
			o := legacy(o)
			if method == "server/discover" {
				o.Versions = []string{mcp.Version20260728}
			}
			o.Interceptors = []mcp.Interceptor{refusing(method, forbidden)}
			_, err := mcp.Connect(t.Context(), new(mcptest.Server).Transport(), o)
			assert.ErrorIs(t, err, forbidden)
		})
	}
}

func TestExchangesThatFailAreEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{}
		s.AddTool(&mcp.Tool{Name: "silent"}, func(ctx context.Context, _ *mcptest.Call) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, mcptest.ErrNoAnswer
		})
		var ends []error
		c := mcptest.Connect(t, s, &mcp.Options{Interceptors: []mcp.Interceptor{
			func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
				if x.Method != "tools/call" {
					return nil, nil, nil
				}
				return nil, func(_ json.RawMessage, err error) { ends = append(ends, err) }, nil
			},
		}})
		_, err := c.CallTool(t.Context(), "silent", nil, mcp.WithTimeout(time.Second))
		require.Error(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = c.CallTool(ctx, "silent", nil)
		require.Error(t, err)
		time.AfterFunc(time.Second, func() { s.Sessions()[0].Close() })
		_, err = c.CallTool(t.Context(), "silent", nil)
		require.Error(t, err)

		require.Len(t, ends, 3)
		var limit *mcp.TimeoutError
		assert.ErrorAs(t, ends[0], &limit)
		assert.ErrorIs(t, ends[1], context.Canceled)
		assert.ErrorIs(t, ends[2], mcp.ErrClosed)
	})
}

func TestACallEndsWithItsCtxWhateverAnInterceptorMakesOfIt(t *testing.T) {
	inner := map[string]func(context.Context) context.Context{
		"a ctx of its own":  func(context.Context) context.Context { return context.Background() },
		"another ctx's end": func(context.Context) context.Context { return t.Context() },
		"an earlier end": func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			t.Cleanup(cancel)
			return ctx
		},
	}
	for name, make := range inner {
		t.Run(name, func(t *testing.T) {
			c, p := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{
				func(ctx context.Context, x *mcp.Exchange) (context.Context, ending, error) {
					return make(ctx), nil, nil
				},
			}})
			ctx, cancel := context.WithCancel(t.Context())
			result := call(c, ctx, "a", mcp.WithTimeout(-1), mcp.WithMaxTimeout(-1))
			m := p.expect("tools/call")
			cancel()
			_, err := result()
			assert.ErrorIs(t, err, context.Canceled)
			assert.Zero(t, c.Pending())
			assert.JSONEq(t, `{"requestId":`+string(m.ID)+`}`, string(p.expect("notifications/cancelled").Params))
		})
	}
}

func TestAnInterceptorsDeadlineEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connected(t, &mcp.Options{Interceptors: []mcp.Interceptor{
			func(ctx context.Context, x *mcp.Exchange) (context.Context, ending, error) {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				return ctx, func(json.RawMessage, error) { cancel() }, nil
			},
		}})
		begun := time.Now()
		result := call(c, t.Context(), "a")
		p.expect("tools/call")
		_, err := result()
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(begun))
		p.expect("notifications/cancelled")
	})
}

func TestInterceptorsTimeDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{}
		s.AddTool(&mcp.Tool{Name: "a"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
			return mcptest.Text("done"), nil
		})
		c := mcptest.Connect(t, s, &mcp.Options{Timeout: time.Second, Interceptors: []mcp.Interceptor{
			func(context.Context, *mcp.Exchange) (context.Context, ending, error) {
				time.Sleep(time.Minute) // as if a human were asked
				return nil, nil, nil
			},
		}})
		_, err := c.CallTool(t.Context(), "a", nil)
		require.NoError(t, err)
	})
}

func TestNothingIsSentOnceTheCtxIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sent := 0
	c, err := mcp.Connect(t.Context(), exchanging(func(_ context.Context, out transport.Outgoing) error {
		if out.Message.Method == "initialize" {
			return reply(out, initialized)
		}
		sent++
		return nil
	}), legacy(&mcp.Options{Interceptors: []mcp.Interceptor{
		func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
			if x.Method == "tools/call" {
				cancel() // while a human is asked
			}
			return nil, nil, nil
		},
	}}))
	require.NoError(t, err)
	defer c.Close()
	_, err = c.CallTool(ctx, "a", nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, transport.SafeToRetry(err))
	assert.Equal(t, 1, sent, "notifications/initialized")
}

func TestANilInterceptorIsRefused(t *testing.T) {
	_, err := mcp.Connect(t.Context(), new(mcptest.Server).Transport(), &mcp.Options{Interceptors: []mcp.Interceptor{nil}})
	assert.EqualError(t, err, "mcp: connect: Options.Interceptors: number 0 is nil")
}
