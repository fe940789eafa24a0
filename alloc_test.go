//go:build !race

package mcp_test

// The race detector makes sync.Pool forget at random, so these numbers hold without it only.

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// An exchange without interceptors costs what it did before there were any: 23 for a call, 11 for a notification.
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
	assert.LessOrEqual(t, call, 23.0)
	assert.LessOrEqual(t, notify, 11.0)

	one, oneNotify := count(func(context.Context, *mcp.Exchange) (context.Context, func(json.RawMessage, error), error) {
		return nil, nil, nil
	})
	assert.LessOrEqual(t, one-call, 6.0)
	assert.LessOrEqual(t, oneNotify-notify, 6.0)
}
