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
	"github.com/seed62b61957/mcp/testing/mcptest"
)

func TestServerThatCriesWolfIsAskedRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		h := w.host()
		apply(t, h, "a")
		listen(t)
		fetched := len(a.Received("tools/list"))
		begun := time.Now()
		for time.Since(begun) < 10*time.Minute {
			require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
			time.Sleep(100 * time.Millisecond)
		}
		assert.Less(t, len(a.Received("tools/list"))-fetched, 60)
		assert.EqualValues(t, 1, h.Catalog().Generation)

		a.AddTool(&mcp.Tool{Name: "real"}, nil)
		require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		time.Sleep(time.Minute)
		assert.Len(t, h.Catalog().Tools, 2)
	})
}

func TestServerThatCriesWolfWithWrongLists(t *testing.T) {
	for what, list := range map[string]mcptest.Handler{
		"wrong":   answer(mcptestTools("x", "x")),
		"refused": func(context.Context, *mcptest.Call) (any, error) { return nil, errors.New("no database") },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a := w.add("a")
				h := w.host()
				apply(t, h, "a")
				listen(t)
				a.Handle("tools/list", list)
				fetched := len(a.Received("tools/list"))
				for begun := time.Now(); time.Since(begun) < 10*time.Minute; time.Sleep(100 * time.Millisecond) {
					require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
				}
				assert.Less(t, len(a.Received("tools/list"))-fetched, 60)
				assert.Error(t, status(t, h, "a").ListErr)
			})
		})
	}
}
