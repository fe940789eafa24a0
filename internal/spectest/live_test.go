package spectest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// Codecs of what only a client reads or writes: the instance goes through one that is connected to a server in memory.

// connect returns a client that speaks a revision with a server that offers everything.
func connect(t testing.TB, s *mcptest.Server, revision string, o mcp.Options) (*mcp.Client, error) {
	if s.Capabilities == nil {
		s.Capabilities = json.RawMessage(`{"tools":{},"resources":{"subscribe":true},"prompts":{},"logging":{},
			"completions":{}}`)
	}
	o.Versions = []string{revision}
	return mcp.Connect(t.Context(), s.Transport(), &o)
}

// received is the codec of the result of a method, which read makes the client ask for.
func received(method string, read func(context.Context, *mcp.Client) (any, error)) codec {
	return func(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
		s := new(mcptest.Server)
		s.Handle(method, func(context.Context, *mcptest.Call) (any, error) { return instance, nil })
		c, err := connect(t, s, revision, mcp.Options{})
		if err != nil {
			return nil, err
		}
		defer c.Close()
		result, err := read(t.Context(), c)
		if err != nil {
			return nil, err
		}
		return encode(result)
	}
}

// page is the codec of a page of a list.
func page[T any](
	method, items string,
	fetch func(*mcp.Client, context.Context, *string, ...mcp.CallOption) (*mcp.Page[T], error),
) codec {
	return received(method, func(ctx context.Context, c *mcp.Client) (any, error) {
		p, err := fetch(c, ctx, nil)
		if err != nil {
			return nil, err
		}
		o := object{items: p.Items}
		if p.NextCursor != nil {
			o["nextCursor"] = *p.NextCursor
		}
		return withMeta(withHints(o, p.Cache), p.Meta), nil
	})
}

func withMeta(o object, meta mcp.Meta) object {
	if meta != nil {
		o["_meta"] = meta
	}
	return o
}

func withHints(o object, hints mcp.CacheHints) object {
	if hints != (mcp.CacheHints{}) {
		o["ttlMs"], o["cacheScope"] = hints.TTLMs, hints.Scope
	}
	return o
}

// serverInfo is what a client says that it has learnt of a server.
func serverInfo(version, info string) func(context.Context, *mcp.Client) (any, error) {
	return func(_ context.Context, c *mcp.Client) (any, error) {
		s := c.Server()
		o := object{version: s.ProtocolVersion, "capabilities": s.Capabilities}
		if s.Instructions != "" {
			o["instructions"] = s.Instructions
		}
		if info != "" {
			o[info] = s.Info
		}
		return withMeta(withHints(o, s.Cache), s.Meta), nil
	}
}

// initializeResult is the codec of how a legacy server introduces itself.
var initializeResult = received("initialize", serverInfo("protocolVersion", "serverInfo"))

// discoverResult is the codec of how a modern server does.
func discoverResult(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
	versions := func(_ testing.TB, _ string, chosen json.RawMessage) (json.RawMessage, error) {
		return encode([]json.RawMessage{chosen})
	}
	read := received("server/discover", serverInfo("supportedVersions", ""))
	instance, err := read(t, revision, instance)
	if err != nil {
		return nil, err
	}
	return member("supportedVersions", versions)(t, revision, instance)
}

// inputRequired is the codec of a result that asks for input.
var inputRequired = received("tools/call", func(ctx context.Context, c *mcp.Client) (any, error) {
	_, err := c.CallTool(ctx, "t", nil, mcp.WithManualInput())
	var needed *mcp.InputRequiredError
	if !errors.As(err, &needed) {
		return nil, fmt.Errorf("no input required: %w", err)
	}
	o := object{"resultType": "input_required"}
	if needed.Requests != nil {
		o["inputRequests"] = needed.Requests
	}
	if needed.State != nil {
		o["requestState"] = needed.State
	}
	return withMeta(o, needed.Meta), nil
})

// listedRoots is the codec of the answer to roots/list. The roots are all that a caller has a say in.
var listedRoots = member("roots", roots)

func roots(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
	var roots []mcp.Root
	if err := json.Unmarshal(instance, &roots); err != nil {
		return nil, err
	}
	s := new(mcptest.Server)
	list := func(context.Context) ([]mcp.Root, error) { return roots, nil }
	c, err := connect(t, s, revision, mcp.Options{Roots: list})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	answer, err := s.Sessions()[0].Request(t.Context(), "roots/list", nil)
	if err != nil {
		return nil, err
	}
	var result struct{ Roots json.RawMessage }
	err = json.Unmarshal(answer, &result)
	return result.Roots, err
}

// params are those of all requests that a client sends.
type params struct {
	Name      string
	URI       string
	Level     mcp.LogLevel
	Cursor    *string
	Arguments json.RawMessage
	Filter    mcp.Filter `json:"notifications"`
	Meta      mcp.Meta   `json:"_meta"`

	InputResponses map[string]json.RawMessage
	RequestState   json.RawMessage
}

// sent is the codec of the params of a method, which write makes a client send. Of the members of _meta that are the
// client's own the instance has the last word: see ownMeta.
func sent(method string, write func(context.Context, *mcp.Client, *params, mcp.CallOption) error) codec {
	return func(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
		p := new(params)
		if err := json.Unmarshal(instance, p); err != nil {
			return nil, err
		}
		s := new(mcptest.Server)
		s.Handle(method, func(context.Context, *mcptest.Call) (any, error) {
			return nil, &mcp.RPCError{Code: mcp.CodeInvalidRequest, Message: "enough"}
		})
		c, err := connect(t, s, revision, mcp.Options{})
		if err != nil {
			return nil, err
		}
		defer c.Close()
		err = write(t.Context(), c, p, mcp.WithMeta(p.Meta))
		messages := s.Received(method)
		if len(messages) != 1 {
			return nil, fmt.Errorf("%d messages: %w", len(messages), err)
		}
		if messages[0].Params == nil {
			return json.RawMessage("{}"), nil // as good as params without members
		}
		return withoutOwnMeta(messages[0].Params, p.Meta)
	}
}

// ownMeta are members of _meta that the client makes itself: what it is and wants depends on its options.
var ownMeta = []string{
	"progressToken",
	"io.modelcontextprotocol/protocolVersion",
	"io.modelcontextprotocol/clientInfo",
	"io.modelcontextprotocol/clientCapabilities",
	"io.modelcontextprotocol/logLevel",
}

// withoutOwnMeta puts what the instance had in place of what the client made itself.
func withoutOwnMeta(sent json.RawMessage, instance mcp.Meta) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	var meta struct {
		Meta mcp.Meta `json:"_meta"`
	}
	if err := errors.Join(json.Unmarshal(sent, &members), json.Unmarshal(sent, &meta)); err != nil {
		return nil, err
	}
	for _, name := range ownMeta {
		if value, had := instance[name]; had {
			meta.Meta[name] = value
		} else {
			delete(meta.Meta, name)
		}
	}
	delete(members, "_meta")
	if len(meta.Meta) == 0 {
		return encode(members)
	}
	var err error
	if members["_meta"], err = encode(meta.Meta); err != nil {
		return nil, err
	}
	return encode(members)
}

// The requests.
var (
	toolCall = sent("tools/call", func(ctx context.Context, c *mcp.Client, p *params, meta mcp.CallOption) error {
		_, err := c.CallTool(ctx, p.Name, p.Arguments, meta, p.input())
		return err
	})
	promptCall = sent("prompts/get", func(ctx context.Context, c *mcp.Client, p *params, meta mcp.CallOption) error {
		var arguments map[string]string
		if err := json.Unmarshal(orNull(p.Arguments), &arguments); err != nil {
			return err
		}
		_, err := c.GetPrompt(ctx, p.Name, arguments, meta, p.input())
		return err
	})
	resourceRead = sent("resources/read",
		func(ctx context.Context, c *mcp.Client, p *params, meta mcp.CallOption) error {
			_, err := c.ReadResource(ctx, p.URI, meta, p.input())
			return err
		})
	subscribe = sent("resources/subscribe",
		func(ctx context.Context, c *mcp.Client, p *params, meta mcp.CallOption) error {
			return c.SubscribeResource(ctx, p.URI, meta)
		})
	unsubscribe = sent("resources/unsubscribe",
		func(ctx context.Context, c *mcp.Client, p *params, meta mcp.CallOption) error {
			return c.UnsubscribeResource(ctx, p.URI, meta)
		})
	setLevel = sent("logging/setLevel", func(ctx context.Context, c *mcp.Client, p *params, meta mcp.CallOption) error {
		return c.SetLogLevel(ctx, p.Level, meta)
	})
	listen = sent("subscriptions/listen", func(ctx context.Context, c *mcp.Client, p *params, _ mcp.CallOption) error {
		_, err := c.Listen(ctx, p.Filter)
		return err
	})
)

// paged is the codec of a request for a page of a list.
func paged[T any](
	method string, fetch func(*mcp.Client, context.Context, *string, ...mcp.CallOption) (*mcp.Page[T], error),
) codec {
	return sent(method, func(ctx context.Context, c *mcp.Client, p *params, meta mcp.CallOption) error {
		_, err := fetch(c, ctx, p.Cursor, meta)
		return err
	})
}

// completion is the codec of the params of completion/complete.
func completion(t testing.TB, revision string, instance json.RawMessage) (json.RawMessage, error) {
	return sent("completion/complete", func(ctx context.Context, c *mcp.Client, p *params, meta mcp.CallOption) error {
		var request mcp.CompleteRequest
		if err := json.Unmarshal(instance, &request); err != nil {
			return err
		}
		_, err := c.Complete(ctx, &request, meta)
		return err
	})(t, revision, instance)
}

func (p *params) input() mcp.CallOption {
	if p.InputResponses == nil && p.RequestState == nil {
		return nil
	}
	responses := make(map[string]any)
	for key, response := range p.InputResponses {
		responses[key] = response
	}
	return mcp.WithInput(responses, p.RequestState)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}
