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

	// Version is the revision that a request is served by; "" before anything was agreed on, and for notifications.
	Version string
	// State is what [NeedInput] has had the client send back; "" if there is none.
	State string

	modern    bool
	task      *task                      // that the call has become, nil if it has not
	inputs    map[string]json.RawMessage // what the client was asked for with NeedInput
	answers   map[string]json.RawMessage // what it was ever asked for with Elicit and its like
	questions int                        // how many of those there were
	cancel    context.CancelCauseFunc
	finished  chan struct{} // closed when nothing more is sent for the call
}

func newCall(session *Session, m *transport.Message) *Call {
	c := &Call{Session: session, Method: m.Method, ID: m.ID, Params: m.Params, finished: make(chan struct{})}
	var params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      mcp.Meta        `json:"_meta"`

		Inputs map[string]json.RawMessage `json:"inputResponses"`
		State  string                     `json:"requestState"`
	}
	_ = json.Unmarshal(c.params(), &params) // what has the wrong type is as if it were not there
	c.Name, c.URI, c.Arguments, c.Meta = params.Name, params.URI, params.Arguments, params.Meta
	c.inputs, c.State = params.Inputs, params.State
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

// Log sends a log message if the client wants it: since 2026-07-28 it says with each request of what level; for earlier
// revisions see [Session.Log].
func (c *Call) Log(ctx context.Context, m *mcp.LogMessage) error {
	if !c.modern {
		return c.Session.Log(ctx, m)
	}
	level, err := c.logLevel()
	if err != nil || level == "" || m.Level.Level() < level.Level() {
		return err
	}
	return c.Session.Notify(ctx, "notifications/message", m)
}

// Text is the result of a tool that says s.
func Text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(s)}}
}
