package host_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

func TestLostServerComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		apply(t, h, "a")
		before := h.Catalog()
		time.Sleep(time.Minute)
		w.leave("a")
		synctest.Wait()
		begun := time.Now()

		s := status(t, h, "a")
		assert.Equal(t, host.Reconnecting, s.State)
		assert.Equal(t, 1, s.Attempt)
		assert.ErrorContains(t, s.Err, "connection lost")
		e := isState(t, echo(t, h, "a"), host.Reconnecting)
		assert.Equal(t, s.Next, e.Next)
		assert.Same(t, before, h.Catalog())

		time.Sleep(2 * time.Second)
		w.comeBack("a")
		until(t, h, "a", host.Ready)
		assert.NoError(t, echo(t, h, "a"))
		assert.Same(t, before, h.Catalog(), "the lists are what they were")
		checkDelays(t, begun, w.tried("a")[1:], []float64{0.5, 1, 2})
	})
}

// checkDelays compares the times between attempts with the schedule, in seconds, as far as it goes.
func checkDelays(t *testing.T, begun time.Time, tried []time.Time, want []float64) {
	t.Helper()
	require.GreaterOrEqual(t, len(tried), len(want))
	for i, seconds := range want {
		assert.InDelta(t, seconds, tried[i].Sub(begun).Seconds(), seconds/5+0.001, "attempt %d", i+1)
		begun = tried[i]
	}
}

func TestServerThatIsNeverThereFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		w.leave("a")
		h := w.host()
		apply(t, h, "a")
		assert.Equal(t, host.Reconnecting, state(t, h, "a"))
		s := until(t, h, "a", host.Failed)
		assert.ErrorIs(t, s.Err, errAway)
		tried := w.tried("a")
		assert.Len(t, tried, 10)
		checkDelays(t, tried[0], tried[1:], []float64{0.5, 1, 2, 4, 8, 16, 30, 30, 30})
		isState(t, echo(t, h, "a"), host.Failed)

		w.comeBack("a")
		require.NoError(t, h.Start(t.Context(), "a"))
		assert.NoError(t, echo(t, h, "a"))
	})
}

func TestServerThatIsLostForGoodFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		apply(t, h, "a")
		time.Sleep(time.Minute)
		w.leave("a")
		synctest.Wait()
		assert.NotEmpty(t, h.Catalog().Tools)
		until(t, h, "a", host.Failed)
		assert.Len(t, w.tried("a"), 1+10)
		assert.Empty(t, h.Catalog().Tools, "a server that has failed offers nothing")
	})
}

func TestCrashLoopEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		apply(t, h, "a")
		for range 9 {
			time.Sleep(29 * time.Second)
			w.crash("a")
			until(t, h, "a", host.Reconnecting)
			until(t, h, "a", host.Ready)
		}
		w.crash("a")
		until(t, h, "a", host.Failed)
		assert.Len(t, w.tried("a"), 10)
	})
}

func TestLongUptimeBeginsTheCountAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		apply(t, h, "a")
		for range 30 {
			time.Sleep(31 * time.Second)
			w.crash("a")
			s := until(t, h, "a", host.Reconnecting)
			assert.Equal(t, 1, s.Attempt)
			until(t, h, "a", host.Ready)
		}
	})
}

func TestNoReconnectKeepsToolsListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host(options(host.ServerOptions{NoReconnect: true}))
		apply(t, h, "a")
		w.crash("a")
		until(t, h, "a", host.Failed)
		time.Sleep(time.Hour)
		assert.Len(t, w.tried("a"), 1)
		assert.Len(t, h.Catalog().Tools, 1)
		isState(t, echo(t, h, "a"), host.Failed)
		require.NoError(t, h.Restart(t.Context(), "a"))
		assert.NoError(t, echo(t, h, "a"))
	})
}

func TestOneServerCostsOthersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"hung", "away", "well"} {
			w.add(name)
		}
		w.leave("away")
		release := w.hang("hung")
		h := w.host(options(host.ServerOptions{ConnectTimeout: time.Minute}))
		done := make(chan error, 1)
		go func() { done <- h.Apply(t.Context(), servers("hung", "away", "well")) }()
		synctest.Wait()
		assert.Equal(t, host.Ready, state(t, h, "well"))
		assert.Equal(t, host.Reconnecting, state(t, h, "away"))
		assert.Equal(t, host.Connecting, state(t, h, "hung"))
		assert.NoError(t, echo(t, h, "well"))
		release()
		require.NoError(t, <-done)
		assert.Equal(t, host.Ready, state(t, h, "hung"))
	})
}

func TestStartBeginsTheCountAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		w.leave("a")
		h := w.host()
		apply(t, h, "a")
		time.Sleep(20 * time.Second)
		assert.Greater(t, status(t, h, "a").Attempt, 4)
		assert.Equal(t, 1, isReconnecting(t, h.Start(t.Context(), "a")).Attempt)
		time.Sleep(20 * time.Second)
		assert.Equal(t, 1, isReconnecting(t, h.Restart(t.Context(), "a")).Attempt)
		until(t, h, "a", host.Failed)
		w.comeBack("a")
		apply(t, h, "a")
		assert.Equal(t, host.Ready, state(t, h, "a"), "what is applied runs")
	})
}

func isReconnecting(t *testing.T, err error) *host.StateError {
	t.Helper()
	var e *host.StateError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, host.Reconnecting, e.State)
	return e
}

func TestIdleStopEndsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		w.leave("a")
		h := w.host(options(host.ServerOptions{IdleStop: time.Second}))
		apply(t, h, "a")
		time.Sleep(20 * time.Second)
		w.comeBack("a")
		until(t, h, "a", host.Idle)
		w.leave("a")
		isState(t, echo(t, h, "a"), host.Reconnecting)
		assert.Equal(t, 1, status(t, h, "a").Attempt)
	})
}

func TestAttemptsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var all []string
		for i := range 20 {
			name := string(rune('a' + i))
			all = append(all, name)
			w.add(name)
			w.leave(name)
		}
		h := w.host()
		apply(t, h, all...)
		at := make(map[time.Time]bool)
		for _, s := range h.Status() {
			at[s.Next] = true
		}
		assert.Greater(t, len(at), 10)
	})
}

// A connection whose other end is gone may take a while to be cleaned up, also while a call has not yet noticed.
func TestNextAttemptWaitsUntilTheOldProcessIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		var open, most atomic.Int32
		h := w.host(slowly(&open, &most))
		apply(t, h, "a")
		called := make(chan error, 1)
		go func() {
			called <- h.Use(t.Context(), "a", func(context.Context, *mcp.Client) error {
				time.Sleep(1500 * time.Millisecond) // a call that ends late
				return nil
			})
		}()
		synctest.Wait()
		w.crash("a")
		until(t, h, "a", host.Reconnecting)
		until(t, h, "a", host.Ready)
		assert.Len(t, w.tried("a"), 2)
		assert.EqualValues(t, 1, most.Load())
		assert.NoError(t, <-called)
	})
}

func TestHungServerIsFoundByPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a").Handle("ping", func(context.Context, *mcptest.Call) (any, error) { return nil, mcptest.ErrNoAnswer })
		h := w.host(func(o *host.Options) {
			o.Client = func(config.Server) mcp.Options {
				return mcp.Options{KeepAlive: time.Minute, Versions: []string{mcp.Version20251125}}
			}
		})
		apply(t, h, "a")
		until(t, h, "a", host.Reconnecting)
		until(t, h, "a", host.Ready)
		assert.Len(t, w.tried("a"), 2)
	})
}
