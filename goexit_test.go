package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// Code of the caller's that ends its goroutine, as FailNow of a test does, hurts nobody else. Whatever waited for it in
// vain would be a deadlock of the bubble, or the limit of a call.

// exiting returns an interceptor that ends its goroutine at the nth message of a method.
func exiting(method string, nth int) mcp.Interceptor {
	return func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
		if x.Method == method {
			if nth--; nth == 0 {
				runtime.Goexit()
			}
		}
		return nil, nil, nil
	}
}

func TestANotificationHandlerThatExits(t *testing.T) {
	var log diagnostics
	got := make(chan string)
	_, p := connected(t, &mcp.Options{Logger: log.logger(), On: mcp.Notifications{
		Other: func(_ context.Context, method string, _ json.RawMessage) {
			got <- method
			runtime.Goexit()
		},
	}})
	for i := range 3 {
		method := fmt.Sprintf("notifications/%d", i)
		p.notify(method, `{}`)
		assert.Equal(t, method, <-got)
	}
	log.wait(t, "Goexit")
}

func TestARequestHandlerThatExits(t *testing.T) {
	_, p := connected(t, &mcp.Options{
		Roots: func(context.Context) ([]mcp.Root, error) {
			runtime.Goexit()
			return nil, nil
		},
		Requests: map[string]mcp.RequestHandler{
			"x": func(context.Context, json.RawMessage) (any, error) { return nil, nil },
		},
	})
	for i := range 40 { // more than run at once
		m := p.ask(fmt.Sprint(i), "roots/list", `{}`)
		require.NotNil(t, m.Error)
		assert.EqualValues(t, mcp.CodeInternalError, m.Error.Code)
	}
	assert.JSONEq(t, `{}`, string(p.ask(`"x"`, "x", `{}`).Result))
}

func TestAnInputHandlerThatExits(t *testing.T) {
	o := accepting()
	o.Roots = func(context.Context) ([]mcp.Root, error) {
		runtime.Goexit()
		return nil, nil
	}
	c, p := modern(t, o)
	result := call(c, t.Context(), "a")
	p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{`+askForRoot+`,`+askForName+`}}`)
	_, err := result()
	require.ErrorContains(t, err, `input "where", roots/list: it ended its goroutine`)
}

func TestALoggerThatExits(t *testing.T) {
	got := make(chan string, 10)
	_, p := connected(t, &mcp.Options{Logger: slog.New(exitingHandler{slog.DiscardHandler, got})})
	for range 3 {
		p.write("noise")
		assert.Equal(t, "skipped what is not a message", <-got)
	}
}

type exitingHandler struct {
	slog.Handler
	got chan<- string
}

func (h exitingHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (h exitingHandler) WithAttrs([]slog.Attr) slog.Handler           { return h }

func (h exitingHandler) Handle(_ context.Context, r slog.Record) error {
	h.got <- r.Message
	runtime.Goexit()
	return nil
}

func TestAnInterceptorThatExitsWhileConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, method := range []string{"server/discover", "initialize"} {
			connect, p := connecting(t, t.Context(), &mcp.Options{Interceptors: []mcp.Interceptor{exiting(method, 1)}})
			if method == "initialize" {
				p.refuse(p.expect("server/discover"), -32601, "Method not found")
				_, err := connect()
				require.ErrorContains(t, err, "Goexit")
				continue
			}
			p.handshake(everything)
			_, err := connect()
			require.NoError(t, err, "the other way to begin is open")
		}
	})
}

func TestAnInterceptorThatExitsInARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &forgetful{t: t}
		o := &mcp.Options{Interceptors: []mcp.Interceptor{exiting("initialize", 2)}}
		c, err := mcp.Connect(t.Context(), exchanging(f.serve), legacy(o))
		require.NoError(t, err)
		defer c.Close()
		f.waiting.Add(1)
		_, err = c.CallTool(t.Context(), "a", nil)
		require.ErrorIs(t, err, mcp.ErrSessionExpired)
		require.ErrorContains(t, err, "Goexit")
		f.waiting.Add(1)
		_, err = c.CallTool(t.Context(), "a", nil)
		require.NoError(t, err, "the next call makes a session")
	})
}

func TestAnInterceptorThatExitsInASubscription(t *testing.T) {
	c, p := modern(t, &mcp.Options{Interceptors: []mcp.Interceptor{
		func(_ context.Context, x *mcp.Exchange) (context.Context, ending, error) {
			if x.Method != "subscriptions/listen" {
				return nil, nil, nil
			}
			return nil, func(json.RawMessage, error) { runtime.Goexit() }, nil
		},
	}})
	listen := async(func() (*mcp.Subscription, error) { return c.Listen(t.Context(), mcp.Filter{Tools: true}) })
	m := p.expect("subscriptions/listen")
	p.acknowledge(m, `{"toolsListChanged":true}`)
	sub, err := listen()
	require.NoError(t, err)
	p.answer(m, `{}`)
	for _, err := range sub.Events(t.Context()) {
		require.ErrorContains(t, err, "Goexit")
		return
	}
	t.Fatal("the subscription ended in order")
}

func TestAnInterceptorThatExitsInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connected(t, &mcp.Options{
			KeepAlive:    10 * time.Second,
			Interceptors: []mcp.Interceptor{exiting("ping", 1), exiting("notifications/cancelled", 1)},
		})
		begun := time.Now()
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			result := call(c, ctx, "a")
			p.expect("tools/call")
			cancel()
			_, err := result()
			require.ErrorIs(t, err, context.Canceled)
			synctest.Wait()
		}
		p.expect("notifications/cancelled") // of the second call
		p.answer(p.expect("ping"), `{}`)
		assert.Equal(t, 20*time.Second, time.Since(begun))
	})
}

func TestATransportThatExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := mcp.Connect(t.Context(), exitingConn{exchanging(func(_ context.Context, out transport.Outgoing) error {
			if out.Message.Method == "initialize" {
				return reply(out, initialized)
			}
			return nil
		})}, legacy(nil))
		require.NoError(t, err)
		_, err = c.CallTool(t.Context(), "a", nil)
		require.ErrorIs(t, err, mcp.ErrClosed)
		require.ErrorContains(t, c.Err(), "Goexit")
		synctest.Wait()
		require.ErrorContains(t, c.Close(), "Goexit")
	})
}

// exitingConn is one whose Receive and Close end their goroutine.
type exitingConn struct{ *exchanges }

func (x exitingConn) Connect(context.Context) (transport.Conn, error) { return x, nil }

func (x exitingConn) Receive(context.Context) (*transport.Message, error) {
	time.Sleep(time.Second)
	runtime.Goexit()
	return nil, nil
}

func (x exitingConn) Close() error {
	runtime.Goexit()
	return nil
}
