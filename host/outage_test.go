package host_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// atURL returns a host that is connected to a server at a URL.
func atURL(t *testing.T, change ...func(*host.Options)) (*host.Host, *front) {
	t.Helper()
	f := &front{server: new(mcptest.Server)}
	addEcho(f.server)
	addSlow(f.server)
	h := newWorld(t).host(append([]func(*host.Options){f.inMemory}, change...)...)
	require.NoError(t, h.Apply(t.Context(), remote("http://127.0.0.1:1/mcp")))
	require.Equal(t, host.Ready, state(t, h, "a"))
	time.Sleep(time.Minute) // so that the connection has lasted
	return h, f
}

// callers has many call at once, and returns their errors.
func callers(t *testing.T, h *host.Host, n int) []error {
	errs := make(chan error, n)
	for range n {
		go func() { errs <- echo(t, h, "a") }()
	}
	list := make([]error, n)
	for i := range list {
		list[i] = <-errs
	}
	return list
}

func TestManyCallersOfADeadServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t)
		before := h.Catalog()
		f.set(func() { f.away = true })
		_, requests := f.counts()
		for _, err := range callers(t, h, 200) {
			assert.Error(t, err)
			assert.True(t, transport.SafeToRetry(err))
		}
		_, now := f.counts()
		assert.LessOrEqual(t, now-requests, 32, "no more than the server has to deal with at once")
		s := status(t, h, "a")
		assert.Equal(t, host.Reconnecting, s.State)
		assert.Equal(t, 1, s.Attempt)

		attempts, requests := f.counts()
		for range 10 {
			for _, err := range callers(t, h, 50) {
				isState(t, err, host.Reconnecting)
			}
		}
		again, now := f.counts()
		assert.Equal(t, attempts, again, "between attempts nobody tries")
		assert.Equal(t, requests, now)

		for attempt := 2; attempt <= 10; attempt++ {
			s := status(t, h, "a")
			assert.Equal(t, attempt-1, s.Attempt)
			time.Sleep(time.Until(s.Next))
			for _, err := range callers(t, h, 50) {
				assert.Equal(t, attempt, isState(t, err, host.Reconnecting).Attempt)
			}
			now, _ := f.counts()
			assert.Equal(t, attempts+attempt-1, now, "all callers share one attempt")
			assert.Same(t, before, h.Catalog())
		}
		time.Sleep(time.Minute)
		callers(t, h, 50)
		assert.Equal(t, host.Failed, state(t, h, "a"))
		assert.Empty(t, h.Catalog().Tools)
	})
}

// A server that cannot be told from somebody else is not there.
func TestServerWithoutItsCertificate(t *testing.T) {
	for _, fail := range []error{
		&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, tls.RecordHeaderError{Msg: "no TLS"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h, f := atURL(t)
			f.set(func() { f.fail = fail })
			assert.ErrorIs(t, echo(t, h, "a"), fail)
			_, requests := f.counts()
			for _, err := range callers(t, h, 50) {
				isState(t, err, host.Reconnecting)
			}
			_, now := f.counts()
			assert.Equal(t, requests, now)
			f.set(func() { f.fail = nil })
			time.Sleep(time.Second)
			assert.NoError(t, echo(t, h, "a"))
		})
	}
}

func TestServerAtURLIsNotTriedForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t)
		f.set(func() { f.away = true })
		callers(t, h, 1)
		attempts, _ := f.counts()
		time.Sleep(time.Hour)
		now, _ := f.counts()
		assert.Equal(t, attempts, now)

		f.set(func() { f.away = false })
		for _, err := range callers(t, h, 50) {
			assert.NoError(t, err)
		}
		now, _ = f.counts()
		assert.Equal(t, attempts+1, now)
	})
}

func TestServerAtURLThatIsNotThereYetIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &front{server: new(mcptest.Server), away: true}
		addEcho(f.server)
		h := newWorld(t).host(f.inMemory)
		require.NoError(t, h.Apply(t.Context(), remote("http://127.0.0.1:1/mcp")))
		assert.Equal(t, host.Reconnecting, state(t, h, "a"))
		time.Sleep(time.Second)
		f.set(func() { f.away = false })
		until(t, h, "a", host.Ready)
		assert.Len(t, h.Catalog().Tools, 1)
	})
}

func TestStartDoesNotWaitForTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t)
		f.set(func() { f.away = true })
		callers(t, h, 1)
		f.set(func() { f.away = false })
		begun := time.Now()
		require.NoError(t, h.Start(t.Context(), "a"))
		assert.Zero(t, time.Since(begun))
	})
}

func TestDeadlinesAreKeptDuringAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t)
		f.set(func() { f.away = true })
		callers(t, h, 1)
		hang := make(chan struct{})
		f.set(func() { f.away, f.hang = false, hang })
		time.Sleep(time.Minute)
		attempts, _ := f.counts()
		begun := time.Now()
		errs := make(chan error, 50)
		for range 50 {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := h.CallTool(ctx, "mcp__a__echo", nil)
				errs <- err
			}()
		}
		for range 50 {
			err := <-errs
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.True(t, transport.SafeToRetry(err))
		}
		assert.Equal(t, time.Second, time.Since(begun))
		now, _ := f.counts()
		assert.Equal(t, attempts+1, now)
		close(hang)
		assert.NoError(t, echo(t, h, "a"), "the attempt went on")
	})
}

func TestCallsUnderWaySurviveAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t)
		slow := make(chan error, 1)
		go func() {
			result, err := h.CallTool(t.Context(), "mcp__a__slow", text("done"))
			if err == nil {
				assert.Equal(t, "done", result.Text())
			}
			slow <- err
		}()
		synctest.Wait()
		f.set(func() { f.status = http.StatusServiceUnavailable })
		assert.ErrorIs(t, echo(t, h, "a"), transport.ErrUnavailable)
		assert.Equal(t, host.Reconnecting, until(t, h, "a", host.Reconnecting).State)
		f.set(func() { f.status = 0 })
		time.Sleep(time.Second)
		assert.NoError(t, echo(t, h, "a"))
		assert.NoError(t, <-slow)
	})
}

// A call that waits for its turn does not wait for those that are on an old connection.
func TestQueueIsNotKeptDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t, options(host.ServerOptions{MaxCalls: 2}))
		var slow sync.WaitGroup
		for range 2 {
			slow.Go(func() {
				_, err := h.CallTool(t.Context(), "mcp__a__slow", nil)
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		queued := make(chan error, 1)
		go func() { queued <- echo(t, h, "a") }()
		synctest.Wait()
		begun := time.Now()
		f.set(func() { f.status = http.StatusServiceUnavailable })
		require.NoError(t, f.server.Notify(t.Context(), string(mcp.ToolsChanged), nil)) // so that the host looks
		isState(t, <-queued, host.Reconnecting)
		assert.Less(t, time.Since(begun), time.Second)
		slow.Wait()
	})
}

// What accepts connections and drops them, as some proxies do before a dead server, is found out by asking for lists.
func TestServerThatDoesNotRespond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t)
		f.set(func() { f.drop = true })
		assert.ErrorIs(t, echo(t, h, "a"), mcp.ErrNoResponse)
		assert.Equal(t, host.Ready, state(t, h, "a"), "it may have been the call's fault")
		time.Sleep(400 * time.Millisecond)
		isState(t, echo(t, h, "a"), host.Reconnecting)
		f.set(func() { f.drop = false })
		time.Sleep(time.Second)
		assert.NoError(t, echo(t, h, "a"))
	})
}

// What a call of another server comes to, within that of one, says nothing about the one.
func TestNestedCallsBlameTheirOwnServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &front{server: new(mcptest.Server)}, &front{server: new(mcptest.Server)}
		addEcho(a.server)
		addEcho(b.server)
		h := newWorld(t).host(func(o *host.Options) {
			o.Transport = func(s config.Server, t transport.Transport) (transport.Transport, error) {
				t.(*streamablehttp.Transport).Client = map[string]*front{"a": a, "b": b}[s.Name]
				return t, nil
			}
		})
		list := append(remote("http://127.0.0.1:1/mcp"), remote("http://127.0.0.1:2/mcp")...)
		list[1].Name = "b"
		require.NoError(t, h.Apply(t.Context(), list))
		time.Sleep(time.Minute)
		b.set(func() { b.status = http.StatusServiceUnavailable })
		for range 2 { // the first call finds out, the second one is told
			err := h.Use(t.Context(), "a", func(ctx context.Context, _ *mcp.Client) error {
				_, err := h.CallServerTool(ctx, "b", "echo", text("hi"))
				return err
			})
			assert.ErrorContains(t, err, `host: server "a": host: server "b"`)
		}
		assert.Equal(t, host.Reconnecting, state(t, h, "b"))
		assert.Equal(t, host.Ready, state(t, h, "a"))
		assert.NoError(t, echo(t, h, "a"))
	})
}

// Stopping ends calls on an old connection as well.
func TestStopEndsWhatSurvivedAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t)
		slow := make(chan error, 1)
		go func() {
			_, err := h.CallTool(t.Context(), "mcp__a__slow", nil)
			slow <- err
		}()
		synctest.Wait()
		f.set(func() { f.away = true })
		assert.Error(t, echo(t, h, "a"))
		synctest.Wait()
		begun := time.Now()
		require.NoError(t, h.Stop(t.Context(), "a"))
		assert.Error(t, <-slow)
		assert.Less(t, time.Since(begun), 5*time.Second)
	})
}

// A gateway that has lost patience with a tool says nothing about the others; what it says of the lists does.
func TestAGatewayThatGivesUpWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, f := atURL(t)
		f.set(func() { f.status = http.StatusGatewayTimeout })
		require.ErrorIs(t, echo(t, h, "a"), transport.ErrUnavailable)
		f.set(func() { f.status = 0 })
		assert.Equal(t, host.Ready, state(t, h, "a"))
		time.Sleep(time.Second)
		assert.Equal(t, host.Ready, state(t, h, "a"), "the lists were to be had")
		assert.NoError(t, echo(t, h, "a"))
		attempts, _ := f.counts()
		assert.Equal(t, 1, attempts)

		f.set(func() { f.status = http.StatusGatewayTimeout })
		require.ErrorIs(t, echo(t, h, "a"), transport.ErrUnavailable)
		time.Sleep(2 * time.Second)
		isState(t, echo(t, h, "a"), host.Reconnecting)
	})
}

func TestWhatIsNoOutage(t *testing.T) {
	for _, code := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadRequest} {
		synctest.Test(t, func(t *testing.T) {
			h, f := atURL(t)
			f.set(func() { f.status = code })
			var status *streamablehttp.StatusError
			require.ErrorAs(t, echo(t, h, "a"), &status)
			f.set(func() { f.status = 0 })
			assert.Equal(t, host.Ready, state(t, h, "a"))
			assert.NoError(t, echo(t, h, "a"))
			now, _ := f.counts()
			assert.Equal(t, 1, now)
		})
	}
}

func TestNothingIsLeftOfTheTurnBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int32
		h, f := atURL(t, slowly(&open, &most))
		go h.CallTool(t.Context(), "mcp__a__slow", nil)
		synctest.Wait()
		f.set(func() { f.status = http.StatusServiceUnavailable })
		assert.Error(t, echo(t, h, "a"))
		f.set(func() { f.status = 0 })
		synctest.Wait()
		require.NoError(t, h.Stop(t.Context(), "a"))
		assert.Zero(t, open.Load())
		require.NoError(t, h.Start(t.Context(), "a"))
		assert.EqualValues(t, 1, open.Load())
	})
}

// What was given up may have calls under way on its old connection, which has to end before there is another one.
func TestRestartOfAFailedServerIsSeenToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int32
		h, f := atURL(t, slowly(&open, &most), options(host.ServerOptions{NoReconnect: true}))
		go h.CallTool(t.Context(), "mcp__a__slow", nil)
		synctest.Wait()
		f.set(func() { f.status = http.StatusServiceUnavailable })
		assert.Error(t, echo(t, h, "a"))
		f.set(func() { f.status = 0 })
		until(t, h, "a", host.Failed)
		go h.Restart(t.Context(), "a")
		synctest.Wait()
		assert.Equal(t, host.Stopping, state(t, h, "a"))
		assert.NoError(t, echo(t, h, "a"), "it waits")
		assert.EqualValues(t, 1, most.Load())
	})
}

func TestCallsWaitWhileARestartIsStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int32
		h, _ := atURL(t, slowly(&open, &most))
		go h.Restart(t.Context(), "a")
		synctest.Wait()
		assert.Equal(t, host.Stopping, state(t, h, "a"))
		assert.NoError(t, echo(t, h, "a"))
		assert.EqualValues(t, 1, most.Load())
		list := remote("http://127.0.0.1:1/mcp")
		list[0].Disabled = true
		require.NoError(t, h.Apply(stopped(t), list))
		isState(t, echo(t, h, "a"), host.Stopping)
		until(t, h, "a", host.Disabled)
	})
}

// stopped is a context that is done: nothing is waited for.
func stopped(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestIdleStopIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int32
		h, _ := atURL(t, slowly(&open, &most), options(host.ServerOptions{IdleStop: time.Hour}))
		time.Sleep(time.Hour - time.Minute + 500*time.Millisecond)
		assert.Equal(t, host.Stopping, state(t, h, "a"))
		assert.NoError(t, echo(t, h, "a"), "it waits, and connects again")
		assert.EqualValues(t, 1, most.Load())
	})
}

// The same with sockets.
func TestServerAtURLGoesAndComesBack(t *testing.T) {
	f := &front{server: new(mcptest.Server)}
	addEcho(f.server)
	serve := func(address string) (url string, stop func()) {
		listener, err := net.Listen("tcp", address)
		require.NoError(t, err)
		server := &http.Server{Handler: f}
		over := make(chan error, 1)
		go func() { over <- server.Serve(listener) }()
		return listener.Addr().String(), func() {
			server.Close()
			assert.ErrorIs(t, <-over, http.ErrServerClosed)
		}
	}
	address, stop := serve("127.0.0.1:0")
	h := host.New(host.Options{})
	defer closeHost(t, h)
	require.NoError(t, h.Apply(t.Context(), remote("http://"+address+"/mcp")))
	before := h.Catalog()
	require.NoError(t, echo(t, h, "a"))
	stop()
	for range callers(t, h, 50) {
	}
	s := status(t, h, "a")
	assert.Equal(t, host.Reconnecting, s.State)
	var op *net.OpError
	assert.ErrorAs(t, s.Err, &op)

	_, stop = serve(address)
	defer stop()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		err := echo(t, h, "a")
		var refused *host.StateError
		assert.True(t, err == nil || errors.As(err, &refused), "%v", err)
		assert.NoError(c, err)
	}, soon, 10*time.Millisecond)
	assert.Same(t, before, h.Catalog())
}
