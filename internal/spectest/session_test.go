package spectest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A session is a client that does whatever a client can do, and its server.
type session struct {
	t        *testing.T
	ctx      context.Context
	server   *mcptest.Server
	recorder *recorder
	client   *mcp.Client
}

// newSession connects a client that accepts versions to a server that speaks one revision and offers all there is.
func newSession(t *testing.T, revision string, versions []string) *session {
	x := &session{t: t, ctx: t.Context(), server: newServer(revision)}
	x.recorder = newRecorder(x.server.Transport())
	var err error
	x.client, err = mcp.Connect(t.Context(), x.recorder, everyOption(revision, versions))
	require.NoError(t, err)
	t.Cleanup(func() { x.client.Close() })
	require.Equal(t, revision, x.client.Server().ProtocolVersion)
	return x
}

// everyOption are options that advertise all that there is.
func everyOption(revision string, versions []string) *mcp.Options {
	roots := []mcp.Root{{URI: "file:///a%20b", Name: "a b"}, {URI: "file:///c"}}
	return &mcp.Options{
		Versions: versions,
		Info: mcp.Implementation{
			Name: "client", Title: "Client <&>", Version: "1.2.3", Description: "tests",
			WebsiteURL: "https://example.com",
			Icons: []mcp.Icon{{
				Source: "https://example.com/i.png", MIMEType: "image/png", Sizes: []string{"48x48"}, Theme: "dark",
			}},
		},
		Elicit: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return answers[r.Message], nil
		},
		ElicitURL: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"no": "content"}}, nil
		},
		CreateMessage:      createMessage,
		CreateMessageTools: revision >= mcp.Version20251125,
		Roots: func(context.Context) ([]mcp.Root, error) {
			some := roots
			roots = nil // from the second time on
			return some, nil
		},
		Requests: map[string]mcp.RequestHandler{
			"example.com/fails": func(context.Context, json.RawMessage) (any, error) {
				return nil, errors.New("secret")
			},
			"example.com/refuses": func(context.Context, json.RawMessage) (any, error) {
				return nil, &mcp.RPCError{Code: 7, Message: "no", Data: json.RawMessage(`{"why":[1]}`)}
			},
		},
		Experimental: map[string]json.RawMessage{"example.com/e": json.RawMessage(`{"a":{"b":1}}`)},
		Extensions:   map[string]json.RawMessage{"example.com/x": json.RawMessage(`{"mimeTypes":["text/html"]}`)},
		On: mcp.Notifications{
			ToolsChanged:     func(context.Context) {},
			PromptsChanged:   func(context.Context) {},
			ResourcesChanged: func(context.Context) {},
			ResourceUpdated:  func(context.Context, string) {},
			Log:              func(context.Context, *mcp.LogMessage) {},
		},
		KeepAlive: time.Minute,
	}
}

// answers are what the user does about a form, by its message.
var answers = map[string]*mcp.ElicitResult{
	"fill in": {Action: mcp.ElicitAccept, Content: map[string]any{"name": "n"}},
	"refuse":  {Action: mcp.ElicitDecline, Content: map[string]any{"name": "n"}},
	"leave":   {Action: mcp.ElicitCancel},
	"nothing": {Action: mcp.ElicitAccept},
	"invalid": {Action: mcp.ElicitAccept, Content: map[string]any{"name": 5}},
}

const form = `{"type":"object","required":["name"],"properties":{"name":{"type":"string","default":"x"},
	"many":{"type":"integer","default":9007199254740993},"sure":{"type":"boolean","default":false}}}`

// createMessage calls the tool that it is offered, if any, and leaves out what it can.
func createMessage(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if len(r.Tools) == 0 {
		hello := []mcp.Content{mcp.Text("hello")}
		return &mcp.CreateMessageResult{Content: hello, Model: "m", StopReason: "endTurn"}, nil
	}
	return &mcp.CreateMessageResult{Content: []mcp.Content{
		mcp.Text("let me see"), &mcp.ToolUseContent{ID: "1", Name: r.Tools[0].Name},
	}}, nil
}

func newServer(revision string) *mcptest.Server {
	s := &mcptest.Server{Versions: []string{revision}, PageSize: 1, Logging: true}
	s.Complete = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{}, nil
	}
	for _, name := range []string{"a", "b"} {
		s.AddTool(&mcp.Tool{Name: name}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
			return mcptest.Text("done"), call.Progress(ctx, 1, 2, "half")
		})
		s.AddPrompt(&mcp.Prompt{Name: name}, func(context.Context, *mcptest.Call) (*mcp.GetPromptResult, error) {
			return nil, nil
		})
		read := func(context.Context, *mcptest.Call) (*mcp.ReadResourceResult, error) { return nil, nil }
		s.AddResource(&mcp.Resource{URI: "file:///" + name, Name: name}, read)
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "file:///" + name + "/{x}", Name: name}, read)
	}
	s.AddTool(&mcp.Tool{Name: "never"}, func(ctx context.Context, _ *mcptest.Call) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, mcptest.ErrNoAnswer
	})
	s.AddTool(&mcp.Tool{Name: "ask"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		return nil, askAll(call)
	})
	s.AddTool(&mcp.Tool{Name: "again"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		if call.State == "" {
			return nil, mcptest.NeedInput(nil, "state \"<&>\"")
		}
		return mcptest.Text("done"), nil
	})
	return s
}

// askAll asks the client for everything that its revision knows.
func askAll(call *mcptest.Call) error {
	for range 2 {
		if _, err := call.Roots(); err != nil {
			return err
		}
	}
	plain := &mcp.CreateMessageRequest{MaxTokens: 10, Messages: []mcp.SamplingMessage{
		{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("hi")}},
	}}
	if _, err := call.CreateMessage(plain); err != nil {
		return err
	}
	if call.Version < mcp.Version20250618 {
		return nil
	}
	for _, message := range []string{"fill in", "refuse", "leave", "nothing"} {
		r := &mcp.ElicitRequest{Message: message, RequestedSchema: json.RawMessage(form)}
		if _, err := call.Elicit(r); err != nil {
			return err
		}
	}
	if call.Version < mcp.Version20251125 {
		return nil
	}
	tools := *plain
	tools.Tools = []*mcp.Tool{{Name: "t"}}
	if _, err := call.CreateMessage(&tools); err != nil {
		return err
	}
	visit := &mcp.ElicitRequest{Mode: mcp.ElicitURL, Message: "go", URL: "https://example.com", ElicitationID: "1"}
	_, err := call.Elicit(visit)
	return err
}

// everything has the client send whatever it can.
func (x *session) everything() {
	x.lists()
	x.calls()
	x.changes()
	x.givenUp()
	x.input()
	if !x.client.Server().Modern() {
		x.asked()
	}
	time.Sleep(2 * time.Minute) // the bubble's: keep-alive
	synctest.Wait()
}

func (x *session) lists() {
	_, err := x.client.ListTools(x.ctx)
	require.NoError(x.t, err)
	_, err = x.client.ListResources(x.ctx)
	require.NoError(x.t, err)
	_, err = x.client.ListResourceTemplates(x.ctx)
	require.NoError(x.t, err)
	_, err = x.client.ListPrompts(x.ctx, mcp.WithMeta(mcp.Meta{"example.com/m": json.RawMessage("1")}))
	require.NoError(x.t, err)
	_, err = x.client.ToolsPage(x.ctx, new("1"), mcp.WithProgress(func(mcp.Progress) {}))
	require.NoError(x.t, err)
}

func (x *session) calls() {
	progress := 0
	_, err := x.client.CallTool(x.ctx, "a", nil)
	require.NoError(x.t, err)
	_, err = x.client.CallTool(x.ctx, "b", map[string]any{"n": json.Number("9007199254740993"), "s": "<&>"},
		mcp.WithProgress(func(mcp.Progress) { progress++ }), mcp.WithLogLevel(mcp.LogWarning),
		mcp.WithMeta(mcp.Meta{"example.com/m": json.RawMessage(`{"a":[null]}`)}))
	require.NoError(x.t, err)
	assert.Equal(x.t, 1, progress)
	_, err = mcp.CallToolAs[any](x.ctx, x.client, "a", json.RawMessage(`{}`))
	require.Error(x.t, err, "it has no structured content")
	_, err = x.client.CallTool(x.ctx, "none", nil)
	require.Error(x.t, err)
	_, err = x.client.ReadResource(x.ctx, "file:///a/b")
	require.NoError(x.t, err)
	_, err = x.client.GetPrompt(x.ctx, "a", nil)
	require.NoError(x.t, err)
	_, err = x.client.GetPrompt(x.ctx, "a", map[string]string{"k": "v"})
	require.NoError(x.t, err)
	_, err = x.client.Complete(x.ctx, &mcp.CompleteRequest{Ref: mcp.PromptRef("a"), Argument: "k", Value: "v"})
	require.NoError(x.t, err)
	_, err = x.client.Complete(x.ctx, &mcp.CompleteRequest{Ref: mcp.ResourceRef("file:///a/{x}"), Argument: "x"})
	require.NoError(x.t, err)
	require.NoError(x.t, x.client.SetLogLevel(x.ctx, mcp.LogError))
	require.NoError(x.t, x.client.Ping(x.ctx))
}

func (x *session) changes() {
	const uri = "file:///a"
	require.NoError(x.t, x.client.SubscribeResource(x.ctx, uri))
	require.NoError(x.t, x.server.ResourceUpdated(x.ctx, uri))
	all := mcp.Filter{Tools: true, Prompts: true, Resources: true, URIs: []string{uri, "file:///b"}}
	for _, f := range []mcp.Filter{all, {}} {
		sub, err := x.client.Listen(x.ctx, f)
		require.NoError(x.t, err)
		require.NoError(x.t, x.server.Notify(x.ctx, "notifications/tools/list_changed", nil))
		require.NoError(x.t, sub.Close())
	}
	require.NoError(x.t, x.client.UnsubscribeResource(x.ctx, uri))
	_ = x.client.RootsChanged(x.ctx) // there is no such thing in a modern revision
	synctest.Wait()
}

// givenUp has calls end before they are answered.
func (x *session) givenUp() {
	ctx, cancel := context.WithCancel(x.ctx)
	time.AfterFunc(time.Second, cancel)
	_, err := x.client.CallTool(ctx, "never", nil)
	require.ErrorIs(x.t, err, context.Canceled)
	_, err = x.client.CallTool(x.ctx, "never", nil, mcp.WithTimeout(time.Second))
	require.ErrorIs(x.t, err, context.DeadlineExceeded)
	synctest.Wait()
}

// input has the server ask while it answers a call.
func (x *session) input() {
	_, err := x.client.CallTool(x.ctx, "ask", map[string]any{"a": 1})
	require.NoError(x.t, err)
	_, err = x.client.CallTool(x.ctx, "again", nil)
	require.NoError(x.t, err)
	if !x.client.Server().Modern() {
		return
	}
	_, err = x.client.CallTool(x.ctx, "ask", nil, mcp.WithManualInput())
	var needed *mcp.InputRequiredError
	require.ErrorAs(x.t, err, &needed)
	_, err = x.client.CallTool(x.ctx, "ask", nil,
		mcp.WithInput(map[string]any{"1": map[string]any{"roots": []mcp.Root{}}}, needed.State))
	require.ErrorAs(x.t, err, &needed)
}

// asked has the server ask on its own account, as legacy revisions allow.
func (x *session) asked() {
	server := x.server.Sessions()[0]
	require.NoError(x.t, server.Ping(x.ctx))
	for _, method := range []string{"example.com/fails", "example.com/refuses", "example.com/unknown"} {
		_, err := server.Request(x.ctx, method, nil)
		require.Error(x.t, err)
	}
	_, err := server.Request(x.ctx, "sampling/createMessage", map[string]any{"messages": "wrong"})
	require.Error(x.t, err)
	_, err = server.Elicit(x.ctx, &mcp.ElicitRequest{Message: "invalid", RequestedSchema: json.RawMessage(form)})
	require.Error(x.t, err)
	fault := &transport.FaultError{Reason: "broken"}
	require.NoError(x.t, server.Send(x.ctx, &transport.Message{ID: transport.IntID(99), Method: "ping", Fault: fault}))
	synctest.Wait()
}
