package mcptest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

const (
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
	modernParams = `{` + modernMeta + `}`
	serverMeta   = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcptest","version":"1"}}`
)

// withModernMeta are params that have these members and the metadata of a modern request.
func withModernMeta(members string) string {
	if members == "" {
		return modernParams
	}
	return `{` + members + `,` + modernMeta + `}`
}

// modern sends a request of a modern revision, as call does.
func (w *wire) modern(method, members string) string {
	w.t.Helper()
	return w.call(method, withModernMeta(members))
}

func TestDiscover(t *testing.T) {
	s := &mcptest.Server{Instructions: "Do.", TTL: time.Minute, Info: mcp.Implementation{Name: "n", Version: "v"}}
	s.AddTool(&mcp.Tool{Name: "t"}, doNothing)
	w := dial(t, s)
	assert.JSONEq(t, `{"resultType":"complete","ttlMs":60000,"cacheScope":"private","instructions":"Do.",
		"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],
		"capabilities":{"tools":{"listChanged":true}},
		"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"v"}}}`, w.modern("server/discover", ""))
	session := s.Sessions()[0]
	assert.Equal(t, mcp.Version20260728, session.Version())
	assert.Equal(t, "c", session.Client().Name)
	assert.JSONEq(t, `{"roots":{}}`, string(session.ClientCapabilities()))
}

func TestARequestHasToSayWhatItIs(t *testing.T) {
	const (
		version      = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		capabilities = `"io.modelcontextprotocol/clientCapabilities":{}`
		level        = `"io.modelcontextprotocol/logLevel":`
		ok           = `{"resultType":"complete",` + serverMeta + `}`
	)
	for params, want := range map[string]string{
		`{"_meta":{` + version + `,` + capabilities + `}}`:                             ok,
		`{"_meta":{` + version + `,` + capabilities + `,` + level + `"alert"}}`:        ok,
		`{"_meta":{` + version + `,` + capabilities + `,` + level + `"loud"}}`:         `logLevel (-32602)`,
		`{"_meta":{` + version + `,` + capabilities + `,` + level + `5}}`:              `logLevel (-32602)`,
		`{"_meta":{` + version + `}}`:                                                  `clientCapabilities (-32602)`,
		`{"_meta":{` + version + `,"io.modelcontextprotocol/clientCapabilities":[]}}`:  `clientCapabilities (-32602)`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":5,` + capabilities + `}}`: `protocolVersion (-32602)`,
		`{"_meta":{` + capabilities + `}}`:                                             `protocolVersion (-32602)`,
		`{"_meta":5}`:                                                                  `protocolVersion (-32602)`,
		`[]`:                                                                           `protocolVersion (-32602)`,
		``:                                                                             `protocolVersion (-32602)`,
	} {
		for name, versions := range map[string][]string{"modern": {mcp.Version20260728}, "both": nil} {
			s := &mcptest.Server{Versions: versions}
			s.Handle("own", func(context.Context, *mcptest.Call) (any, error) { return nil, nil })
			w := dial(t, s)
			if name == "both" {
				w.modern("own", "") // that opens the session
			}
			got := w.call("own", params)
			if strings.HasPrefix(want, "{") {
				assert.JSONEq(t, want, got, name)
				continue
			}
			assert.Equal(t, "missing or malformed in _meta: io.modelcontextprotocol/"+want, got, name+params)
		}
	}
}

func TestModernMethodsAreModernWhateverTheySay(t *testing.T) {
	for _, method := range []string{"server/discover", "subscriptions/listen"} {
		assert.Equal(t, "missing or malformed in _meta: io.modelcontextprotocol/protocolVersion (-32602)",
			dial(t, new(mcptest.Server)).call(method, ""))
	}
}

func TestOtherRevisionsAreRefused(t *testing.T) {
	for _, requested := range []string{"2099-01-01", "2025-11-25", "2024-11-05", "x"} {
		w := dial(t, &mcptest.Server{Versions: []string{"2026-07-28", "2025-11-25"}})
		got := w.call("server/discover", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+requested+`"}}`)
		assert.Equal(t, `unsupported protocol version "`+requested+`", not 2026-07-28, 2025-11-25 (-32022)`+
			` {"requested":"`+requested+`","supported":["2026-07-28","2025-11-25"]}`, got)
	}
}

func TestAModernServerRefusesInitializeAndSaysWhy(t *testing.T) {
	s := &mcptest.Server{Versions: []string{mcp.Version20260728}}
	assert.Equal(t, `unsupported protocol version "2025-11-25", not 2026-07-28 (-32022)`+
		` {"requested":"2025-11-25","supported":["2026-07-28"]}`,
		dial(t, s).call("initialize", `{"protocolVersion":"2025-11-25"}`))
	assert.Contains(t, dial(t, s).call("tools/list", ""), "(-32602)")
}

func TestLegacyMethodsAreUnknownToModernRevisions(t *testing.T) {
	s := &mcptest.Server{Logging: true}
	s.AddResource(&mcp.Resource{URI: "a:b"}, nil)
	w := dial(t, s)
	for _, method := range []string{"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
		assert.Equal(t, "unknown method: "+method+" (-32601)", w.modern(method, `"uri":"a:b","level":"info"`))
	}
}

func TestBothErasOnOneConnection(t *testing.T) {
	s := new(mcptest.Server)
	s.Handle("version", func(_ context.Context, call *mcptest.Call) (any, error) {
		return map[string]string{"v": call.Version}, nil
	})
	w := dial(t, s)
	assert.JSONEq(t, `{"v":"2026-07-28","resultType":"complete",`+serverMeta+`}`, w.modern("version", ""))
	w.call("initialize", `{"protocolVersion":"2025-06-18"}`)
	assert.JSONEq(t, `{"v":"2025-06-18"}`, w.call("version", `{}`))
	assert.JSONEq(t, `{"v":"2026-07-28","resultType":"complete",`+serverMeta+`}`, w.modern("version", ""))
}

func TestResultsAreStamped(t *testing.T) {
	s := new(mcptest.Server)
	s.AddTool(&mcp.Tool{Name: "t"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			StructuredContent: json.RawMessage(`{"n":9007199254740993}`),
			Meta:              mcp.Meta{"mine": json.RawMessage(`1`)},
		}, nil
	})
	s.AddResource(&mcp.Resource{URI: "a:b", Name: "r"},
		func(context.Context, *mcptest.Call) (*mcp.ReadResourceResult, error) { return nil, nil })
	s.AddPrompt(&mcp.Prompt{Name: "p"},
		func(context.Context, *mcptest.Call) (*mcp.GetPromptResult, error) { return nil, nil })
	own := map[string]any{
		"raw":     json.RawMessage(`{"a":1}`),
		"decided": map[string]any{"resultType": "odd", "_meta": map[string]any{"io.modelcontextprotocol/serverInfo": 5}},
		"list":    []int{1},
	}
	for method, result := range own {
		s.Handle(method, func(context.Context, *mcptest.Call) (any, error) { return result, nil })
	}
	w := dial(t, s)
	const listed = `"resultType":"complete","ttlMs":0,"cacheScope":"private",` + serverMeta + `}`
	for _, test := range []struct{ method, members, want string }{
		{"tools/call", `"name":"t"`, `{"resultType":"complete","content":[],"structuredContent":{"n":9007199254740993},
			"_meta":{"mine":1,"io.modelcontextprotocol/serverInfo":{"name":"mcptest","version":"1"}}}`},
		{"tools/list", ``, `{"tools":[{"name":"t","inputSchema":{"type":"object"}}],` + listed},
		{"resources/list", ``, `{"resources":[{"uri":"a:b","name":"r"}],` + listed},
		{"resources/templates/list", ``, `{"resourceTemplates":[],` + listed},
		{"resources/read", `"uri":"a:b"`, `{"contents":[],` + listed},
		{"prompts/list", ``, `{"prompts":[{"name":"p"}],` + listed},
		{"prompts/get", `"name":"p"`, `{"messages":[],"resultType":"complete",` + serverMeta + `}`},
		{"raw", ``, `{"a":1}`},
		{"decided", ``, `{"resultType":"odd","_meta":{"io.modelcontextprotocol/serverInfo":5}}`},
		{"list", ``, `[1]`},
	} {
		got := w.modern(test.method, test.members)
		assert.JSONEq(t, test.want, got, test.method)
		assert.NotContains(t, got, "9007199254740992")
	}
}

func TestWhatBelongsToARequestFailsOnASession(t *testing.T) {
	s := &mcptest.Server{Logging: true}
	client := mcptest.Connect(t, s, &mcp.Options{
		Roots: func(context.Context) ([]mcp.Root, error) { return nil, nil },
	})
	require.True(t, client.Server().Modern())
	session := s.Sessions()[0]
	require.ErrorContains(t, session.Log(t.Context(), &mcp.LogMessage{Level: mcp.LogAlert}), "see Call")
	require.ErrorContains(t, session.Ping(t.Context()), "see Call")
	_, err := session.Roots(t.Context())
	require.ErrorContains(t, err, "see Call")
	_, err = session.Elicit(t.Context(), &mcp.ElicitRequest{})
	require.ErrorContains(t, err, "see Call")
	_, err = session.CreateMessage(t.Context(), &mcp.CreateMessageRequest{})
	require.ErrorContains(t, err, "see Call")
	_, err = session.Request(t.Context(), "roots/list", nil)
	require.NoError(t, err, "a test may do so all the same")
}

func TestClientsOfEachEra(t *testing.T) {
	for name, test := range map[string]struct {
		speaks, accepts []string
		want            string
	}{
		"both":                         {nil, nil, mcp.Version20260728},
		"legacy server":                {[]string{mcp.Version20250618}, nil, mcp.Version20250618},
		"modern server":                {[]string{mcp.Version20260728}, nil, mcp.Version20260728},
		"legacy client":                {nil, []string{mcp.Version20250326}, mcp.Version20250326},
		"modern client":                {nil, []string{mcp.Version20260728}, mcp.Version20260728},
		"modern client, legacy server": {[]string{mcp.Version20251125}, []string{mcp.Version20260728}, ""},
		"legacy client, modern server": {[]string{mcp.Version20260728}, []string{mcp.Version20251125}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := greeter()
			s.Versions = test.speaks
			client, err := mcp.Connect(t.Context(), s.Transport(), &mcp.Options{Versions: test.accepts})
			if test.want == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			defer client.Close()
			assert.Equal(t, test.want, client.Server().ProtocolVersion)
			assert.Equal(t, "mcptest", client.Server().Info.Name)
			res, err := client.CallTool(t.Context(), "greet", nil)
			require.NoError(t, err)
			assert.Equal(t, "hello", res.Text())
			assert.Equal(t, test.want, s.Sessions()[0].Version())
		})
	}
}

// A test may have a server that answers anything to the probe, and a client that gets over it.
func TestHandleOfDiscover(t *testing.T) {
	s := greeter()
	s.Handle("server/discover", nil)
	client := mcptest.Connect(t, s, nil)
	assert.Equal(t, mcp.Version20251125, client.Server().ProtocolVersion)
	assert.Equal(t, transport.IntID(1), s.Received("server/discover")[0].ID)
	assert.Len(t, s.Received("initialize"), 1)
}
