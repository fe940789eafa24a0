package host_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// addSlow adds a tool that takes 10 s, unless it is cancelled, and says what it was told.
func addSlow(s *mcptest.Server) {
	s.AddTool(&mcp.Tool{Name: "slow"}, func(ctx context.Context, c *mcptest.Call) (*mcp.CallToolResult, error) {
		var args struct{ Text string }
		_ = c.Bind(&args)
		select {
		case <-time.After(10 * time.Second):
			return mcptest.Text(args.Text), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

func TestCallsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		addSlow(a)
		h := w.host(options(host.ServerOptions{MaxCalls: 2}))
		apply(t, h, "a")
		begun := time.Now()
		var mu sync.Mutex
		var order []string
		var calls sync.WaitGroup
		for i := range 7 {
			calls.Go(func() {
				result, err := h.CallTool(t.Context(), "mcp__a__slow", text(fmt.Sprint(i/2)))
				assert.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				order = append(order, result.Text())
			})
			synctest.Wait()
		}
		assert.Len(t, a.Received("tools/call"), 2)
		calls.Wait()
		assert.Equal(t, 40*time.Second, time.Since(begun))
		assert.Equal(t, []string{"0", "0", "1", "1", "2", "2", "3"}, order, "first come, first served")
	})
}

func TestQueueOfAChangedServerBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		addSlow(a)
		most := 2
		h := w.host(func(o *host.Options) {
			o.Server = func(config.Server) host.ServerOptions { return host.ServerOptions{MaxCalls: most} }
		})
		apply(t, h, "a")
		block := make(chan struct{})
		var calls sync.WaitGroup
		for range 2 { // have what there is to have, and do not let go of it
			calls.Go(func() {
				assert.NoError(t, h.Use(t.Context(), "a", func(context.Context, *mcp.Client) error {
					<-block
					return nil
				}))
			})
		}
		synctest.Wait()
		begun := time.Now()
		var queued sync.WaitGroup
		for range 3 {
			queued.Go(func() {
				_, err := h.CallServerTool(t.Context(), "a", "slow", text("hi"))
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		most = 1
		apply(t, h, "a")
		queued.Wait()
		assert.Equal(t, 30*time.Second, time.Since(begun), "one after the other")
		close(block)
		calls.Wait()
	})
}

func TestCancelledQueuedCallIsNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		addSlow(a)
		h := w.host(options(host.ServerOptions{MaxCalls: 1}))
		apply(t, h, "a")
		go h.CallTool(t.Context(), "mcp__a__slow", nil)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := h.CallTool(ctx, "mcp__a__slow", nil)
			done <- err
		}()
		synctest.Wait()
		cancel()
		err := <-done
		assert.ErrorIs(t, err, context.Canceled)
		assert.True(t, transport.SafeToRetry(err))
		time.Sleep(time.Minute)
		assert.Len(t, a.Received("tools/call"), 1)

		_, err = h.CallTool(ctx, "mcp__a__slow", nil)
		assert.ErrorIs(t, err, context.Canceled)
		assert.Len(t, a.Received("tools/call"), 1, "nor one that was cancelled before")
	})
}

func TestTimeoutOfTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		addSlow(w.add("a"))
		addSlow(w.add("b"))
		h := w.host()
		list := servers("a", "b")
		list[0].Timeout = 3 * time.Second
		require.NoError(t, h.Apply(t.Context(), list))
		begun := time.Now()
		_, err := h.CallTool(t.Context(), "mcp__a__slow", nil)
		var limit *mcp.TimeoutError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, 3*time.Second, time.Since(begun))
		assert.Equal(t, host.Ready, state(t, h, "a"), "a slow tool is no reason to give up the server")
		_, err = h.CallTool(t.Context(), "mcp__a__slow", nil, mcp.WithTimeout(time.Minute))
		assert.NoError(t, err, "the caller knows better")
		_, err = h.CallTool(t.Context(), "mcp__b__slow", nil)
		assert.NoError(t, err)
	})
}

func TestServerAsksByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"a", "b"} {
			w.add(name).AddTool(&mcp.Tool{Name: "ask"}, func(_ context.Context, c *mcptest.Call) (*mcp.CallToolResult, error) {
				answer, err := c.Elicit(&mcp.ElicitRequest{Message: "who?"})
				if err != nil {
					return nil, err
				}
				return mcptest.Text(answer.Content["name"].(string)), nil
			})
		}
		h := w.host(func(o *host.Options) {
			o.Client = func(s config.Server) mcp.Options {
				return mcp.Options{Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": s.Name}}, nil
				}}
			}
		})
		apply(t, h, "a", "b")
		for _, name := range []string{"a", "b"} {
			result, err := h.CallServerTool(t.Context(), name, "ask", nil)
			require.NoError(t, err)
			assert.Equal(t, name, result.Text())
		}
	})
}

func TestHandlersOfChangesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		told := make(chan string, 10)
		h := w.host(func(o *host.Options) {
			o.Client = func(s config.Server) mcp.Options {
				return mcp.Options{On: mcp.Notifications{ToolsChanged: func(context.Context) { told <- s.Name }}}
			}
		})
		apply(t, h, "a")
		listen(t)
		require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		assert.Equal(t, "a", <-told)
	})
}

func TestScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		addSlow(a)
		h := w.host(options(host.ServerOptions{MaxCalls: 1}))
		apply(t, h, "a")
		mine, other := h.Scope(), h.Scope()
		const calls = 20
		errs := make(chan error, calls)
		for range calls {
			go func() {
				result, err := mine.CallTool(t.Context(), "mcp__a__slow", nil)
				assert.Nil(t, result)
				errs <- err
			}()
			synctest.Wait()
		}
		theirs := make(chan error, 1)
		go func() {
			_, err := other.CallServerTool(t.Context(), "a", "slow", nil)
			theirs <- err
		}()
		synctest.Wait()
		begun := time.Now()
		mine.Close()
		for range calls {
			err := <-errs
			assert.ErrorIs(t, err, host.ErrScopeClosed)
			assert.ErrorIs(t, err, context.Canceled)
		}
		assert.Zero(t, time.Since(begun), "at once")
		assert.NoError(t, <-theirs)
		assert.Len(t, a.Received("tools/call"), 2, "the queued ones were never sent")
		assert.Len(t, a.Received("notifications/cancelled"), 1)

		_, err := mine.CallTool(t.Context(), "mcp__a__echo", nil)
		assert.ErrorIs(t, err, host.ErrScopeClosed)
		assert.ErrorIs(t, mine.Use(t.Context(), "a", nil), host.ErrScopeClosed)
		assert.NoError(t, echo(t, h, "a"))
	})
}

func TestResultAfterTheScopeIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		h := w.host()
		apply(t, h, "a")
		s := h.Scope()
		err := s.Use(t.Context(), "a", func(context.Context, *mcp.Client) error {
			s.Close() // just before it is done
			return nil
		})
		assert.ErrorIs(t, err, host.ErrScopeClosed)
	})
}

func TestCallsWaitForTheFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		release := w.hang("a")
		h := w.host()
		go h.Apply(t.Context(), servers("a"))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := h.CallServerTool(ctx, "a", "echo", text("x"))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		done := make(chan error, 1)
		go func() { done <- echo(t, h, "a") }()
		synctest.Wait()
		release()
		assert.NoError(t, <-done)
	})
}

func TestErrorOfALostConnectionNamesTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		addSlow(w.add("a"))
		h := w.host()
		apply(t, h, "a")
		done := make(chan error, 1)
		go func() {
			_, err := h.CallTool(t.Context(), "mcp__a__slow", nil)
			done <- err
		}()
		synctest.Wait()
		w.crash("a")
		err := <-done
		assert.ErrorIs(t, err, mcp.ErrClosed)
		assert.ErrorContains(t, err, `host: server "a": mcp: tools/call "slow": connection lost`)
		assert.False(t, transport.SafeToRetry(err))
	})
}
