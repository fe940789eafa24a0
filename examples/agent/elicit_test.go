package main

import (
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

const form = `{"type": "object", "required": ["name"], "properties": {
	"name": {"type": "string", "title": "Your name", "minLength": 2},
	"age": {"type": "number", "minimum": 1, "default": 30, "description": "in years"},
	"member": {"type": "boolean"},
	"colour": {"type": "string", "enum": ["red", "green"], "enumNames": ["Red", "Green"]},
	"days": {"type": "array", "items": {"type": "string", "enum": ["mon", "tue"]}}
}}`

// The answers go to a server: what it gets is what counts.
func TestElicit(t *testing.T) {
	tests := map[string]struct{ mode, schema, typed, want, shown string }{
		"all": {"form", form, "y\nAnna\n1.50\nyes\n2\ntue, 1\n",
			`{"action":"accept","content":{"age":1.50,"colour":"green","days":["tue","mon"],"member":true,"name":"Anna"}}`,
			"age (in years) [30]: "},
		"as little as possible": {"form", form, "y\nAnna\n\n\n\n\n",
			`{"action":"accept","content":{"age":30,"name":"Anna"}}`, "  1  Red\n  2  Green: "},
		"wrong at first": {"form", form, "y\n\nA\nAnna\nold\n0\n7\nperhaps\nn\nblue\nred\nsun\nmon\n",
			`{"action":"accept","content":{"age":7,"colour":"red","days":["mon"],"member":false,"name":"Anna"}}`,
			"Your name: is required\nYour name: "},
		"nothing to fill in": {"form", `{"type": "object", "properties": {}}`, "yes\n",
			`{"action":"accept","content":{}}`, ""},
		"no":                  {"form", form, "no\n", `{"action":"decline"}`, "notes asks: Who are you?"},
		"no user":             {"form", form, "", `{"action":"cancel"}`, ""},
		"a user who has left": {"form", form, "y\nAnna\n", `{"action":"cancel"}`, ""},
		"URL": {"url", "", "y\n", `{"action":"accept"}`,
			"notes asks you to visit https://example.com/a?b=c\nWho are you?\nWill you? [y/N] "},
		"URL, and no":      {"url", "", "\n", `{"action":"decline"}`, ""},
		"URL, and no user": {"url", "", "", `{"action":"cancel"}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			term, screen := typed(test.typed)
			options := hostOptions(options{}, term).Client(config.Server{Name: "notes"})
			request := &mcp.ElicitRequest{Mode: mcp.ElicitMode(test.mode), Message: "Who are you?"}
			if test.mode == "form" {
				request.RequestedSchema = json.RawMessage(test.schema)
			} else {
				request.URL, request.ElicitationID = "https://example.com/a?b=c", "1"
			}
			assert.JSONEq(t, test.want, elicited(t, &options, request))
			assert.Contains(t, screen.String(), test.shown)
			_, more := <-term.lines
			assert.False(t, more, "all that was typed was asked for")
		})
	}
}

// elicited has a server ask, and returns what it is answered.
func elicited(t *testing.T, o *mcp.Options, r *mcp.ElicitRequest) string {
	t.Helper()
	server := &mcptest.Server{Versions: []string{"2025-11-25"}}
	var got []byte
	server.AddTool(&mcp.Tool{Name: "ask"}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		answer, err := call.Session.Request(ctx, "elicitation/create", r)
		got = answer
		return &mcp.CallToolResult{}, err
	})
	result, err := mcptest.Connect(t, server, o).CallTool(t.Context(), "ask", nil)
	require.NoError(t, err)
	require.False(t, result.IsError, "%s", result.Text())
	return string(got)
}

func TestElicitationThatIsCancelled(t *testing.T) {
	in, keyboard := io.Pipe()
	t.Cleanup(func() { assert.NoError(t, keyboard.Close()) })
	term := newTerminal(in, io.Discard)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errInterrupted)
	_, err := term.elicit(ctx, "notes", &mcp.ElicitRequest{})
	assert.Equal(t, errInterrupted, err)
	_, err = term.elicitURL(ctx, "notes", &mcp.ElicitRequest{})
	assert.Equal(t, errInterrupted, err)
}
