package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// exchanges is a transport on which each message has an exchange of its own, as over HTTP.
type exchanges struct {
	serve  func(ctx context.Context, out transport.Outgoing) error
	closed chan struct{}
	once   sync.Once
}

func exchanging(serve func(ctx context.Context, out transport.Outgoing) error) *exchanges {
	return &exchanges{serve: serve, closed: make(chan struct{})}
}

func (x *exchanges) Connect(context.Context) (transport.Conn, error) { return x, nil }
func (x *exchanges) Traits() transport.Traits                        { return transport.Traits{Name: "exchanges"} }
func (x *exchanges) Send(ctx context.Context, out transport.Outgoing) error {
	return x.serve(ctx, out)
}

func (x *exchanges) Receive(context.Context) (*transport.Message, error) {
	<-x.closed
	return nil, transport.ErrClosed
}

func (x *exchanges) Close() error {
	x.once.Do(func() { close(x.closed) })
	return nil
}

// reply answers a request on its own exchange.
func reply(out transport.Outgoing, result string) error {
	out.Deliver(&transport.Message{ID: out.Message.ID, Result: json.RawMessage(result)})
	return nil
}

const initialized = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`

func TestProgressOnTheExchangeOfTheCall(t *testing.T) {
	c, err := mcp.Connect(t.Context(), exchanging(func(_ context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "initialize":
			assert.Empty(t, out.Version, "nothing is agreed on yet")
			return reply(out, initialized)
		case "tools/call":
			assert.Equal(t, mcp.Version20251125, out.Version)
			for i := range 3 {
				params := fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, out.Message.ID, i)
				out.Deliver(&transport.Message{Method: "notifications/progress", Params: json.RawMessage(params)})
			}
			return reply(out, hello)
		}
		return nil
	}), legacy(nil))
	require.NoError(t, err)
	defer c.Close()
	var got []float64
	_, err = c.CallTool(t.Context(), "a", nil, mcp.WithProgress(func(p mcp.Progress) { got = append(got, p.Progress) }))
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 1, 2}, got)
}

func TestNothingReachesTheTransportOnceContextIsDone(t *testing.T) {
	var calls atomic.Int64
	c, err := mcp.Connect(t.Context(), exchanging(func(_ context.Context, out transport.Outgoing) error {
		calls.Add(1)
		return reply(out, initialized)
	}), legacy(nil))
	require.NoError(t, err)
	defer c.Close()
	before := calls.Load()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.CallTool(ctx, "a", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, c.Notify(ctx, "x", nil), context.Canceled)
	assert.Equal(t, before, calls.Load())
}

func TestACallThatWasNotSentIsNotCancelledOnTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c, err := mcp.Connect(t.Context(), exchanging(func(ctx context.Context, out transport.Outgoing) error {
			switch out.Message.Method {
			case "initialize":
				return reply(out, initialized)
			case "tools/call":
				cancel()
				return transport.Unsent(context.Cause(ctx))
			case "notifications/cancelled":
				t.Error("the server never saw the call")
			}
			return nil
		}), legacy(nil))
		require.NoError(t, err)
		defer c.Close()
		_, err = c.CallTool(ctx, "a", nil)
		require.ErrorIs(t, err, context.Canceled)
		assert.True(t, transport.SafeToRetry(err))
		synctest.Wait()
	})
}

func TestARoundThatIsNotSentFollowsOneThatWas(t *testing.T) {
	calls := 0
	c, err := mcp.Connect(t.Context(), exchanging(func(_ context.Context, out transport.Outgoing) error {
		if out.Message.Method == "server/discover" {
			return reply(out, discovered)
		}
		if calls++; calls == 1 {
			return reply(out, `{"resultType":"input_required","inputRequests":{`+askForRoot+`}}`)
		}
		return transport.Unsent(errors.New("no way"))
	}), accepting())
	require.NoError(t, err)
	defer c.Close()
	_, err = c.CallTool(t.Context(), "a", nil)
	require.ErrorContains(t, err, "no way")
	assert.False(t, transport.SafeToRetry(err), "the call is not to be made anew")
}

func TestNobodyIsAskedForCredentialsToCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		unattended := make(map[string]bool)
		c, err := mcp.Connect(t.Context(), exchanging(func(_ context.Context, out transport.Outgoing) error {
			unattended[out.Message.Method] = out.Unattended
			switch out.Message.Method {
			case "initialize":
				return reply(out, initialized)
			case "tools/call":
				cancel() // the answer is to come on another exchange
			}
			return nil
		}), legacy(nil))
		require.NoError(t, err)
		defer c.Close()
		_, err = c.CallTool(ctx, "a", nil)
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait()
		want := map[string]bool{
			"initialize": false, "notifications/initialized": false, "tools/call": false, "notifications/cancelled": true,
		}
		assert.Equal(t, want, unattended)
	})
}

// forgetful is a server that loses its first session after the handshake.
type forgetful struct {
	t          *testing.T
	handshakes atomic.Int64
	executed   atomic.Int64
	mu         sync.Mutex
	methods    []string
	initialize func(out transport.Outgoing) error // from the second handshake on
	lostMidway bool                               // the session is lost after the call was dispatched
	waiting    sync.WaitGroup
}

func (f *forgetful) serve(_ context.Context, out transport.Outgoing) error {
	f.mu.Lock()
	f.methods = append(f.methods, out.Message.Method)
	f.mu.Unlock()
	switch out.Message.Method {
	case "initialize":
		assert.Empty(f.t, out.Version)
		if f.handshakes.Add(1) > 1 && f.initialize != nil {
			return f.initialize(out)
		}
		return reply(out, initialized)
	case "tools/call":
		switch {
		case f.lostMidway:
			return fmt.Errorf("the stream ended: %w", transport.ErrSessionExpired)
		case f.handshakes.Load() == 1:
			f.waiting.Done()
			f.waiting.Wait()
			return transport.Unsent(fmt.Errorf("404: %w", transport.ErrSessionExpired))
		}
		f.executed.Add(1)
		return reply(out, hello)
	}
	return nil
}

func TestALostSessionIsRenewedOnceForEverybody(t *testing.T) {
	f := &forgetful{t: t}
	changed := make(chan struct{}, 1)
	c, err := mcp.Connect(t.Context(), exchanging(f.serve), legacy(&mcp.Options{On: mcp.Notifications{
		ToolsChanged: func(context.Context) { changed <- struct{}{} },
	}}))
	require.NoError(t, err)
	defer c.Close()
	const callers = 20
	f.waiting.Add(callers)
	var results []func() (*mcp.CallToolResult, error)
	for range callers {
		results = append(results, call(c, t.Context(), "a"))
	}
	for _, result := range results {
		got, err := result()
		require.NoError(t, err)
		assert.Equal(t, "hello", got.Text())
	}
	assert.EqualValues(t, 2, f.handshakes.Load())
	assert.EqualValues(t, callers, f.executed.Load())
	<-changed // the new session may offer something else
}

func TestANewSessionIsToldWhatTheOldOneWas(t *testing.T) {
	f := &forgetful{t: t}
	told := make(chan string, 10)
	c, err := mcp.Connect(t.Context(), exchanging(func(ctx context.Context, out transport.Outgoing) error {
		switch m := out.Message; m.Method {
		case "initialize":
			f.handshakes.Add(1)
			return reply(out, strings.Replace(initialized, `{"tools":{}}`, everything, 1))
		case "logging/setLevel", "resources/subscribe":
			told <- m.Method + string(m.Params)
			return reply(out, `{}`)
		}
		return f.serve(ctx, out)
	}), legacy(nil))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetLogLevel(t.Context(), mcp.LogDebug))
	require.NoError(t, c.SetLogLevel(t.Context(), mcp.LogError))
	require.NoError(t, c.SubscribeResource(t.Context(), "a:b"))
	first := []string{<-told, <-told, <-told}
	f.waiting.Add(1)
	_, err = c.CallTool(t.Context(), "a", nil)
	require.NoError(t, err)
	assert.Equal(t, first[1:], []string{<-told, <-told}, "the last level, and the subscription")
}

func TestASessionThatIsLostMidwayIsAnError(t *testing.T) {
	f := &forgetful{t: t, lostMidway: true}
	c, err := mcp.Connect(t.Context(), exchanging(f.serve), legacy(nil))
	require.NoError(t, err)
	defer c.Close()
	_, err = c.CallTool(t.Context(), "a", nil)
	require.ErrorIs(t, err, mcp.ErrSessionExpired)
	assert.False(t, transport.SafeToRetry(err))
	assert.EqualValues(t, 1, f.handshakes.Load(), "the call is never replayed")
}

func TestASessionThatCannotBeRenewed(t *testing.T) {
	refused := errors.New("refused")
	f := &forgetful{t: t, initialize: func(transport.Outgoing) error { return refused }}
	c, err := mcp.Connect(t.Context(), exchanging(f.serve), legacy(nil))
	require.NoError(t, err)
	defer c.Close()
	f.waiting.Add(1)
	_, err = c.CallTool(t.Context(), "a", nil)
	require.ErrorIs(t, err, mcp.ErrSessionExpired)
	require.ErrorIs(t, err, refused)
	assert.True(t, transport.SafeToRetry(err))
	require.NoError(t, c.Err(), "the next call tries again")
}

func TestTheHandshakeOfARenewalOutlivesTheCallerAndIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &forgetful{t: t, initialize: func(out transport.Outgoing) error { return nil }} // accepted, and never answered
		c, err := mcp.Connect(t.Context(), exchanging(f.serve), legacy(nil))
		require.NoError(t, err)
		defer c.Close()
		f.waiting.Add(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = c.CallTool(ctx, "a", nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(2 * time.Minute) // over the limit of initialize
		f.mu.Lock()
		defer f.mu.Unlock()
		assert.NotContains(t, f.methods, "notifications/cancelled")
	})
}
