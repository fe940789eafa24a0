package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

var toolList = listing[Tool]{
	method:  "tools/list",
	changes: ToolsChanged,
	offered: func(s *ServerCapabilities) bool { return s.Tools != nil },
	decode:  decodeToolsPage,
	sift:    (*Client).siftTools,
	begin:   func(c *Client) (end func()) { return c.tools.get().begin() },
}

// Tools walks the server's tools, and fetches each page when the loop gets there. After an error it ends. A server that
// offers no tools has none.
func (c *Client) Tools(ctx context.Context, opts ...CallOption) iter.Seq2[*Tool, error] {
	return toolList.walk(ctx, c, opts)
}

// ListTools returns all of the server's tools. A list that does not end within [Options].MaxPages and MaxListBytes, or
// whose cursors repeat, is a [*PageError], never a shorter list.
func (c *Client) ListTools(ctx context.Context, opts ...CallOption) ([]*Tool, error) {
	return toolList.collect(ctx, c, opts)
}

// ToolsPage returns one page of the server's tools: the first if cursor is nil.
func (c *Client) ToolsPage(ctx context.Context, cursor *string, opts ...CallOption) (*Page[Tool], error) {
	return toolList.page(ctx, c, cursor, opts)
}

// CallTool calls a tool and returns its result. A tool that failed is a result with IsError set, not an error, so that
// a model can see what went wrong.
//
// args must encode to a JSON object; nil stands for an empty one. JSON text as a [json.RawMessage] is sent as it is.
//
// If the server goes on with the call as a task ([Options].Tasks), CallTool waits for the end of that. A task that ends
// without a result is a [*TaskError].
func (c *Client) CallTool(ctx context.Context, name string, args any, opts ...CallOption) (*CallToolResult, error) {
	o := c.callOptions(opts)
	r := &request{method: "tools/call", target: name, renewable: true, unshared: true}
	r.mirror.Name = name
	if err := r.encodeToolCall(name, args); err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	tool := c.tools.get().find(name)
	if o.validate && tool == nil {
		var err error
		if tool, err = c.tools.get().lookup(ctx, c, name); err != nil {
			return nil, err
		}
	}
	result, err := c.callTool(ctx, r, tool, &o)
	if headersDoNotMatch(err) {
		// The server wants parameters repeated that the client did not know of, or that have changed since.
		c.outdated(Event{Kind: ToolsChanged})
		if tool, err = c.tools.get().lookup(ctx, c, name); err != nil {
			return nil, err
		}
		result, err = c.callTool(ctx, r, tool, &o)
	}
	if err != nil {
		return nil, err
	}
	if o.validate {
		if err := tool.output.check(ctx, c, result); err != nil {
			return nil, r.wrap(err)
		}
	}
	return result, nil
}

// callTool sends a call with the parameters that the tool wants repeated, as far as the tool is known.
func (c *Client) callTool(ctx context.Context, r *request, tool *knownTool, o *callOptions) (*CallToolResult, error) {
	if tool != nil {
		var err error
		if r.mirror.Params, err = mirror(tool.mirrored, valueAt(r.params, []string{"arguments"})); err != nil {
			return nil, r.wrap(transport.Unsent(err))
		}
	}
	return callAs[CallToolResult](ctx, c, r, o)
}

// headersDoNotMatch reports whether the call was refused, before it was executed. A task that fails so is another
// matter.
func headersDoNotMatch(err error) bool {
	rpc, refused := errors.AsType[*RPCError](err)
	_, ofTask := errors.AsType[*TaskError](err)
	return refused && rpc.Code == CodeHeaderMismatch && !ofTask
}

// usualCall is room for the params of most calls.
const usualCall = 192

func (r *request) encodeToolCall(name string, args any) (err error) {
	b := append(make([]byte, 0, usualCall), `{"name":`...)
	b = jsonscan.AppendString(b, name)
	b = append(b, `,"arguments":`...)
	start := len(b)
	if b, err = jsonscan.AppendValue(b, args); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	switch d := jsonscan.New(b[start:]); d.Kind() {
	case jsonscan.Object:
	case jsonscan.Null:
		b = append(b[:start], "{}"...)
	default:
		return fmt.Errorf("arguments are %v, not an object", d.Kind())
	}
	r.params = append(b, '}')
	return nil
}

// CallToolAs calls a tool and decodes its structured content into an Out, after checking it against the tool's output
// schema. What the tool reports as its failure is a [*ToolError]; content that does not fit is an [*OutputError].
//
// The schema comes from the last list of tools that the client fetched; if there is none, it fetches one. A tool
// without a schema, or with one that cannot be used, is not checked. Servers that know no structured content (before
// 2025-06-18) may send a single text block with JSON in it, which is then decoded instead.
func CallToolAs[Out any](ctx context.Context, c *Client, name string, args any, opts ...CallOption) (Out, error) {
	var out Out
	r := &request{method: "tools/call", target: name}
	result, err := c.CallTool(ctx, name, args, append(slices.Clip(opts), WithValidation())...)
	if err != nil {
		return out, err
	}
	if result.IsError {
		return out, r.wrap(&ToolError{Result: result})
	}
	content := structured(result)
	if content == nil {
		return out, r.wrap(&OutputError{Result: result, Err: errNoStructure})
	}
	if err := json.Unmarshal(content, &out); err != nil {
		err = fmt.Errorf("the structured content does not fit the Go type %v: %w", reflect.TypeFor[Out](), err)
		return out, r.wrap(&OutputError{Result: result, Err: err})
	}
	return out, nil
}

var errNoStructure = errors.New("the result has no structured content")

// structured is the structured content of a result, or the JSON that is its only text; nil if there is neither.
func structured(result *CallToolResult) json.RawMessage {
	if result.StructuredContent != nil {
		return result.StructuredContent
	}
	if len(result.Content) != 1 {
		return nil
	}
	text, ok := result.Content[0].(*TextContent)
	if !ok || !jsonscan.Valid([]byte(text.Text)) {
		return nil
	}
	return bytes.TrimSpace([]byte(text.Text))
}
