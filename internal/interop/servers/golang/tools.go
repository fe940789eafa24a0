package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const note = "test://note"

var (
	aborted atomic.Int64 // calls of "wait" that were cancelled
	added   atomic.Int64 // tools that "add-tool" has added
)

type (
	request = mcp.CallToolRequest
	result  = mcp.CallToolResult
)

func addTools(server *mcp.Server) {
	add := func(name, properties string, run func(context.Context, *request) (*result, error)) {
		schema := json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
		server.AddTool(&mcp.Tool{Name: name, InputSchema: schema}, run)
	}
	add("echo", `"message":{"type":"string"}`, echo)
	add("large", `"size":{"type":"integer"}`, large)
	add("count", `"to":{"type":"integer"}`, count)
	add("register", ``, register)
	add("summarise", ``, summarise)
	add("log", ``, writeLog)
	add("wait", ``, wait)
	add("aborted", ``, func(context.Context, *request) (*result, error) { return text("%d", aborted.Load()), nil })
	add("fail", ``, fail)
	add("route", routeParameters("Region"), route)
	add("rename-header", ``, func(context.Context, *request) (*result, error) {
		add("route", routeParameters("Area"), route)
		return text("renamed"), nil
	})
	add("add-tool", ``, func(context.Context, *request) (*result, error) {
		add(fmt.Sprintf("added-%d", added.Add(1)), ``, here)
		return text("added"), nil
	})
	add("touch-note", ``, func(ctx context.Context, _ *request) (*result, error) {
		return text("touched"), server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: note})
	})
}

func text(format string, args ...any) *result {
	return &result{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// arguments are those of every tool.
type arguments struct {
	Message string `json:"message"`
	Size    int    `json:"size"`
	To      int    `json:"to"`
}

func argumentsOf(r *request) (a arguments, err error) {
	if r.Params.Arguments != nil {
		err = json.Unmarshal(r.Params.Arguments, &a)
	}
	return a, err
}

func echo(_ context.Context, r *request) (*result, error) {
	a, err := argumentsOf(r)
	return text("%s", a.Message), err
}

func here(context.Context, *request) (*result, error) { return text("here"), nil }

func large(_ context.Context, r *request) (*result, error) {
	a, err := argumentsOf(r)
	return text("%s", strings.Repeat("x", a.Size)), err
}

func fail(context.Context, *request) (*result, error) {
	failed := text("it cannot be done")
	failed.IsError = true
	return failed, nil
}

// routeParameters are two that are repeated in headers.
func routeParameters(header string) string {
	return fmt.Sprintf(`"region":{"type":"string","x-mcp-header":%q},
		"target":{"type":"object","properties":{"id":{"type":"integer","x-mcp-header":"Target-Id"}}}`, header)
}

// route says what the headers of its parameters were.
func route(_ context.Context, r *request) (*result, error) {
	if r.Extra == nil {
		return text(""), nil // over stdio
	}
	var repeated []string
	for name, values := range r.Extra.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "mcp-param-") {
			repeated = append(repeated, name+": "+values[0])
		}
	}
	slices.Sort(repeated)
	return text("%s", strings.Join(repeated, "\n")), nil
}

func count(ctx context.Context, r *request) (*result, error) {
	a, err := argumentsOf(r)
	for step := 1; err == nil && step <= a.To && r.Params.GetProgressToken() != nil; step++ {
		err = progress(ctx, r, float64(step), float64(a.To))
	}
	return text("counted to %d", a.To), err
}

func progress(ctx context.Context, r *request, step, total float64) error {
	return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: r.Params.GetProgressToken(), Progress: step, Total: total,
	})
}

func wait(ctx context.Context, r *request) (*result, error) {
	if err := progress(ctx, r, 0, 0); err != nil {
		return nil, err
	}
	<-ctx.Done()
	aborted.Add(1)
	return text("aborted"), nil
}

func readNote(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: note, Text: "a note"}}}, nil
}
