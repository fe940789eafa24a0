package streamablehttp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

const discovered = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` +
	`{"tools":{},"resources":{},"prompts":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1"}}}`

// modern returns a client of a modern server, which answers what the test says.
func modern(t *testing.T) (*fake, *mcp.Client) {
	t.Helper()
	f := newFake(t)
	f.on("POST server/discover", func(a *arrival) {
		a.set("Mcp-Session-Id", "not for this revision")
		a.json(discovered)
	})
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		for _, key := range []string{"GET", "DELETE", "POST notifications/initialized", "POST notifications/cancelled"} {
			assert.Zero(t, f.count(key), key)
		}
	})
	return f, client
}

func TestModernRequestsSayInHeadersWhatTheyAreAbout(t *testing.T) {
	f, client := modern(t)
	f.on("POST tools/list", func(a *arrival) {
		a.json(`{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}}]}`)
	})
	f.on("POST tools/call", func(a *arrival) { a.json(`{"content":[]}`) })
	f.on("POST resources/read", func(a *arrival) { a.json(`{"contents":[]}`) })
	f.on("POST prompts/get", func(a *arrival) { a.json(`{"messages":[]}`) })
	_, err := client.ListTools(t.Context())
	require.NoError(t, err)
	list := f.await("POST tools/list", 1)
	assert.Equal(t, "2026-07-28", list.got("Mcp-Protocol-Version"))
	assert.Equal(t, "tools/list", list.got("Mcp-Method"))
	assert.NotContains(t, list.r.Header, "Mcp-Name")
	assert.NotContains(t, list.r.Header, "Mcp-Session-Id")

	for i, c := range []struct{ value, header string }{ // the table of the specification, and more
		{"us-west1", "us-west1"},
		{"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{" padded ", "=?base64?IHBhZGRlZCA=?="},
		{"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
		{"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{"=?base64?literal", "=?base64?literal"},
		{"two words", "two words"},
		{"\x7f", "=?base64?fw==?="},
	} {
		_, err := client.CallTool(t.Context(), "t", map[string]any{"text": c.value})
		require.NoError(t, err)
		assert.Equal(t, c.header, f.await("POST tools/call", i+1).got("Mcp-Param-Text"), c.value)
	}
	call := f.await("POST tools/call", 1)
	assert.Equal(t, "tools/call", call.got("Mcp-Method"))
	assert.Equal(t, "t", call.got("Mcp-Name"))
	assert.Equal(t, "application/json, text/event-stream", call.got("Accept"))

	_, err = client.ReadResource(t.Context(), "file:///a b")
	require.NoError(t, err)
	assert.Equal(t, "file:///a b", f.await("POST resources/read", 1).got("Mcp-Name"))
	_, err = client.GetPrompt(t.Context(), "größe", nil)
	require.NoError(t, err)
	assert.Equal(t, "=?base64?Z3LDtsOfZQ==?=", f.await("POST prompts/get", 1).got("Mcp-Name"))
}

func TestWhatAModernServerRefusesIsTheAnswer(t *testing.T) {
	f, client := modern(t)
	f.on("POST x", func(a *arrival) {
		a.text(404, "application/json", `{"jsonrpc":"2.0","id":`+a.msg.ID.String()+`,"error":{"code":-32601,"message":"no"}}`)
	})
	_, err := client.Request(t.Context(), "x", nil)
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc)
	assert.EqualValues(t, mcp.CodeMethodNotFound, rpc.Code)

	// The version is refused once, and named: the request is sent again.
	f.on("POST y", func(a *arrival) {
		if a.nth == 1 {
			a.text(400, "application/json", `{"jsonrpc":"2.0","id":`+a.msg.ID.String()+
				`,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}`)
			return
		}
		a.json(`{"resultType":"complete"}`)
	})
	_, err = client.Request(t.Context(), "y", nil)
	require.NoError(t, err)
}

func TestAModernCallIsNotAnsweredElsewhere(t *testing.T) {
	f, client := modern(t)
	f.on("POST x", func(a *arrival) { a.status(202) })
	_, err := client.Request(t.Context(), "x", nil)
	assert.ErrorIs(t, err, mcp.ErrNoResponse)
	assert.ErrorContains(t, err, "POST answered 202 Accepted and nothing else")
}

func TestABrokenModernStreamIsNotResumed(t *testing.T) {
	f, client := modern(t)
	f.on("POST tools/call", func(a *arrival) {
		a.stream()
		a.event("id: 1", "retry: 1", `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+
			a.msg.ID.String()+`,"progress":1}}`)
	})
	_, err := client.CallTool(t.Context(), "t", nil)
	require.ErrorIs(t, err, mcp.ErrNoResponse)
	assert.False(t, transport.SafeToRetry(err))
	assert.Equal(t, 1, f.count("POST tools/call"))
}

func TestAModernCallIsCancelledByClosingItsStream(t *testing.T) {
	f, client := modern(t)
	closed := make(chan struct{})
	f.on("POST tools/call", func(a *arrival) {
		a.stream()
		a.linger()
		close(closed)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		f.await("POST tools/call", 1)
		cancel()
	}()
	_, err := client.CallTool(ctx, "t", nil)
	require.ErrorIs(t, err, context.Canceled)
	within(t, closed)
}

func TestModernSubscriptions(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`
	for name, begin := range map[string]func(a *arrival) (send func(string)){
		"event stream": func(a *arrival) func(string) {
			a.stream()
			return func(text string) { a.event("data: " + text) }
		},
		"JSON texts": func(a *arrival) func(string) {
			a.set("Content-Type", "application/json")
			return func(text string) { a.write(text); a.flush() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, client := modern(t)
			ended := make(chan struct{})
			f.on("POST subscriptions/listen", func(a *arrival) {
				id := strings.ReplaceAll(meta, "%s", a.msg.ID.String())
				send := begin(a)
				send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + id + `,"notifications":{"toolsListChanged":true}}}`)
				send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + id + `}}`)
				send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`) // on its stream, without the tag
				if a.nth == 1 {
					a.write(" ")
					a.linger()
					close(ended)
					return
				}
				send(a.answer(`{"resultType":"complete"}`))
			})
			s, err := client.Listen(t.Context(), mcp.Filter{Tools: true})
			require.NoError(t, err)
			for e, err := range s.Events(t.Context()) {
				require.NoError(t, err)
				assert.Equal(t, mcp.ToolsChanged, e.Kind)
				break
			}
			require.NoError(t, s.Close())
			within(t, ended)

			for range 20 { // one that ends as soon as it has begun has begun all the same
				s, err = client.Listen(t.Context(), mcp.Filter{Tools: true})
				require.NoError(t, err)
				for _, err := range s.Events(t.Context()) {
					require.NoError(t, err, "the server ended it in order")
				}
				require.NoError(t, s.Close())
			}
		})
	}
}

func TestHeadersOfOneCall(t *testing.T) {
	f, client := modern(t)
	f.on("POST x", func(a *arrival) { a.json(`{}`) })
	_, err := client.Request(t.Context(), "x", nil, mcp.WithHeader("X-Mine", "1"), mcp.WithHeader("Mcp-Method", "forged"), mcp.WithHeader("Mcp-Param-A", "forged"))
	require.NoError(t, err)
	a := f.await("POST x", 1)
	assert.Equal(t, "1", a.got("X-Mine"))
	assert.Equal(t, []string{"x"}, a.r.Header.Values("Mcp-Method"))
	assert.Empty(t, a.got("Mcp-Param-A"))
}

func TestEveryLegacyAnswerToTheProbeOverHTTP(t *testing.T) {
	for name, respond := range map[string]func(a *arrival){
		"404":            func(a *arrival) { a.text(404, "text/plain", "not found") },
		"405":            func(a *arrival) { a.status(405) },
		"400 with words": func(a *arrival) { a.text(400, "text/plain", "Bad Request: no valid session ID provided") },
		"400 with -32000": func(a *arrival) {
			a.text(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`)
		},
		"500": func(a *arrival) {
			a.text(500, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oops"}}`)
		},
		"200 with -32601": func(a *arrival) {
			a.text(200, "application/json", `{"jsonrpc":"2.0","id":`+a.msg.ID.String()+`,"error":{"code":-32601,"message":"no"}}`)
		},
		"200 no message":  func(a *arrival) { a.json(`{}`) },
		"200 page":        func(a *arrival) { a.text(200, "text/html", "<html>") },
		"200 empty":       func(a *arrival) { a.status(200) },
		"202":             func(a *arrival) { a.status(202) },
		"204":             func(a *arrival) { a.status(204) },
		"legacy versions": func(a *arrival) { a.json(`{"supportedVersions":["2025-11-25"],"capabilities":{}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("POST server/discover", respond)
			f.on("POST initialize", func(a *arrival) {
				assert.Empty(t, a.got("Mcp-Protocol-Version"))
				assert.Empty(t, a.got("Mcp-Method"))
				a.set("Mcp-Session-Id", sessionID)
				a.json(`{"protocolVersion":"` + version + `","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`)
			})
			client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, nil)
			require.NoError(t, err)
			assert.False(t, client.Server().Modern())
			require.NoError(t, client.Close())
		})
	}
}
