package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// mirroring is a transport that repeats parameters outside the message.
type mirroring struct{ *exchanges }

func (m mirroring) Connect(context.Context) (transport.Conn, error) { return m, nil }

func (m mirroring) Traits() transport.Traits {
	return transport.Traits{Name: "mirroring", RequestStreams: true, MirrorsParams: true}
}

// listOf is a tools/list result with one tool of the input schema.
func listOf(schema string) string {
	return `{"tools":[{"name":"t","inputSchema":` + schema + `}]}`
}

const annotated = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"on":{"type":"boolean","x-mcp-header":"On"},
	"deep":{"type":"object","properties":{"in":{"type":"string","x-mcp-header":"Deep"}}},
	"x-mcp-header":{"type":"object","default":{"x-mcp-header":5}},"query":{"type":"string"}}}`

func TestMarkedParametersAreRepeated(t *testing.T) {
	var got transport.Mirror
	c, err := mcp.Connect(t.Context(), mirroring{exchanging(func(_ context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "server/discover":
			return reply(out, discovered)
		case "tools/list":
			return reply(out, listOf(annotated))
		}
		got = out.Mirror
		return reply(out, `{"content":[],"messages":[],"contents":[]}`)
	})}, nil)
	require.NoError(t, err)
	defer c.Close()
	tools, err := c.ListTools(t.Context())
	require.NoError(t, err)
	require.Len(t, tools, 1)
	for args, want := range map[string]map[string]string{
		`{"region":"us west","n":42.0,"on":false,"deep":{"in":"日本"},"query":"q"}`: {"Region": "us west", "N": "42", "On": "false", "Deep": "日本"},
		`{"region":null,"n":1e3,"deep":{},"on":null}`:                             {"N": "1000"},
		`{"region":5,"deep":"x"}`:                                                 {},
		`{}`:                                                                      {},
	} {
		_, err := c.CallTool(t.Context(), "t", json.RawMessage(args))
		require.NoError(t, err)
		assert.Equal(t, "t", got.Name)
		params := map[string]string{}
		for _, p := range got.Params {
			params[p.Name] = p.Value
		}
		assert.Equal(t, want, params, args)
	}
	_, err = c.CallTool(t.Context(), "t", json.RawMessage(`{"n":9007199254740993}`))
	require.ErrorContains(t, err, "JavaScript")
	assert.True(t, transport.SafeToRetry(err))

	_, err = c.GetPrompt(t.Context(), "p", nil)
	require.NoError(t, err)
	assert.Equal(t, transport.Mirror{Name: "p"}, got)
	_, err = c.ReadResource(t.Context(), "file:///a b")
	require.NoError(t, err)
	assert.Equal(t, transport.Mirror{Name: "file:///a b"}, got)
}

func TestRawRequestsAreRepeatedAsWell(t *testing.T) {
	var got transport.Mirror
	c, err := mcp.Connect(t.Context(), mirroring{exchanging(func(_ context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "server/discover":
			return reply(out, discovered)
		case "tools/list":
			return reply(out, listOf(annotated))
		}
		got = out.Mirror
		return reply(out, `{}`)
	})}, nil)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ListTools(t.Context())
	require.NoError(t, err)
	for _, test := range []struct {
		method, params string
		want           transport.Mirror
	}{
		{"tools/call", `{"name":"t","arguments":{"region":"eu","query":"q"},"_meta":{"x/y":1}}`,
			transport.Mirror{Name: "t", Params: []transport.MirrorParam{{Name: "Region", Value: "eu"}}}},
		{"tools/call", `{"name":"unknown","arguments":{"region":"eu"}}`, transport.Mirror{Name: "unknown"}},
		{"prompts/get", `{"name":"p"}`, transport.Mirror{Name: "p"}},
		{"resources/read", `{"uri":"file:///a b"}`, transport.Mirror{Name: "file:///a b"}},
		{"tasks/get", `{"taskId":"1"}`, transport.Mirror{Name: "1"}},
		{"tools/call", `{"name":5}`, transport.Mirror{}},
		{"x/own", `{"name":"n"}`, transport.Mirror{}},
	} {
		_, err := c.Request(t.Context(), test.method, json.RawMessage(test.params))
		require.NoError(t, err)
		assert.Equal(t, test.want, got, test.method)
	}
	_, err = c.Request(t.Context(), "tools/call", json.RawMessage(`{"name":"t","arguments":{"n":9007199254740993}}`))
	require.ErrorContains(t, err, "JavaScript")
	assert.True(t, transport.SafeToRetry(err))
}

func TestToolsWithMalformedMarksAreLeftOut(t *testing.T) {
	for name, schema := range map[string]string{
		"empty":           `{"properties":{"a":{"type":"string","x-mcp-header":""}}}`,
		"not a token":     `{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}`,
		"line break":      `{"properties":{"a":{"type":"string","x-mcp-header":"a\r\nb"}}}`,
		"with escapes":    `{"properties":{"a":{"type":"string","\u0078-mcp-header":"a b"}}}`,
		"not ASCII":       `{"properties":{"a":{"type":"string","x-mcp-header":"é"}}}`,
		"not a string":    `{"properties":{"a":{"type":"string","x-mcp-header":5}}}`,
		"used twice":      `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`,
		"a number":        `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`,
		"an object":       `{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`,
		"no type":         `{"properties":{"a":{"x-mcp-header":"A"}}}`,
		"the root":        `{"type":"string","x-mcp-header":"A"}`,
		"in items":        `{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`,
		"in oneOf":        `{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`,
		"in definitions":  `{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}`,
		"in a condition":  `{"if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`,
		"too deep":        strings.Repeat(`{"properties":{"a":`, 33) + `{"type":"string","x-mcp-header":"A"}` + strings.Repeat(`}}`, 33),
		"in a dependency": `{"properties":{"a":{"dependentSchemas":{"b":{"properties":{"c":{"type":"string","x-mcp-header":"A"}}}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var log diagnostics
			serve := func(_ context.Context, out transport.Outgoing) error {
				if out.Message.Method == "server/discover" {
					return reply(out, discovered)
				}
				return reply(out, listOf(schema))
			}
			c, err := mcp.Connect(t.Context(), mirroring{exchanging(serve)}, &mcp.Options{Logger: log.logger()})
			require.NoError(t, err)
			defer c.Close()
			tools, err := c.ListTools(t.Context())
			require.NoError(t, err)
			assert.Empty(t, tools)
			log.wait(t, "tool=t")

			plain, err := mcp.Connect(t.Context(), exchanging(serve), nil)
			require.NoError(t, err)
			defer plain.Close()
			tools, err = plain.ListTools(t.Context())
			require.NoError(t, err)
			assert.Len(t, tools, 1, "where nothing is repeated the marks mean nothing")
		})
	}
}

func TestAServerThatMissesRepeatedParametersIsListedAgain(t *testing.T) {
	var lists, calls int
	c, err := mcp.Connect(t.Context(), mirroring{exchanging(func(_ context.Context, out transport.Outgoing) error {
		switch out.Message.Method {
		case "server/discover":
			return reply(out, discovered)
		case "tools/list":
			lists++
			return reply(out, listOf(annotated))
		}
		calls++
		if len(out.Mirror.Params) == 0 {
			out.Deliver(&transport.Message{ID: out.Message.ID, Error: &mcp.RPCError{Code: mcp.CodeHeaderMismatch, Message: "missing"}})
			return nil
		}
		return reply(out, hello)
	})}, nil)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.CallTool(t.Context(), "t", map[string]any{"region": "eu"})
	require.NoError(t, err)
	assert.Equal(t, 1, lists)
	assert.Equal(t, 2, calls)
	_, err = c.CallTool(t.Context(), "t", nil) // nothing to repeat, and the server still misses it
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc)
	assert.Equal(t, 4, calls, "once is enough")
}
