package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

func names(tools []*mcp.Tool) (names []string) {
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

func tool(name string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
}

func listTools(c *mcp.Client, ctx context.Context) func() ([]*mcp.Tool, error) {
	return async(func() ([]*mcp.Tool, error) { return c.ListTools(ctx) })
}

func TestListsOfSeveralPages(t *testing.T) {
	c, p := connected(t, nil)
	list := listTools(c, t.Context())
	m := p.expect("tools/list")
	assert.NotContains(t, m.line, "params", "an object, or nothing at all")
	p.answer(m, `{"tools":[`+tool("a")+`,`+tool("b")+`],"nextCursor":"<2>"}`)
	m = p.expect("tools/list")
	assert.Equal(t, `{"cursor":"<2>"}`, string(m.Params))
	p.answer(m, `{"tools":[],"nextCursor":"3"}`)
	p.answer(p.expect("tools/list"), `{"tools":[`+tool("c")+`],"nextCursor":""}`)
	tools, err := list()
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, names(tools))
}

func TestWalkingFetchesOnlyWhatIsNeeded(t *testing.T) {
	c, p := connected(t, nil)
	first := async(func() (string, error) {
		for tool, err := range c.Tools(t.Context()) {
			return tool.Name, err
		}
		return "", nil
	})
	p.answer(p.expect("tools/list"), `{"tools":[`+tool("a")+`],"nextCursor":"2"}`)
	name, err := first()
	require.NoError(t, err)
	assert.Equal(t, "a", name)

	page := async(func() (*mcp.Page[mcp.Tool], error) {
		cursor := "2"
		return c.ToolsPage(t.Context(), &cursor)
	})
	m := p.expect("tools/list")
	assert.JSONEq(t, `{"cursor":"2"}`, string(m.Params))
	p.answer(m, `{"tools":[`+tool("b")+`],"nextCursor":"3"}`)
	got, err := page()
	require.NoError(t, err)
	assert.Equal(t, "3", *got.NextCursor)
}

func TestListsThatDoNotEnd(t *testing.T) {
	t.Run("a cursor that never changes", func(t *testing.T) {
		c, p := connected(t, nil)
		list := listTools(c, t.Context())
		for range 2 {
			p.answer(p.expect("tools/list"), `{"tools":[`+tool("a")+`],"nextCursor":"same"}`)
		}
		tools, err := list()
		var page *mcp.PageError
		require.ErrorAs(t, err, &page)
		assert.Equal(t, mcp.PageError{Pages: 2, Repeated: true}, *page)
		assert.Nil(t, tools, "never a shorter list")
	})
	t.Run("cursors that go round", func(t *testing.T) {
		c, p := connected(t, nil)
		list := listTools(c, t.Context())
		for _, cursor := range []string{"1", "2", "3", "1"} {
			p.answer(p.expect("tools/list"), `{"tools":[],"nextCursor":"`+cursor+`"}`)
		}
		_, err := list()
		var page *mcp.PageError
		require.ErrorAs(t, err, &page)
		assert.True(t, page.Repeated)
	})
	t.Run("too many pages", func(t *testing.T) {
		c, p := connected(t, &mcp.Options{MaxPages: 3})
		list := listTools(c, t.Context())
		for i := range 3 {
			p.answer(p.expect("tools/list"), fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, i))
		}
		_, err := list()
		var page *mcp.PageError
		require.ErrorAs(t, err, &page)
		assert.Equal(t, mcp.PageError{Pages: 3}, *page)
	})
	t.Run("too many bytes", func(t *testing.T) {
		page := func(n int) string {
			return fmt.Sprintf(`{"tools":[{"name":"%d","description":"%s"}],"nextCursor":"%d"}`, n, strings.Repeat("x", 1000), n)
		}
		c, p := connected(t, &mcp.Options{MaxListBytes: 3 * len(page(0))})
		list := listTools(c, t.Context())
		for i := range 4 {
			p.answer(p.expect("tools/list"), page(i))
		}
		_, err := list()
		var tooLarge *mcp.PageError
		require.ErrorAs(t, err, &tooLarge)
		assert.Equal(t, mcp.PageError{Pages: 4, Bytes: 4 * len(page(0))}, *tooLarge)
		roundTrip(t, c, p)
	})
	t.Run("as many pages as allowed", func(t *testing.T) {
		c, p := connected(t, &mcp.Options{MaxPages: 3})
		list := listTools(c, t.Context())
		for i := range 2 {
			p.answer(p.expect("tools/list"), fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, i))
		}
		p.answer(p.expect("tools/list"), `{"tools":[`+tool("a")+`]}`)
		tools, err := list()
		require.NoError(t, err)
		assert.Len(t, tools, 1)
	})
}

func TestSloppyLists(t *testing.T) {
	var log diagnostics
	c, p := connected(t, &mcp.Options{Logger: log.logger()})
	for result, want := range map[string][]string{
		`{"tools":null}`:   nil,
		`{}`:               nil,
		`{"tools":[null]}`: nil,
		`{"tools":[null,` + tool("a") + `,5,{"description":"no name"},` + tool("b") + `],"nextCursor":null}`: {"a", "b"},
	} {
		list := listTools(c, t.Context())
		p.answer(p.expect("tools/list"), result)
		tools, err := list()
		require.NoError(t, err, result)
		assert.Equal(t, want, names(tools), result)
		assert.NotNil(t, tools)
	}
	log.wait(t, "null entry")

	list := listTools(c, t.Context())
	p.answer(p.expect("tools/list"), `{"tools":"none"}`)
	_, err := list()
	assert.ErrorContains(t, err, "mcp: tools/list: unusable result: tools")
}

func TestWhatIsNotOfferedIsEmptyWithoutARequest(t *testing.T) {
	tr, p := pair(t)
	connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(nil)) })
	p.handshake(`{}`)
	c, err := connect()
	require.NoError(t, err)
	defer c.Close()
	prompts, err := c.ListPrompts(t.Context())
	require.NoError(t, err)
	assert.Empty(t, prompts)
	tools, err := c.ListTools(t.Context())
	require.NoError(t, err)
	assert.Empty(t, tools)
	resources, err := c.ListResources(t.Context())
	require.NoError(t, err)
	assert.Empty(t, resources)
	templates, err := c.ListResourceTemplates(t.Context())
	require.NoError(t, err)
	assert.Empty(t, templates)

	_, get := c.GetPrompt(t.Context(), "p", nil)
	_, read := c.ReadResource(t.Context(), "a:b")
	_, complete := c.Complete(t.Context(), &mcp.CompleteRequest{Ref: mcp.PromptRef("p"), Argument: "a"})
	for capability, err := range map[string]error{
		"prompts": get, "resources": read, "completions": complete,
		"resources.subscribe": c.SubscribeResource(t.Context(), "a:b"),
		"logging":             c.SetLogLevel(t.Context(), mcp.LogInfo),
	} {
		var missing *mcp.CapabilityError
		require.ErrorAs(t, err, &missing)
		assert.Equal(t, capability, missing.Capability)
	}
	ping := async(func() (any, error) { return nil, c.Ping(t.Context()) })
	p.answer(p.expect("ping"), `{}`) // the first thing that the server hears
	_, err = ping()
	require.NoError(t, err)
}

func TestAListThatIsOfferedAndNotThereIsEmpty(t *testing.T) {
	c, p := connected(t, nil)
	list := async(func() ([]*mcp.ResourceTemplate, error) { return c.ListResourceTemplates(t.Context()) })
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, p.expect("resources/templates/list").ID)
	templates, err := list()
	require.NoError(t, err)
	assert.Empty(t, templates)
}

func TestTheOtherMethods(t *testing.T) {
	c, p := connected(t, nil)
	ctx := t.Context()
	for _, m := range []struct {
		name   string
		call   func() (any, error)
		method string
		params string // with %s for the progress token
		result string
		check  func(t *testing.T, got any)
	}{
		{"read", func() (any, error) { return c.ReadResource(ctx, "file:///a b") }, "resources/read", `{"_meta":{"progressToken":%s},"uri":"file:///a b"}`,
			`{"contents":[{"uri":"file:///a b","text":""},{"uri":"x","blob":"AAAA"}]}`,
			func(t *testing.T, got any) { assert.Len(t, got.(*mcp.ReadResourceResult).Contents, 2) }},
		{"get", func() (any, error) { return c.GetPrompt(ctx, "p", map[string]string{"a": "<b>"}) }, "prompts/get",
			`{"_meta":{"progressToken":%s},"name":"p","arguments":{"a":"<b>"}}`, `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`,
			func(t *testing.T, got any) { assert.Len(t, got.(*mcp.GetPromptResult).Messages, 1) }},
		{"get without arguments", func() (any, error) { return c.GetPrompt(ctx, "p", nil) }, "prompts/get", `{"_meta":{"progressToken":%s},"name":"p"}`, `{"messages":null}`, nil},
		{"complete a prompt", func() (any, error) {
			return c.Complete(ctx, &mcp.CompleteRequest{Ref: mcp.PromptRef("p"), Argument: "lang", Value: "py", Context: map[string]string{"x": "y"}})
		}, "completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"lang","value":"py"},"context":{"arguments":{"x":"y"}}}`,
			`{"completion":{"values":["python"],"total":10,"hasMore":true}}`,
			func(t *testing.T, got any) { assert.Equal(t, []string{"python"}, got.(*mcp.CompleteResult).Values) }},
		{"complete a template", func() (any, error) {
			return c.Complete(ctx, &mcp.CompleteRequest{Ref: mcp.ResourceRef("file:///{path}"), Argument: "path"})
		}, "completion/complete", `{"ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":""}}`, `{}`, nil},
		{"subscribe", func() (any, error) { return nil, c.SubscribeResource(ctx, "u") }, "resources/subscribe", `{"uri":"u"}`, `{}`, nil},
		{"unsubscribe", func() (any, error) { return nil, c.UnsubscribeResource(ctx, "u") }, "resources/unsubscribe", `{"uri":"u"}`, `{}`, nil},
		{"log level", func() (any, error) { return nil, c.SetLogLevel(ctx, mcp.LogWarning) }, "logging/setLevel", `{"level":"warning"}`, `{}`, nil},
		{"resources", func() (any, error) { return c.ListResources(ctx) }, "resources/list", ``, `{"resources":[{"uri":"u","name":"n","size":12}]}`,
			func(t *testing.T, got any) { assert.EqualValues(t, 12, *got.([]*mcp.Resource)[0].Size) }},
		{"templates", func() (any, error) { return c.ListResourceTemplates(ctx) }, "resources/templates/list", ``, `{"resourceTemplates":[{"uriTemplate":"u{x}","name":"n"}]}`,
			func(t *testing.T, got any) { assert.Equal(t, "u{x}", got.([]*mcp.ResourceTemplate)[0].URITemplate) }},
		{"prompts", func() (any, error) { return c.ListPrompts(ctx) }, "prompts/list", ``, `{"prompts":[{"name":"p","arguments":[{"name":"a","required":true}]}]}`,
			func(t *testing.T, got any) { assert.True(t, got.([]*mcp.Prompt)[0].Arguments[0].Required) }},
	} {
		t.Run(m.name, func(t *testing.T) {
			result := async(m.call)
			sent := p.expect(m.method)
			want := m.params
			if want == "" {
				assert.Nil(t, sent.Params)
			} else if assert.NotNil(t, sent.Params) {
				assert.JSONEq(t, strings.ReplaceAll(want, "%s", string(sent.ID)), string(sent.Params))
			}
			p.answer(sent, m.result)
			got, err := result()
			require.NoError(t, err)
			if m.check != nil {
				m.check(t, got)
			}
		})
	}
}
