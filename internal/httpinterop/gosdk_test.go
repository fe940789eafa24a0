package httpinterop

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const resourceURI = "test://resource"

// goSDK makes a server of the Go SDK.
func goSDK(t testing.TB, w *world, o sdk.StreamableHTTPOptions) (*sdk.Server, http.Handler) {
	server := sdk.NewServer(&sdk.Implementation{Name: "go-sdk", Version: "1.8.0"}, &sdk.ServerOptions{
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	for name, run := range w.tools() {
		server.AddTool(sdkTool(name), func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var a arguments
			if err := json.Unmarshal(r.Params.Arguments, &a); err != nil {
				return nil, err
			}
			text, err := run(ctx, &sdkHost{server: server, request: r}, &a)
			if err != nil {
				return nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
	}
	server.AddResource(&sdk.Resource{URI: resourceURI, Name: "resource"},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			contents := []*sdk.ResourceContents{{URI: resourceURI, Text: "text"}}
			return &sdk.ReadResourceResult{Contents: contents}, nil
		})
	t.Cleanup(func() { forget(server) })
	return server, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &o)
}

// forget ends every session, and returns how many there were.
func forget(server *sdk.Server) (n int) {
	for session := range server.Sessions() {
		session.Close()
		n++
	}
	return n
}

func sdkTool(name string) *sdk.Tool {
	return &sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}
}

type sdkHost struct {
	server  *sdk.Server
	request *sdk.CallToolRequest
}

func (h *sdkHost) progress(ctx context.Context, step, total float64, message string) error {
	return h.request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
		ProgressToken: h.request.Params.GetProgressToken(), Progress: step, Total: total, Message: message,
	})
}

func (h *sdkHost) log(ctx context.Context, text string) error {
	return h.request.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: text})
}

func (h *sdkHost) ask(ctx context.Context, prompt string) (string, error) {
	answer, err := h.request.Session.CreateMessage(ctx, &sdk.CreateMessageParams{
		Messages:  []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: prompt}}},
		MaxTokens: 10,
	})
	if err != nil {
		return "", err
	}
	return answer.Content.(*sdk.TextContent).Text, nil
}

func (h *sdkHost) elicit(ctx context.Context, message string) (string, error) {
	answer, err := h.request.Session.Elicit(ctx, &sdk.ElicitParams{
		Mode: "form", Message: message, RequestedSchema: json.RawMessage(formSchema),
	})
	if err != nil {
		return "", err
	}
	name, _ := answer.Content["name"].(string)
	return answer.Action + " " + name, nil
}

func (h *sdkHost) update(ctx context.Context, uri string) error {
	return h.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
}

func (h *sdkHost) addTool(name string) {
	h.server.AddTool(sdkTool(name), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{}, nil
	})
}
