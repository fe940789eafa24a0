package host_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/host"
)

// A model is not to be offered what cannot be called any more, however long the end of a process takes.
func TestWithdrawnAtOnce(t *testing.T) {
	for what, end := range map[string]func(context.Context, *host.Host) error{
		"removed": func(ctx context.Context, h *host.Host) error { return h.Apply(ctx, servers("b")) },
		"disabled": func(ctx context.Context, h *host.Host) error {
			list := servers("a", "b")
			list[0].Disabled = true
			return h.Apply(ctx, list)
		},
		"changed": func(ctx context.Context, h *host.Host) error {
			list := servers("a", "b")
			list[0].Args = []string{"other"}
			return h.Apply(ctx, list)
		},
		"stopped": func(ctx context.Context, h *host.Host) error {
			assert.ErrorIs(t, h.Stop(ctx, "a"), context.DeadlineExceeded)
			return nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.add("a")
				w.add("b")
				var open, most atomic.Int32
				h := w.host(slowly(&open, &most))
				apply(t, h, "a", "b")
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				require.NoError(t, end(ctx, h))
				assert.EqualValues(t, 2, open.Load(), "it is still there")
				assert.Equal(t, host.Stopping, state(t, h, "a"))
				assert.Equal(t, []string{"mcp__b__echo"}, names(h.Catalog()))
				assert.Zero(t, status(t, h, "a").Tools)
			})
		})
	}
}
