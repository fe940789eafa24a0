package host_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

func TestApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		readOnly := true
		a.AddTool(&mcp.Tool{Name: "read", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: &readOnly}},
			func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) { return mcptest.Text("ok"), nil })
		no := errors.New("the user said no")
		h := w.host(func(o *host.Options) {
			o.Approve = func(_ context.Context, c *host.Call) error {
				assert.Equal(t, "a", c.Server)
				assert.Equal(t, c.Name, c.Tool.Name)
				if hint := c.Tool.Annotations; hint != nil && *hint.ReadOnlyHint {
					return nil
				}
				assert.Equal(t, text("hi"), c.Args)
				return no
			}
		})
		apply(t, h, "a")
		_, err := h.CallTool(t.Context(), "mcp__a__read", nil)
		assert.NoError(t, err)
		err = echo(t, h, "a")
		var refused *host.RefusedError
		require.ErrorAs(t, err, &refused)
		assert.ErrorIs(t, err, no)
		assert.EqualError(t, err, `host: tool "echo" of server "a" is refused: the user said no`)
		assert.True(t, transport.SafeToRetry(err))
		assert.Len(t, a.Received("tools/call"), 1)
	})
}

func TestNobodyIsAskedAboutACallThatCannotBeMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		asked := 0
		h := w.host(func(o *host.Options) {
			o.Approve = func(context.Context, *host.Call) error {
				asked++
				return nil
			}
		})
		apply(t, h, "a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := h.CallTool(ctx, "mcp__a__echo", text("hi"))
		assert.ErrorIs(t, err, context.Canceled)
		assert.True(t, transport.SafeToRetry(err))
		w.leave("a")
		synctest.Wait()
		isState(t, echo(t, h, "a"), host.Reconnecting)
		assert.Zero(t, asked)
		assert.Empty(t, a.Received("tools/call"))
	})
}

// asking has a user who agrees to everything once that is let happen, and says when one is asked.
func asking(o *host.Options) (asked chan *host.Call, agree chan struct{}) {
	asked, agree = make(chan *host.Call, 10), make(chan struct{}, 10)
	o.Approve = func(_ context.Context, c *host.Call) error {
		asked <- c
		<-agree
		return nil
	}
	return asked, agree
}

// What a user agrees to is that call, to that server, of that tool: not another one that has its name by then.
func TestApprovalIsForWhatWasShown(t *testing.T) {
	reconfigure := func(t *testing.T, h *host.Host, _ *mcptest.Server) {
		list := servers("a")
		list[0].Args = []string{"other"}
		require.NoError(t, h.Apply(t.Context(), list))
	}
	for what, test := range map[string]struct {
		change func(*testing.T, *host.Host, *mcptest.Server)
		sent   bool
	}{
		"nothing":               {func(*testing.T, *host.Host, *mcptest.Server) {}, true},
		"another configuration": {reconfigure, false},
		"and back again": {func(t *testing.T, h *host.Host, a *mcptest.Server) {
			reconfigure(t, h, a)
			apply(t, h, "a")
		}, false},
		"a restart": {func(t *testing.T, h *host.Host, _ *mcptest.Server) {
			require.NoError(t, h.Restart(t.Context(), "a"))
		}, true},
		"another tool": {func(t *testing.T, h *host.Host, a *mcptest.Server) {
			a.AddTool(&mcp.Tool{Name: "more"}, nil)
			require.NoError(t, h.Restart(t.Context(), "a"))
		}, true},
		"the tool": {func(t *testing.T, h *host.Host, a *mcptest.Server) {
			a.Remove("echo")
			a.AddTool(&mcp.Tool{Name: "echo", Description: "Echoes, and erases."},
				func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) { return mcptest.Text("hi"), nil })
			require.NoError(t, h.Restart(t.Context(), "a"))
		}, false},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a := w.add("a")
				var asked chan *host.Call
				var agree chan struct{}
				h := w.host(func(o *host.Options) { asked, agree = asking(o) })
				apply(t, h, "a")
				called := make(chan error, 1)
				go func() { called <- echo(t, h, "a") }()
				<-asked
				test.change(t, h, a)
				agree <- struct{}{}
				err := <-called
				if test.sent {
					assert.NoError(t, err)
					return
				}
				assertChanged(t, err)
				assert.Empty(t, a.Received("tools/call"))
				agree <- struct{}{}
				_ = echo(t, h, "a")
				assert.Len(t, a.Received("tools/call"), 1, "another call is asked about anew")
			})
		})
	}
}

func assertChanged(t *testing.T, err error) {
	t.Helper()
	var refused *host.RefusedError
	require.ErrorAs(t, err, &refused)
	assert.ErrorIs(t, err, host.ErrChanged)
	assert.True(t, transport.SafeToRetry(err))
	assert.EqualError(t, err, `host: tool "echo" of server "a" is refused: `+host.ErrChanged.Error())
}

// It was approved, and waits for its turn, or for a connection.
func TestApprovedCallDoesNotWaitForAnotherConfiguration(t *testing.T) {
	for what, wait := range map[string]func(*testing.T, *world, *host.Host){
		"its turn": func(t *testing.T, _ *world, h *host.Host) {
			go h.Use(t.Context(), "a", func(ctx context.Context, _ *mcp.Client) error {
				<-ctx.Done()
				return nil
			})
		},
		"a connection": func(t *testing.T, w *world, h *host.Host) {
			t.Cleanup(w.hang("a"))
			go h.Restart(t.Context(), "a")
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a := w.add("a")
				var agree chan struct{}
				h := w.host(options(host.ServerOptions{MaxCalls: 1}), func(o *host.Options) { _, agree = asking(o) })
				apply(t, h, "a")
				wait(t, w, h)
				synctest.Wait()
				agree <- struct{}{}
				called := make(chan error, 1)
				go func() { called <- echo(t, h, "a") }()
				synctest.Wait()
				list := servers("a")
				list[0].Args = []string{"other"}
				begun := time.Now()
				go h.Apply(t.Context(), list)
				assertChanged(t, <-called)
				assert.Zero(t, time.Since(begun))
				assert.Empty(t, a.Received("tools/call"))
			})
		})
	}
}
