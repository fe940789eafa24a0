package interop

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inBothEras runs a test on a server that serves both. What holds in one holds in the other: a caller need not know.
func inBothEras(t *testing.T, s server, test func(*testing.T, func(mcp.Options) *session)) {
	for _, version := range bothEras {
		t.Run(s.name+"/"+version, func(t *testing.T) {
			test(t, func(o mcp.Options) *session {
				o.Versions = []string{version}
				return connect(t, s, o)
			})
		})
	}
}

// ours are the servers with tools of ours: two SDKs, over stdio and over HTTP. A caller need not know which it is.
var ours = []server{typescript, typescriptHTTP, golang, golangHTTP}

// inEveryWay runs a test on each of them, in both eras.
func inEveryWay(t *testing.T, test func(*testing.T, func(mcp.Options) *session)) {
	for _, s := range ours {
		inBothEras(t, s, test)
	}
}

func TestProgressInBothEras(t *testing.T) {
	type counting struct {
		server server
		call   toolCall
		least  int // so many of the steps come before the answer
	}
	// Progress waits in a queue of this server, where its own answer may overtake it.
	slow := toolCall{"longRunningOperation", map[string]any{"duration": 0.2, "steps": 4}, "completed"}
	tests := []counting{{mcpGo, slow, 1}, {mcpGoHTTP, slow, 0}}
	for _, s := range ours {
		tests = append(tests, counting{s, toolCall{"count", map[string]any{"to": 4}, "counted to 4"}, 4})
	}
	for _, test := range tests {
		inBothEras(t, test.server, func(t *testing.T, connect func(mcp.Options) *session) {
			c := connect(mcp.Options{})
			var steps []float64
			text := c.text(test.call.name, test.call.args, mcp.WithProgress(func(p mcp.Progress) {
				steps = append(steps, p.Progress)
				require.NotNil(t, p.Total)
				assert.EqualValues(t, 4, *p.Total)
			}))
			assert.Contains(t, text, test.call.text)
			require.GreaterOrEqual(t, len(steps), test.least)
			assert.Equal(t, []float64{1, 2, 3, 4}[:len(steps)], steps)
		})
	}
}

// The server reports progress on a request that there never was.
func TestProgressThatNobodyAskedFor(t *testing.T) {
	inBothEras(t, mcpGo, func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(mcp.Options{})
		assert.Equal(t, "notification sent successfully", c.text("notify", nil))
		assert.Contains(t, c.text(mcpGo.call.name, mcpGo.call.args), mcpGo.call.text)
	})
}

// The caller gets its context's error at once, and the server hears of it: it ends the call on its side.
func TestCancelReachesTheServer(t *testing.T) {
	inEveryWay(t, func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(mcp.Options{})
		ctx, cancel := context.WithCancel(c.ctx())
		_, err := c.CallTool(ctx, "wait", nil, mcp.WithProgress(func(mcp.Progress) { cancel() }))
		require.ErrorIs(t, err, context.Canceled)
		require.Eventually(t, func() bool { return c.text("aborted", nil) == "1" }, wait, 10*time.Millisecond)
		notices := 1
		if c.http != nil && c.Server().Modern() {
			notices = 0 // closing the stream says it
		}
		assert.Equal(t, notices, c.wire.notices("notifications/cancelled"))
	})
}

// A server that does not heed the cancellation holds up nobody.
func TestCancelThatIsNotHeeded(t *testing.T) {
	inBothEras(t, mcpGo, func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(mcp.Options{})
		ctx, cancel := context.WithCancel(c.ctx())
		_, err := c.CallTool(ctx, "longRunningOperation", map[string]any{"duration": 1, "steps": 100},
			mcp.WithProgress(func(mcp.Progress) { cancel() }))
		require.ErrorIs(t, err, context.Canceled)
		assert.Contains(t, c.text(mcpGo.call.name, mcpGo.call.args), mcpGo.call.text)
	})
}

func TestLoggingInBothEras(t *testing.T) {
	for _, s := range append([]server{goSDK}, ours...) {
		inBothEras(t, s, func(t *testing.T, connect func(mcp.Options) *session) {
			logged := make(chan *mcp.LogMessage, 1)
			c := connect(mcp.Options{On: mcp.Notifications{
				Log: func(_ context.Context, m *mcp.LogMessage) { send(logged, m) },
			}})
			require.NoError(t, c.SetLogLevel(c.ctx(), mcp.LogInfo))
			c.text("log", nil)
			assert.Contains(t, string(receive(t, logged).Data), "something happened")
		})
	}
}

// Pages, prompts, resources and completions of the servers in Go are the same in both eras.
func TestListsInBothEras(t *testing.T) {
	for _, test := range []struct {
		server           server
		prompt, argument string
		resource         string
	}{
		{goSDK, "greet", "name", "embedded:info"},
		{mcpGo, "complex_prompt", "style", "test://static/resource"},
	} {
		inBothEras(t, test.server, func(t *testing.T, connect func(mcp.Options) *session) {
			c := connect(mcp.Options{})
			prompts, err := c.ListPrompts(c.ctx())
			require.NoError(t, err)
			assert.Len(t, prompts, 2)
			got, err := c.GetPrompt(c.ctx(), test.prompt, map[string]string{test.argument: "casual", "temperature": "1"})
			require.NoError(t, err)
			assert.NotEmpty(t, got.Messages)

			resources, err := c.ListResources(c.ctx())
			require.NoError(t, err)
			assert.NotEmpty(t, resources)
			templates, err := c.ListResourceTemplates(c.ctx())
			require.NoError(t, err)
			assert.Len(t, templates, 1)
			read, err := c.ReadResource(c.ctx(), test.resource)
			require.NoError(t, err)
			assert.NotEmpty(t, read.Contents)

			completed, err := c.Complete(c.ctx(), &mcp.CompleteRequest{
				Ref: mcp.PromptRef(test.prompt), Argument: test.argument, Value: "casual",
			})
			require.NoError(t, err)
			require.NotEmpty(t, completed.Values)
			assert.Contains(t, completed.Values[0], "casual")
		})
	}
}

// 2 MiB come whole.
func TestLargeResult(t *testing.T) {
	const size = 2 << 20
	inEveryWay(t, func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(mcp.Options{})
		assert.True(t, strings.Repeat("x", size) == c.text("large", map[string]any{"size": size}))
	})
}

// What goes wrong has the same type in every way, and costs nothing but the call.
func TestErrors(t *testing.T) {
	inEveryWay(t, func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(mcp.Options{})
		result, err := c.CallTool(c.ctx(), "fail", nil)
		require.NoError(t, err)
		assert.True(t, result.IsError)
		assert.Equal(t, "it cannot be done", result.Text())

		var refusal *mcp.RPCError
		_, err = c.ReadResource(c.ctx(), "test://nothing")
		require.ErrorAs(t, err, &refusal)
		_, err = c.Request(c.ctx(), "no/such/method", nil)
		if status := (*streamablehttp.StatusError)(nil); errors.As(err, &status) { // of the Go SDK, in plain text
			assert.Equal(t, http.StatusBadRequest, status.StatusCode)
		} else {
			require.ErrorAs(t, err, &refusal)
			assert.EqualValues(t, mcp.CodeMethodNotFound, refusal.Code)
		}
		assert.Equal(t, typescript.call.text, c.text(typescript.call.name, typescript.call.args))
	})
}

// Close ends a call and a subscription that are under way.
func TestCloseInTheMiddle(t *testing.T) {
	inEveryWay(t, func(t *testing.T, connect func(mcp.Options) *session) {
		c := connect(mcp.Options{})
		sub, err := c.Listen(c.ctx(), mcp.Filter{Tools: true})
		require.NoError(t, err)
		started, ended := make(chan struct{}, 1), make(chan error, 1)
		go func() {
			_, err := c.CallTool(c.ctx(), "wait", nil, mcp.WithProgress(func(mcp.Progress) { send(started, struct{}{}) }))
			ended <- err
		}()
		receive(t, started)
		c.lax = true // the Go SDK has a session end after its calls, and lets those run on
		assert.Less(t, c.closed(), 3*time.Second)
		assert.ErrorIs(t, receive(t, ended), mcp.ErrClosed)
		for _, err := range sub.Events(t.Context()) {
			assert.ErrorIs(t, err, mcp.ErrClosed)
		}
	})
}
