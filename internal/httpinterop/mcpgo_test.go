package httpinterop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// mcpGo makes a server of mcp-go.
func mcpGo(w *world) *server.MCPServer {
	s := server.NewMCPServer("mcp-go", "1.2.1", server.WithToolCapabilities(true), server.WithLogging(),
		server.WithResourceCapabilities(true, true), server.WithElicitation())
	s.EnableSampling()
	for name, run := range w.tools() {
		s.AddTool(mcpGoTool(name), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var a arguments
			if err := r.BindArguments(&a); err != nil {
				return nil, err
			}
			text, err := run(ctx, &mcpGoHost{server: s, request: &r}, &a)
			if err != nil {
				return nil, err
			}
			return mcp.NewToolResultText(text), nil
		})
	}
	s.AddResource(mcp.NewResource(resourceURI, "resource"),
		func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: resourceURI, Text: "text"}}, nil
		})
	return s
}

func mcpGoTool(name string) mcp.Tool {
	return mcp.NewToolWithRawSchema(name, "", json.RawMessage(`{"type":"object"}`))
}

type mcpGoHost struct {
	server  *server.MCPServer
	request *mcp.CallToolRequest
}

func (h *mcpGoHost) progress(ctx context.Context, step, total float64, message string) error {
	meta := h.request.Params.Meta
	if meta == nil {
		return errors.New("no token")
	}
	return h.server.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
		"progressToken": meta.ProgressToken, "progress": step, "total": total, "message": message,
	})
}

func (h *mcpGoHost) log(ctx context.Context, text string) error {
	return h.server.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "test", text))
}

func (h *mcpGoHost) ask(ctx context.Context, prompt string) (string, error) {
	answer, err := h.server.RequestSampling(ctx, mcp.CreateMessageRequest{CreateMessageParams: mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(prompt)}},
		MaxTokens: 10,
	}})
	if err != nil {
		return "", err
	}
	text, ok := mcp.AsTextContent(answer.Content)
	if !ok {
		return "", fmt.Errorf("the content is a %T", answer.Content)
	}
	return text.Text, nil
}

func (h *mcpGoHost) elicit(ctx context.Context, message string) (string, error) {
	answer, err := h.server.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
		Mode: "form", Message: message, RequestedSchema: json.RawMessage(formSchema),
	}})
	if err != nil {
		return "", err
	}
	content, _ := answer.Content.(map[string]any)
	name, _ := content["name"].(string)
	return string(answer.Action) + " " + name, nil
}

func (h *mcpGoHost) update(_ context.Context, uri string) error {
	h.server.SendNotificationToAllClients("notifications/resources/updated", map[string]any{"uri": uri})
	return nil
}

func (h *mcpGoHost) addTool(name string) {
	h.server.AddTool(mcpGoTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(""), nil
	})
}
