//lint:file-ignore SA1019 what is deprecated is still to be served

package main

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// form asks for one text.
func form(message, name string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{name: map[string]any{"type": "string"}}, "required": []string{name},
	}}
}

// register asks twice: for a form and for the roots at once, and then for another form. What it learned first is in its
// state.
func register(ctx context.Context, r *request) (*result, error) {
	if r.ProtocolVersion() < firstModern {
		return registerLegacy(ctx, r)
	}
	known, answers := r.Params.RequestState, r.Params.InputResponses
	if second, ok := answers["second"].(*mcp.ElicitResult); ok {
		return text("%s, %s", known, second.Content["city"]), nil
	}
	first, ok := answers["first"].(*mcp.ElicitResult)
	if !ok {
		return &result{InputRequests: mcp.InputRequestMap{
			"first": form("Who?", "name"), "roots": &mcp.ListRootsParams{},
		}}, nil
	}
	roots, ok := answers["roots"].(*mcp.ListRootsResult)
	if !ok || len(roots.Roots) == 0 {
		return nil, fmt.Errorf("no roots: %T", answers["roots"])
	}
	return &result{
		InputRequests: mcp.InputRequestMap{"second": form("Where?", "city")},
		RequestState:  fmt.Sprintf("%s, %s", first.Content["name"], roots.Roots[0].URI),
	}, nil
}

// registerLegacy asks by itself, since the SDK translates one round to the older revisions, and no second one.
func registerLegacy(ctx context.Context, r *request) (*result, error) {
	first, err := r.Session.Elicit(ctx, form("Who?", "name"))
	if err != nil {
		return nil, err
	}
	roots, err := r.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil, err
	}
	second, err := r.Session.Elicit(ctx, form("Where?", "city"))
	if err != nil {
		return nil, err
	}
	return text("%s, %s, %s", first.Content["name"], roots.Roots[0].URI, second.Content["city"]), nil
}

func summarise(_ context.Context, r *request) (*result, error) {
	if answer, ok := r.Params.InputResponses["model"].(*mcp.CreateMessageWithToolsResult); ok {
		return text("%s says %s", answer.Model, answer.Content[0].(*mcp.TextContent).Text), nil
	}
	return &result{InputRequests: mcp.InputRequestMap{"model": &mcp.CreateMessageParams{
		Messages:  []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Sum it up."}}},
		MaxTokens: 17,
	}}}, nil
}

func writeLog(ctx context.Context, r *request) (*result, error) {
	return text("logged"), r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "something happened"})
}
