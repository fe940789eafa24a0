package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/llmcontent"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

func TestCatalogHasEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		a.AddTool(&mcp.Tool{Name: "Beta"}, nil)
		a.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcptest.Call) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "hello"}, nil
		})
		a.AddResource(&mcp.Resource{URI: "file:///x", Name: "x"},
			func(context.Context, *mcptest.Call) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "file:///x", Text: "text"}}}, nil
			})
		a.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "file:///{x}", Name: "t"}, nil)
		w.add("b")
		h := w.host()
		apply(t, h, "b", "a")

		c := h.Catalog()
		assert.Equal(t, []string{"mcp__a__Beta", "mcp__a__echo", "mcp__b__echo"}, names(c))
		assert.Equal(t, "mcp__a__greet", c.Prompts[0].Name)
		assert.Equal(t, "file:///x", c.Resources[0].Resource.URI)
		assert.Equal(t, "file:///{x}", c.Templates[0].Template.URITemplate)
		s := status(t, h, "a")
		assert.Equal(t, []int{2, 1, 1, 1}, []int{s.Tools, s.Prompts, s.Resources, s.Templates})
		tool, ok := c.Lookup("mcp__b__echo")
		assert.True(t, ok)
		assert.Equal(t, host.Tool{Name: "mcp__b__echo", Server: "b", Tool: c.Tools[2].Tool}, tool)

		prompt, err := h.GetPrompt(t.Context(), "a", "greet", nil)
		require.NoError(t, err)
		assert.Equal(t, "hello", prompt.Description)
		resource, err := h.ReadResource(t.Context(), "a", "file:///x")
		require.NoError(t, err)
		assert.Equal(t, "text", resource.Contents[0].Text)
		err = h.Use(t.Context(), "b", func(ctx context.Context, c *mcp.Client) error { return c.Ping(ctx) })
		assert.NoError(t, err)
	})
}

func TestUnknownNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		h := w.host()
		apply(t, h, "a")
		ctx := t.Context()
		_, byModel := h.CallTool(ctx, "mcp__a__nothing", nil)
		_, byServer := h.CallServerTool(ctx, "a", "nothing", nil)
		_, noServer := h.CallServerTool(ctx, "b", "echo", nil)
		_, noPrompt := h.GetPrompt(ctx, "b", "x", nil)
		_, noName := h.CallTool(ctx, "", nil)
		for err, want := range map[error]host.NotFoundError{
			byModel:  {Tool: "mcp__a__nothing", Generation: 1},
			byServer: {Server: "a", Tool: "nothing", Generation: 1},
			noServer: {Server: "b", Generation: 1},
			noPrompt: {Server: "b", Generation: 1},
			noName:   {Generation: 1},
		} {
			var missing *host.NotFoundError
			if assert.ErrorAs(t, err, &missing) {
				assert.Equal(t, want, *missing)
			}
		}
		assert.Empty(t, a.Received("tools/call"))
		assert.EqualError(t, noName, "host: there is neither a tool nor a server without a name")
		assert.ErrorContains(t, h.Stop(ctx, "b"), `host: there is no server "b"`)
	})
}

func TestFunctionsAreMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		b := w.add("b")
		h := w.host()
		apply(t, h, "a", "b")
		listen(t)
		before, skipped := h.Catalog().Functions(llmcontent.OpenAIChat)
		assert.Empty(t, skipped)
		b.AddTool(&mcp.Tool{Name: "more", InputSchema: schema(`{"properties":{"n":{"type":"integer"}}}`)}, nil)
		require.NoError(t, b.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		time.Sleep(time.Second)
		after, _ := h.Catalog().Functions(llmcontent.OpenAIChat)
		require.Len(t, after, 3)
		assert.Same(t, before[0], after[0], "nothing about the server has changed")
		assert.Equal(t, "mcp__b__more", after[2].Name)
		named, _ := h.Catalog().Functions(llmcontent.OpenAIChat, llmcontent.WithNamer(&llmcontent.Namer{Identifiers: true}))
		assert.Equal(t, "b__more", named[2].Name, "options make others")
		old, err := json.Marshal(before[1])
		require.NoError(t, err)
		now, err := json.Marshal(after[1])
		require.NoError(t, err)
		assert.Equal(t, string(old), string(now))
	})
}

// listen waits until servers have been asked to tell of changes, and have been asked once more for their lists.
func listen(t testing.TB) {
	t.Helper()
	time.Sleep(3 * time.Second)
}

func TestChangeBeforeTheServerWasListenedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		h := w.host()
		apply(t, h, "a")
		a.AddTool(&mcp.Tool{Name: "early"}, nil) // and nobody is told
		listen(t)
		assert.Len(t, h.Catalog().Tools, 2)
		time.Sleep(time.Hour)
		assert.Len(t, a.Received("tools/list"), 2)
	})
}

func TestEachListCounts(t *testing.T) {
	for what, add := range map[mcp.EventKind]func(*mcptest.Server){
		mcp.ToolsChanged:   func(s *mcptest.Server) { s.AddTool(&mcp.Tool{Name: "echo", Title: "Echo"}, nil) },
		mcp.PromptsChanged: func(s *mcptest.Server) { s.AddPrompt(&mcp.Prompt{Name: "p", Title: "new"}, nil) },
		mcp.ResourcesChanged: func(s *mcptest.Server) {
			s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "x:{y}", Name: "new"}, nil)
		},
		mcp.ResourcesChanged + "?": func(s *mcptest.Server) { s.AddResource(&mcp.Resource{URI: "x:", Name: "new"}, nil) },
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			a := w.add("a")
			a.AddPrompt(&mcp.Prompt{Name: "p"}, nil)
			a.AddResource(&mcp.Resource{URI: "x:", Name: "old"}, nil)
			a.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "x:{y}", Name: "old"}, nil)
			h := w.host()
			apply(t, h, "a")
			listen(t)
			add(a)
			require.NoError(t, a.Notify(t.Context(), strings.TrimSuffix(string(what), "?"), nil))
			time.Sleep(time.Second)
			assert.EqualValues(t, 2, h.Catalog().Generation, what)
		})
	}
}

func TestBurstOfChangesIsOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		h := w.host()
		apply(t, h, "a")
		listen(t)
		fetched := len(a.Received("tools/list"))
		for i := range 200 {
			a.AddTool(&mcp.Tool{Name: fmt.Sprintf("t%03d", i)}, nil)
			require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		assert.Equal(t, fetched+1, len(a.Received("tools/list")))
		assert.Len(t, h.Catalog().Tools, 201)
		assert.EqualValues(t, 2, h.Catalog().Generation)
	})
}

func TestChangeDuringAFetchIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		h := w.host()
		apply(t, h, "a")
		listen(t)
		var list atomic.Value
		list.Store(mcptestTools("one"))
		a.Handle("tools/list", func(ctx context.Context, _ *mcptest.Call) (any, error) {
			answer := list.Load()
			time.Sleep(5 * time.Second)
			return answer, nil
		})
		require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		time.Sleep(3 * time.Second) // it is being fetched
		list.Store(mcptestTools("one", "two"))
		require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"mcp__a__one", "mcp__a__two"}, names(h.Catalog()))
	})
}

// mcptestTools is an answer to tools/list.
func mcptestTools(names ...string) json.RawMessage {
	list := []map[string]any{}
	for _, name := range names {
		list = append(list, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
	}
	text, _ := json.Marshal(map[string]any{"tools": list})
	return text
}

func TestOrderOfTheServerDoesNotMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		a.Handle("tools/list", func(context.Context, *mcptest.Call) (any, error) {
			if len(a.Received("tools/list"))%2 == 0 {
				return mcptestTools("x", "y", "z"), nil
			}
			return mcptestTools("z", "x", "y"), nil
		})
		h := w.host()
		apply(t, h, "a")
		before := h.Catalog()
		for range 3 {
			require.NoError(t, h.Restart(t.Context(), "a"))
		}
		assert.Same(t, before, h.Catalog())
	})
}

func TestAllowAndDeny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		for _, name := range []string{"read", "write", "erase"} {
			a.AddTool(&mcp.Tool{Name: name}, nil)
		}
		h := w.host(options(host.ServerOptions{Allow: []string{"echo", "erase", "read"}, Deny: []string{"erase"}}))
		apply(t, h, "a")
		assert.Equal(t, []string{"mcp__a__echo", "mcp__a__read"}, names(h.Catalog()))
		for _, tool := range []string{"write", "erase"} {
			_, err := h.CallServerTool(t.Context(), "a", tool, nil)
			var refused *host.RefusedError
			require.ErrorAs(t, err, &refused)
			assert.ErrorIs(t, err, host.ErrDenied)
		}
		assert.NoError(t, echo(t, h, "a"))
		assert.Len(t, a.Received("tools/call"), 1)
	})
}

func TestChangedPolicyRestartsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.add("a")
		var deny []string
		h := w.host(func(o *host.Options) {
			o.Server = func(config.Server) host.ServerOptions { return host.ServerOptions{Deny: deny} }
		})
		apply(t, h, "a")
		apply(t, h, "a")
		assert.Len(t, w.tried("a"), 1)
		deny = []string{"echo"}
		apply(t, h, "a")
		assert.Len(t, w.tried("a"), 2)
		assert.Empty(t, h.Catalog().Tools)
	})
}

func TestToolThatVanishedIsNotCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		a.AddTool(&mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcptest.Call) (*mcp.CallToolResult, error) {
			time.Sleep(10 * time.Second)
			return mcptest.Text("done"), nil
		})
		h := w.host(options(host.ServerOptions{MaxCalls: 1}))
		apply(t, h, "a")
		go h.CallServerTool(t.Context(), "a", "slow", nil)
		synctest.Wait()
		queued := make(chan error, 1)
		go func() { queued <- echo(t, h, "a") }()
		synctest.Wait()
		a.Remove("echo")
		require.NoError(t, a.Notify(t.Context(), string(mcp.ToolsChanged), nil))
		err := <-queued
		var missing *host.NotFoundError
		require.ErrorAs(t, err, &missing)
		assert.EqualValues(t, 2, missing.Generation)
		assert.Len(t, a.Received("tools/call"), 1)
	})
}

func TestServerThatForgetsSilentlyIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.add("a")
		h := w.host()
		apply(t, h, "a")
		a.Remove("echo")
		var refusal *mcp.RPCError
		require.ErrorAs(t, echo(t, h, "a"), &refusal)
		time.Sleep(time.Second)
		assert.Empty(t, h.Catalog().Tools)
	})
}
