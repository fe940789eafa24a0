package mcptest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// A Call is a request of a client that a handler is to answer, or a notification that one is told of.
type Call struct {
	Session *Session
	Method  string
	ID      transport.ID    // not valid for notifications
	Params  json.RawMessage // nil if there were none

	// What is often in Params, empty if it is not there.
	Name      string          // of the tool or prompt
	URI       string          // of the resource
	Arguments json.RawMessage // of the tool or prompt
	Meta      mcp.Meta

	cancel context.CancelCauseFunc
}

func newCall(session *Session, m *transport.Message) *Call {
	c := &Call{Session: session, Method: m.Method, ID: m.ID, Params: m.Params}
	var params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      mcp.Meta        `json:"_meta"`
	}
	if json.Unmarshal(c.params(), &params) == nil {
		c.Name, c.URI, c.Arguments, c.Meta = params.Name, params.URI, params.Arguments, params.Meta
	}
	return c
}

func (c *Call) params() json.RawMessage {
	if len(c.Params) == 0 {
		return json.RawMessage("{}")
	}
	return c.Params
}

// Bind decodes Arguments into v as [json.Unmarshal] does. Without arguments v stays as it is.
func (c *Call) Bind(v any) error {
	if c.Arguments == nil {
		return nil
	}
	if err := json.Unmarshal(c.Arguments, v); err != nil {
		return fmt.Errorf("mcptest: arguments: %w", err)
	}
	return nil
}

// Progress tells the client how far the call has come, if it asked for it. A total of 0 or less is left out, as is an
// empty message.
func (c *Call) Progress(ctx context.Context, progress, total float64, message string) error {
	token := c.Meta["progressToken"]
	if token == nil {
		return nil
	}
	params := struct {
		Token json.RawMessage `json:"progressToken"`
		mcp.Progress
	}{token, mcp.Progress{Progress: progress, Message: message}}
	if total > 0 {
		params.Total = &total
	}
	return c.Session.Notify(ctx, "notifications/progress", params)
}

// Text is the result of a tool that says s.
func Text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(s)}}
}
