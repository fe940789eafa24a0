package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

const demoQuestion = "What can I cook tonight? Then please do it, and tidy up."

// demoServers are what a file has as {"mcpServers": {"kitchen": {"command": "...", "args": ["-serve", "kitchen"]}}}.
func demoServers() ([]config.Server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var servers []config.Server
	for _, name := range []string{"kitchen", "pantry"} {
		servers = append(servers, config.Server{
			Name: name, Type: config.Stdio, Command: self, Args: []string{"-serve", name},
		})
	}
	return servers, nil
}

// serveDemo is a server, so that there is something to connect to. Package mcptest is made for tests: it is good enough
// to play with, and no framework to build servers with.
func serveDemo(ctx context.Context, name string) error {
	s := &mcptest.Server{Info: mcp.Implementation{Name: name, Version: "1.0.0"}}
	switch name {
	case "kitchen":
		s.AddTool(tool("recipes", "Lists the dishes that can be cooked.", "", reads), says("onion soup, bread pudding"))
		s.AddTool(tool("cook", "Cooks a dish.", "dish", adds), cook)
	case "pantry":
		s.AddTool(tool("list", "Lists what is there.", "", reads), says("onions, butter, stock, old bread"))
		s.AddTool(tool("discard", "Throws something away, for good.", "item", destroys), discard)
	default:
		return fmt.Errorf("there is no demo server %q", name)
	}
	return s.ServeStdio(ctx)
}

var yes, no = true, false

var (
	reads    = &mcp.ToolAnnotations{ReadOnlyHint: &yes, OpenWorldHint: &no}
	adds     = &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}
	destroys = &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no}
)

// tool has one argument, a text, or none.
func tool(name, description, argument string, hints *mcp.ToolAnnotations) *mcp.Tool {
	schema := `{"type": "object"}`
	if argument != "" {
		schema = fmt.Sprintf(
			`{"type": "object", "properties": {%q: {"type": "string"}}, "required": [%[1]q]}`, argument)
	}
	return &mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema), Annotations: hints}
}

func says(text string) mcptest.ToolHandler {
	return func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) { return mcptest.Text(text), nil }
}

// cook asks the user something, and takes its time.
func cook(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
	var args struct{ Dish string }
	if err := call.Bind(&args); err != nil {
		return nil, err
	}
	people, err := howMany(call)
	if err != nil {
		return nil, err
	}
	steps := []string{"cutting", "heating", "seasoning"}
	for i, step := range steps {
		if err := call.Progress(ctx, float64(i+1), float64(len(steps)), step); err != nil {
			return nil, err
		}
		select {
		case <-time.After(300 * time.Millisecond): // for people to watch
		case <-ctx.Done(): // the client cancelled the call
			return nil, ctx.Err()
		}
	}
	return mcptest.Text(fmt.Sprintf("The %s for %d is ready.", args.Dish, people)), nil
}

func howMany(call *mcptest.Call) (int, error) {
	answer, err := call.Elicit(&mcp.ElicitRequest{
		Message: "For how many people is it to be?",
		RequestedSchema: json.RawMessage(
			`{"type": "object", "properties": {"people": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2}}}`),
	})
	if err != nil {
		return 0, err // also if there is no answer yet: the client then calls again with one
	}
	if answer.Action != mcp.ElicitAccept {
		return 1, nil
	}
	people, _ := answer.Content["people"].(json.Number)
	count, err := people.Int64()
	return int(count), err
}

func discard(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
	var args struct{ Item string }
	if err := call.Bind(&args); err != nil {
		return nil, err
	}
	return mcptest.Text(fmt.Sprintf("The %s is gone.", args.Item)), nil
}
