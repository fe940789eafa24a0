package host_test

import (
	"context"
	"fmt"
	"runtime"
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

func TestStopAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		apply(t, h, "a")
		require.NoError(t, h.Stop(t.Context(), "a"))
		assert.Equal(t, host.Stopped, state(t, h, "a"))
		assert.Empty(t, h.Catalog().Tools)
		synctest.Wait()
		assert.Zero(t, w.open("a"))
		isState(t, echo(t, h, "a"), host.Stopped)
		require.NoError(t, h.Stop(t.Context(), "a"), "it is stopped already")

		require.NoError(t, h.Start(t.Context(), "a"))
		require.NoError(t, h.Start(t.Context(), "a"))
		assert.Len(t, w.tried("a"), 2)
		assert.NoError(t, echo(t, h, "a"))
		require.NoError(t, h.Stop(t.Context(), "a"))
		apply(t, h, "a")
		assert.NoError(t, echo(t, h, "a"), "what is applied runs")
	})
}

func TestDisabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		list := servers("a")
		list[0].Disabled = true
		require.NoError(t, h.Apply(t.Context(), list))
		assert.Equal(t, host.Disabled, state(t, h, "a"))
		isDisabled := func(err error) {
			var e *host.StateError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, host.Disabled, e.State)
		}
		isDisabled(h.Start(t.Context(), "a"))
		isDisabled(echo(t, h, "a"))
		apply(t, h, "a")
		assert.NoError(t, echo(t, h, "a"))
		require.NoError(t, h.Apply(t.Context(), list))
		time.Sleep(time.Second)
		assert.Equal(t, host.Disabled, state(t, h, "a"))
		assert.Empty(t, h.Catalog().Tools)
		assert.Zero(t, w.open("a"))
	})
}

func TestRestartKeepsToolsListedAndCallsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		apply(t, h, "a")
		before := h.Catalog()
		release := w.hang("a")
		restarted := make(chan error, 1)
		go func() { restarted <- h.Restart(t.Context(), "a") }()
		synctest.Wait()
		assert.Same(t, before, h.Catalog())
		called := make(chan error, 1)
		go func() { called <- echo(t, h, "a") }()
		synctest.Wait()
		release()
		assert.NoError(t, <-restarted)
		assert.NoError(t, <-called)
		assert.Same(t, before, h.Catalog())
	})
}

func TestFailOnStartupError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"must", "should", "well"} {
			w.add(name)
		}
		w.leave("must")
		w.leave("should")
		h := w.host(func(o *host.Options) {
			o.Server = func(s config.Server) host.ServerOptions {
				return host.ServerOptions{FailOnStartupError: s.Name != "should"}
			}
		})
		err := h.Apply(t.Context(), servers("must", "should", "well"))
		assert.EqualError(t, err, `host: server "must" is reconnecting (attempt 1): mcp: connect: nobody is at home`)
		assert.ErrorIs(t, err, errAway)
		w.comeBack("must")
		until(t, h, "must", host.Ready)
	})
}

func TestApplyObeysItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		release := w.hang("a")
		h := w.host()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.NoError(t, h.Apply(ctx, servers("a")))
		assert.Equal(t, host.Connecting, state(t, h, "a"))
		release()
		until(t, h, "a", host.Ready)
	})
}

func TestApplyRefusesNames(t *testing.T) {
	h := host.New(host.Options{})
	assert.ErrorContains(t, h.Apply(t.Context(), servers("a", "a")), `the name "a"`)
	assert.ErrorContains(t, h.Apply(t.Context(), servers("")), `the name ""`)
	assert.Empty(t, h.Status())
}

// A server whose connecting cannot be interrupted stays visible until it is over, and only then another one takes its
// place.
func TestStoppingIsSeenUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		release := w.hang("a")
		h := w.host()
		short := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return ctx
		}
		require.NoError(t, h.Apply(short(), servers("a")))
		assert.ErrorIs(t, h.Stop(short(), "a"), context.DeadlineExceeded)
		assert.Equal(t, host.Stopping, state(t, h, "a"))
		isState(t, echo(t, h, "a"), host.Stopping)
		require.NoError(t, h.Apply(short(), nil))
		assert.Equal(t, host.Stopping, state(t, h, "a"))
		require.NoError(t, h.Apply(short(), servers("a")))
		assert.Equal(t, host.Stopping, state(t, h, "a"))
		assert.Len(t, w.tried("a"), 1)
		release()
		until(t, h, "a", host.Ready)
		synctest.Wait()
		assert.Len(t, w.tried("a"), 2)
		assert.Equal(t, 1, w.open("a"))
	})
}

func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		addSlow(w.add("a"))
		w.add("hung")
		release := w.hang("hung")
		h := w.host()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, h.Apply(ctx, servers("a", "hung")))
		called := make(chan error, 1)
		go func() {
			_, err := h.CallTool(t.Context(), "mcp__a__slow", nil)
			called <- err
		}()
		synctest.Wait()
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		err := h.Close(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, `still stopping ["hung"]`)
		assert.Equal(t, 5*time.Second, time.Since(begun))
		assert.ErrorIs(t, <-called, host.ErrClosed)
		assert.Zero(t, w.open("a"))

		assert.ErrorIs(t, h.Apply(t.Context(), servers("a")), host.ErrClosed)
		assert.ErrorIs(t, h.Start(t.Context(), "a"), host.ErrClosed)
		assert.ErrorIs(t, echo(t, h, "a"), host.ErrClosed)
		release()
		assert.NoError(t, h.Close(t.Context()), "a second Close waits for the rest")
		assert.Empty(t, h.Status())
	})
}

func TestLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		w.add("b")
		h := w.host(options(host.ServerOptions{Lazy: true, FailOnStartupError: true}))
		apply(t, h, "a", "b")
		assert.Equal(t, host.Idle, state(t, h, "a"))
		assert.Empty(t, h.Catalog().Tools)
		assert.Empty(t, w.tried("a"))

		assert.NoError(t, echo(t, h, "a"))
		assert.Equal(t, host.Ready, state(t, h, "a"))
		require.NoError(t, h.Start(t.Context(), "b"))
		assert.Len(t, h.Catalog().Tools, 2)
		apply(t, h, "a", "b")
		assert.Len(t, w.tried("a"), 1)
	})
}

func TestFirstUseIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		w.leave("a")
		h := w.host(options(host.ServerOptions{Lazy: true}))
		apply(t, h, "a")
		errs := make(chan error, 50)
		for range 50 {
			go func() { errs <- echo(t, h, "a") }()
		}
		for range 50 {
			isState(t, <-errs, host.Reconnecting)
		}
		assert.Len(t, w.tried("a"), 1)
	})
}

func TestIdleStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		addSlow(w.add("a"))
		h := w.host(options(host.ServerOptions{IdleStop: 5 * time.Second}))
		apply(t, h, "a")
		before := h.Catalog()
		for range 20 {
			time.Sleep(4 * time.Second)
			require.NoError(t, echo(t, h, "a"))
		}
		assert.Len(t, w.tried("a"), 1, "it is in use")
		_, err := h.CallTool(t.Context(), "mcp__a__slow", text("x")) // takes longer than that
		require.NoError(t, err)
		time.Sleep(4 * time.Second)
		assert.Equal(t, host.Ready, state(t, h, "a"))
		time.Sleep(2 * time.Second)
		assert.Equal(t, host.Idle, state(t, h, "a"))
		assert.Zero(t, w.open("a"))
		for range 20 { // which is no outage, however often it happens
			require.NoError(t, echo(t, h, "a"))
			time.Sleep(6 * time.Second)
			assert.Equal(t, host.Idle, state(t, h, "a"))
		}
		assert.Len(t, w.tried("a"), 21)
		assert.Same(t, before, h.Catalog())
	})
}

func TestUserOfTheSameNameAfterRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		apply(t, h, "a")
		for range 50 {
			require.NoError(t, h.Apply(t.Context(), nil))
			apply(t, h, "a")
			require.NoError(t, echo(t, h, "a"))
		}
		synctest.Wait()
		assert.Equal(t, 1, w.open("a"))
	})
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		w.add("b")
		h := host.New(host.Options{Transport: w.transport})
		apply(t, h, "a", "b")
		listen(t)
		var seen []host.Event
		busy := make(chan struct{})
		over := make(chan struct{})
		go func() {
			defer close(over)
			for e := range h.Events(context.Background()) {
				seen = append(seen, e)
				<-busy
			}
		}()
		synctest.Wait()
		first := h.Catalog()
		for i := range 100 { // while the loop is busy
			a.AddTool(&mcp.Tool{Name: string(rune('A' + i))}, nil)
			require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
			time.Sleep(time.Second)
		}
		busy <- struct{}{}
		busy <- struct{}{}
		synctest.Wait()
		require.Len(t, seen, 3)
		assert.Equal(t, "a", seen[0].Status.Name)
		assert.Equal(t, "b", seen[1].Status.Name)
		assert.Same(t, first, seen[0].Catalog)
		assert.Equal(t, "a", seen[2].Status.Name, "a hundred changes are one")
		assert.Equal(t, 101, seen[2].Status.Tools)
		assert.Same(t, h.Catalog(), seen[2].Catalog)

		close(busy)
		require.NoError(t, h.Apply(t.Context(), servers("a")))
		synctest.Wait()
		last := seen[len(seen)-1]
		assert.True(t, last.Gone)
		assert.Equal(t, "b", last.Status.Name)
		closeHost(t, h)
		<-over
		for range h.Events(context.Background()) {
			assert.Fail(t, "there is nothing left to tell")
		}
	})
}

func TestEventsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(t).host()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range h.Events(ctx) {
			assert.Fail(t, "there is nothing to tell")
		}
	})
}

func TestHandlerMayStopItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a").AddTool(&mcp.Tool{Name: "ask"}, func(_ context.Context, c *mcptest.Call) (*mcp.CallToolResult, error) {
			_, err := c.Elicit(&mcp.ElicitRequest{Message: "who?"})
			return mcptest.Text("never"), err
		})
		var h *host.Host
		stopped := make(chan error, 1)
		h = w.host(func(o *host.Options) {
			o.Client = func(config.Server) mcp.Options {
				return mcp.Options{Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					stopped <- h.Stop(context.Background(), "a")
					return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
				}}
			}
		})
		apply(t, h, "a")
		_, err := h.CallServerTool(t.Context(), "a", "ask", nil)
		assert.ErrorIs(t, err, mcp.ErrClosed)
		assert.NoError(t, <-stopped)
	})
}

func TestStartJoinsTheFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		release := w.hang("a")
		h := w.host()
		require.NoError(t, h.Apply(stopped(t), servers("a")))
		synctest.Wait()
		started := make(chan error, 1)
		go func() { started <- h.Start(t.Context(), "a") }()
		synctest.Wait()
		release()
		assert.NoError(t, <-started)
		assert.Len(t, w.tried("a"), 1)
	})
}

func TestChangedServerOffersNothingUntilItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		h := w.host()
		apply(t, h, "a")
		a.Handle("tools/list", answer(mcptestTools("x", "x")))
		require.NoError(t, h.Restart(t.Context(), "a"))
		assert.Error(t, status(t, h, "a").ListErr)
		assert.NotEmpty(t, h.Catalog().Tools)
		list := servers("a")
		list[0].Args = []string{"other"}
		w.leave("a")
		require.NoError(t, h.Apply(t.Context(), list))
		assert.Empty(t, h.Catalog().Tools)
		assert.NoError(t, status(t, h, "a").ListErr)
	})
}

func TestStoppedServerGetsNoCallAnyMore(t *testing.T) {
	w := newWorld(t)
	a := w.add("a")
	h := w.host()
	for range 100 {
		apply(t, h, "a")
		_ = h.Stop(stopped(t), "a") // which does not wait
		calls := len(a.Received("tools/call"))
		var e *host.StateError
		require.ErrorAs(t, echo(t, h, "a"), &e)
		require.Len(t, a.Received("tools/call"), calls)
		require.NoError(t, h.Stop(t.Context(), "a"))
	}
}

func TestCallsWaitForAServerThatIsOnlyJustApplied(t *testing.T) {
	w := newWorld(t)
	w.add("a")
	h := w.host()
	for range 100 {
		require.NoError(t, h.Apply(stopped(t), servers("a"))) // which does not wait
		require.Equal(t, memory, status(t, h, "a").Type)
		require.NoError(t, echo(t, h, "a"))
		require.NoError(t, h.Stop(t.Context(), "a"))
	}
}

func TestStoppedIdleServerIsNotConnected(t *testing.T) {
	w := newWorld(t)
	w.add("a")
	h := w.host(options(host.ServerOptions{Lazy: true}))
	for range 100 {
		apply(t, h, "a")
		_ = h.Stop(stopped(t), "a") // which does not wait
		var e *host.StateError
		require.ErrorAs(t, echo(t, h, "a"), &e)
		require.Contains(t, []host.State{host.Stopping, host.Stopped}, state(t, h, "a"))
	}
	assert.Empty(t, w.tried("a"))
}

// Removing a server and adding it again races with the end of the old one.
func TestRemovedAndAddedAgain(t *testing.T) {
	w := newWorld(t)
	w.add("a")
	h := w.host()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for range 2000 {
		require.NoError(t, h.Apply(ctx, nil))
		require.NoError(t, h.Apply(stopped(t), servers("a")))
	}
	require.NoError(t, h.Start(ctx, "a"))
	assert.NoError(t, echo(t, h, "a"))
}

func TestServersThatAreNotConnectedHaveNoGoroutine(t *testing.T) {
	w := newWorld(t)
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprint("s", i))
		w.add(all[i])
	}
	h := w.host(options(host.ServerOptions{Lazy: true}))
	before := runtime.NumGoroutine()
	count := func(c *assert.CollectT) { assert.LessOrEqual(c, runtime.NumGoroutine(), before+1) } // this is one itself
	apply(t, h, all...)
	require.EventuallyWithT(t, count, soon, time.Millisecond)
	for _, name := range all {
		require.NoError(t, h.Start(t.Context(), name))
		require.NoError(t, h.Stop(t.Context(), name))
	}
	require.EventuallyWithT(t, count, soon, time.Millisecond)
}
