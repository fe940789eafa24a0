package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

func TestListsThatAreNotTaken(t *testing.T) {
	pages := func(_ context.Context, c *mcptest.Call) (any, error) {
		var params struct{ Cursor string }
		_ = json.Unmarshal(c.Params, &params)
		return json.RawMessage(fmt.Sprintf(`{"tools":[],"nextCursor":"%s1"}`, params.Cursor)), nil
	}
	long := strings.Repeat("t", 61)
	for what, test := range map[string]struct {
		list mcptest.Handler
		want string
	}{
		"twice": {answer(mcptestTools("x", "y", "x")), `the tool "x" is there twice`},
		"same hash": {
			answer(mcptestTools(long+"5530213", long+"25252637")),
			`have the same name "mcp__a__ttttttttttttttttttttttttttttttttttttttttttt_20620811c703"`,
		},
		"reserved": {
			answer(mcptestTools("x", "special")),
			`the tool "special" has the reserved name "mcp__a__special"`,
		},
		"too many": {answer(mcptestTools("1", "2", "3", "4")), "there are more than 3 tools"},
		"pages":    {pages, "the list has more than 5 pages"},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a := w.add("a")
				h := w.host(options(host.ServerOptions{MaxItems: 3, MaxPages: 5, FailOnStartupError: true}),
					func(o *host.Options) { o.Reserved = []string{"mcp__a__special"} })
				apply(t, h, "a")
				listen(t)
				before := h.Catalog()
				a.Handle("tools/list", test.list)
				require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
				time.Sleep(time.Second)
				assert.ErrorContains(t, status(t, h, "a").ListErr, test.want)
				assert.Same(t, before, h.Catalog(), "what was there stays")
				assert.NoError(t, echo(t, h, "a"))

				require.NoError(t, h.Stop(t.Context(), "a"))
				err := h.Apply(t.Context(), servers("a"))
				var e *host.StateError
				require.ErrorAs(t, err, &e)
				assert.Equal(t, host.Ready, e.State)
				assert.ErrorContains(t, err, test.want)
				assert.Empty(t, h.Catalog().Tools)
			})
		})
	}
}

func answer(list json.RawMessage) mcptest.Handler {
	return func(context.Context, *mcptest.Call) (any, error) { return list, nil }
}

func TestWrongListIsNotAskedForAgain(t *testing.T) {
	for what, list := range map[string]mcptest.Handler{
		"twice": answer(mcptestTools("x", "x")),
		"pages": answer(schema(`{"tools":[],"nextCursor":"again"}`)),
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a := w.add("a")
				a.Handle("tools/list", list)
				h := w.host()
				apply(t, h, "a")
				listen(t)
				asked := len(a.Received("tools/list"))
				time.Sleep(time.Hour)
				assert.Equal(t, asked, len(a.Received("tools/list")))
				assert.Error(t, status(t, h, "a").ListErr)
				a.Handle("tools/list", answer(mcptestTools("x")))
				require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
				time.Sleep(time.Second)
				assert.NoError(t, status(t, h, "a").ListErr)
				assert.Len(t, h.Catalog().Tools, 1)
			})
		})
	}
}

func TestListThatIsRefusedCostsNoTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		var working atomic.Bool
		a.Handle("prompts/list", func(context.Context, *mcptest.Call) (any, error) {
			if !working.Load() {
				return nil, errors.New("no database")
			}
			return json.RawMessage(`{"prompts":[{"name":"p"}]}`), nil
		})
		a.AddPrompt(&mcp.Prompt{Name: "p"}, nil)
		h := w.host()
		apply(t, h, "a")
		assert.Equal(t, host.Ready, state(t, h, "a"))
		assert.ErrorContains(t, status(t, h, "a").ListErr, "no database")
		assert.Len(t, h.Catalog().Tools, 1)
		time.Sleep(time.Hour)
		assert.Len(t, a.Received("prompts/list"), 10, "but not for ever")

		require.NoError(t, a.Notify(t.Context(), string(mcp.PromptsChanged), nil))
		time.Sleep(time.Second)
		working.Store(true)
		time.Sleep(time.Minute)
		assert.NoError(t, status(t, h, "a").ListErr)
		assert.Len(t, h.Catalog().Prompts, 1)

		working.Store(false)
		a.AddTool(&mcp.Tool{Name: "more"}, nil)
		require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		time.Sleep(time.Second)
		assert.Len(t, h.Catalog().Tools, 2)
		assert.Len(t, h.Catalog().Prompts, 1, "what was there before")
		assert.ErrorContains(t, status(t, h, "a").ListErr, "no database")
	})
}

// Servers with thousands of resources are not rare, and their tools are wanted all the same.
func TestListThatIsTooLongCostsNoTools(t *testing.T) {
	for want, list := range map[string]mcptest.Handler{
		"there are more than 3 resources": answer(schema(`{"resources":[
			{"uri":"x:1","name":"1"},{"uri":"x:2","name":"2"},{"uri":"x:3","name":"3"},{"uri":"x:4","name":"4"}
		]}`)),
		"a cursor came back": answer(schema(`{"resources":[],"nextCursor":"again"}`)),
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a := w.add("a")
				a.AddResource(&mcp.Resource{URI: "x:1", Name: "1"}, nil)
				a.Handle("resources/list", list)
				h := w.host(options(host.ServerOptions{MaxItems: 3}))
				apply(t, h, "a")
				listen(t)
				assert.Equal(t, []string{"mcp__a__echo"}, names(h.Catalog()))
				assert.Empty(t, h.Catalog().Resources, "rather none than some")
				assert.ErrorContains(t, status(t, h, "a").ListErr, want)
				asked := len(a.Received("resources/list"))
				time.Sleep(time.Hour)
				assert.Equal(t, asked, len(a.Received("resources/list")))
			})
		})
	}
}

func TestToolsThatAreRefusedAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		h := w.host()
		apply(t, h, "a")
		listen(t)
		before := h.Catalog()
		var working atomic.Bool
		a.Handle("tools/list", func(context.Context, *mcptest.Call) (any, error) {
			if !working.Load() {
				return nil, errors.New("no database")
			}
			return mcptestTools("x"), nil
		})
		require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		time.Sleep(10 * time.Second)
		assert.Same(t, before, h.Catalog())
		assert.ErrorContains(t, status(t, h, "a").ListErr, "no database")
		working.Store(true)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"mcp__a__x"}, names(h.Catalog()))
		assert.NoError(t, status(t, h, "a").ListErr)
	})
}

func TestListThatHangsHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		a.Handle("tools/list", func(context.Context, *mcptest.Call) (any, error) { return nil, mcptest.ErrNoAnswer })
		h := w.host()
		begun := time.Now()
		apply(t, h, "a")
		assert.Equal(t, 30*time.Second, time.Since(begun))
		assert.ErrorIs(t, status(t, h, "a").ListErr, context.DeadlineExceeded)
		assert.ErrorContains(t, status(t, h, "a").ListErr, "longer than 30s")
	})
}
