package host_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/host"
)

func TestApplyStartsServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		w.add("b")
		h := w.host()
		assert.Empty(t, h.Catalog().Tools)
		apply(t, h, "b", "a")

		assert.Equal(t, []string{"mcp__a__echo", "mcp__b__echo"}, names(h.Catalog()))
		s := status(t, h, "a")
		assert.Equal(t, host.Ready, s.State)
		assert.Equal(t, 1, s.Tools)
		assert.Equal(t, "mcptest", s.Info.Info.Name)
		result, err := h.CallTool(t.Context(), "mcp__b__echo", text("hello"))
		require.NoError(t, err)
		assert.Equal(t, "hello", result.Text())
	})
}

func TestApplyReconciles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"kept", "changed", "removed", "new"} {
			w.add(name)
		}
		h := w.host()
		apply(t, h, "kept", "changed", "removed")
		list := servers("kept", "changed", "new")
		list[1].Args = []string{"more"}
		require.NoError(t, h.Apply(t.Context(), list))
		synctest.Wait()

		assert.Equal(t, []string{"mcp__changed__echo", "mcp__kept__echo", "mcp__new__echo"}, names(h.Catalog()))
		assert.Len(t, w.tried("kept"), 1)
		assert.Len(t, w.tried("changed"), 2)
		assert.Equal(t, 1, w.open("changed"))
		assert.Zero(t, w.open("removed"))
		assert.Len(t, h.Status(), 3)
	})
}
