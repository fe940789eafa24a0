//go:build !race

package mcp_test

// The race detector makes sync.Pool forget at random, so these numbers hold without it only.

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// Interceptors cost nothing where there are none.
func TestAllocationsOfExchanges(t *testing.T) {
	serve := func(_ context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "initialize":
			return reply(out, initialized)
		case "tools/call":
			return reply(out, hello)
		}
		return nil
	}
	count := func(interceptors ...mcp.Interceptor) (call, notify float64) {
		c, err := mcp.Connect(t.Context(), exchanging(serve), legacy(&mcp.Options{Interceptors: interceptors}))
		require.NoError(t, err)
		defer c.Close()
		ctx := context.Background()
		call = testing.AllocsPerRun(1000, func() {
			if _, err := c.CallTool(ctx, "a", nil); err != nil {
				t.Fatal(err)
			}
		})
		notify = testing.AllocsPerRun(1000, func() {
			if err := c.Notify(ctx, "notifications/x", nil); err != nil {
				t.Fatal(err)
			}
		})
		return call, notify
	}
	call, notify := count()
	assert.LessOrEqual(t, call, 15.0)
	assert.LessOrEqual(t, notify, 11.0)

	one, oneNotify := count(func(context.Context, *mcp.Exchange) (context.Context, func(json.RawMessage, error), error) {
		return nil, nil, nil
	})
	assert.LessOrEqual(t, one-call, 6.0)
	assert.LessOrEqual(t, oneNotify-notify, 6.0)
}

func TestALargeResultIsInMemoryOnce(t *testing.T) {
	text := strings.Repeat("a line of \"text\"\n", 100_000)
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	results := make(chan json.RawMessage, 10) // each has memory of its own, as what a transport reads
	c, err := mcp.Connect(t.Context(), exchanging(func(_ context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "initialize":
			return reply(out, initialized)
		case "tools/call":
			out.Deliver(&transport.Message{ID: out.Message.ID, Result: <-results})
		}
		return nil
	}), legacy(nil))
	require.NoError(t, err)
	defer c.Close()
	for range cap(results) {
		results <- json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}]}`)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range cap(results) {
		result, err := c.CallTool(t.Context(), "a", nil)
		require.NoError(t, err)
		require.Equal(t, len(text), len(result.Content[0].(*mcp.TextContent).Text))
		require.True(t, text == result.Text())
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(len(quoted)), "bytes for ten results")
}
