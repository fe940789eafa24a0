package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// travelServer stands in for a server that the examples connect to.
func travelServer() *mcptest.Server {
	s := &mcptest.Server{}
	s.AddTool(&mcp.Tool{Name: "translate", Description: "Translates a greeting into French."},
		func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
			return mcptest.Text("bonjour"), nil
		})
	s.AddTool(&mcp.Tool{Name: "download_map", Description: "Downloads the map of a city."},
		func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
			for part := range 3 {
				if err := call.Progress(ctx, float64(part+1), 3, "downloading"); err != nil {
					return nil, err
				}
			}
			return mcptest.Text("done"), nil
		})
	s.AddTool(&mcp.Tool{
		Name:        "forecast",
		Description: "Forecasts the weather in a city.",
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"celsius": {"type": "number"}, "sky": {"type": "string"}},
			"required": ["celsius", "sky"]
		}`),
	}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"celsius": 21.5, "sky": "clear"}`)}, nil
	})
	s.AddTool(&mcp.Tool{Name: "book_table", Description: "Books a table for dinner."}, bookTable)
	return s
}

func bookTable(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
	answer, err := call.Elicit(&mcp.ElicitRequest{
		Message: "A table for how many?",
		RequestedSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"guests": {"type": "integer", "title": "Guests", "default": 2}},
			"required": ["guests"]
		}`),
	})
	if err != nil {
		return nil, err
	}
	return mcptest.Text(fmt.Sprintf("%s: a table for %v", answer.Action, answer.Content["guests"])), nil
}

// A server that runs as a child process.
func ExampleConnect() {
	// The limit is for connecting: the client lives on after it.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := mcp.Connect(ctx, &stdio.Transport{
		Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-everything"},
	}, &mcp.Options{
		Info: mcp.Implementation{Name: "my-agent", Version: "1.0.0"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println("connected to", client.Server().Info.Name)
}

// List the tools of a server, and call one.
func Example() {
	ctx := context.Background()
	client, err := mcp.Connect(ctx, travelServer().Transport(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	for tool, err := range client.Tools(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Name, "-", tool.Description)
	}

	result, err := client.CallTool(ctx, "translate", map[string]any{"text": "hello"})
	if err != nil {
		log.Fatal(err) // there is no result
	}
	if result.IsError {
		fmt.Println("the tool failed:", result.Text()) // for the model to see
		return
	}
	fmt.Println(result.Text())
	// Output:
	// translate - Translates a greeting into French.
	// download_map - Downloads the map of a city.
	// forecast - Forecasts the weather in a city.
	// book_table - Books a table for dinner.
	// bonjour
}

func ExampleWithProgress() {
	ctx := context.Background()
	client, err := mcp.Connect(ctx, travelServer().Transport(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	show := func(p mcp.Progress) {
		if p.Total != nil {
			fmt.Printf("%s: %g of %g\n", p.Message, p.Progress, *p.Total)
		}
	}
	result, err := client.CallTool(ctx, "download_map", map[string]any{"city": "Lyon"}, mcp.WithProgress(show))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output:
	// downloading: 1 of 3
	// downloading: 2 of 3
	// downloading: 3 of 3
	// done
}

func ExampleCallToolAs() {
	ctx := context.Background()
	client, err := mcp.Connect(ctx, travelServer().Transport(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	type forecast struct {
		Celsius float64 `json:"celsius"`
		Sky     string  `json:"sky"`
	}
	// The structured content is checked against the tool's output schema before it is decoded.
	tomorrow, err := mcp.CallToolAs[forecast](ctx, client, "forecast", map[string]any{"city": "Lyon"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%g degrees, %s sky\n", tomorrow.Celsius, tomorrow.Sky)
	// Output: 21.5 degrees, clear sky
}

// A server that asks the user in the middle of a call. Setting Elicit is what tells it that it may.
func ExampleOptions_elicit() {
	ctx := context.Background()
	client, err := mcp.Connect(ctx, travelServer().Transport(), &mcp.Options{
		Elicit: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			form, err := r.Schema()
			if err != nil {
				return nil, err
			}
			fmt.Println(r.Message)
			for _, field := range form.Fields {
				fmt.Printf("%s (%s, by default %v)\n", field.Label(), field.Type, field.Default)
			}
			// What the user leaves out gets its default.
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	result, err := client.CallTool(ctx, "book_table", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output:
	// A table for how many?
	// Guests (integer, by default 2)
	// accept: a table for 2
}

// A client with a cache asks for a list again when it is no longer fresh.
func ExampleNewCache() {
	ctx := context.Background()
	server := travelServer()
	server.TTL = time.Hour // what it says of its lists
	client, err := mcp.Connect(ctx, server.Transport(), &mcp.Options{Cache: mcp.NewCache(0)})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	for _, opts := range [][]mcp.CallOption{nil, nil, {mcp.WithRefresh()}} {
		tools, err := client.ListTools(ctx, opts...)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(tools), "tools; lists sent so far:", len(server.Received("tools/list")))
	}
	// Output:
	// 4 tools; lists sent so far: 1
	// 4 tools; lists sent so far: 1
	// 4 tools; lists sent so far: 2
}

// Changes one after the other, until somebody ends it or something fails.
func ExampleClient_Listen() {
	ctx := context.Background()
	server := &mcptest.Server{}
	server.AddResource(&mcp.Resource{URI: "file:///notes", Name: "notes"}, nil)
	client, err := mcp.Connect(ctx, server.Transport(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	changes, err := client.Listen(ctx, mcp.Filter{URIs: []string{"file:///notes"}})
	if err != nil {
		log.Fatal(err)
	}
	defer changes.Close()
	fmt.Println("agreed on:", changes.Accepted().URIs) // a server need not agree to all

	_ = server.ResourceUpdated(ctx, "file:///notes")
	for change, err := range changes.Events(ctx) {
		if err != nil { // the connection, say: listen again, and take everything for changed
			log.Fatal(err)
		}
		fmt.Println("changed:", change.URI)
		break
	}
	// Output:
	// agreed on: [file:///notes]
	// changed: file:///notes
}

// What the server answered is told apart from what went wrong on the way.
func ExampleRPCError() {
	ctx := context.Background()
	client, err := mcp.Connect(ctx, travelServer().Transport(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	_, err = client.CallTool(ctx, "teleport", nil)
	var refused *mcp.RPCError
	var late *mcp.TimeoutError
	switch {
	case errors.As(err, &refused):
		fmt.Println("refused:", refused.Code == mcp.CodeInvalidParams, refused.Message)
	case errors.As(err, &late):
		fmt.Println("no answer within", late.Limit)
	case errors.Is(err, mcp.ErrClosed):
		fmt.Println("the server is gone:", err)
	}
	// Output: refused: true unknown tool: teleport
}

// A call that outlives the program that makes it: the server goes on with it, and the program takes the ID along.
func ExampleClient_AwaitTask() {
	ctx := context.Background()
	server := &mcptest.Server{}
	server.AddTaskTool(&mcp.Tool{Name: "render"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return mcptest.Text("rendered"), nil
	})

	client, err := mcp.Connect(ctx, server.Transport(), &mcp.Options{Tasks: true})
	if err != nil {
		log.Fatal(err)
	}
	var stored string
	shutdown := errors.New("shutting down")
	_, err = client.CallTool(ctx, "render", nil, mcp.WithTask(func(task *mcp.Task) error {
		stored = task.ID // in a file, say
		return shutdown  // nil waits for the result
	}))
	fmt.Println(errors.Is(err, shutdown))
	client.Close()

	client, err = mcp.Connect(ctx, server.Transport(), &mcp.Options{Tasks: true})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	result, err := client.AwaitTask(ctx, stored)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output:
	// true
	// rendered
}

// A policy stands around every exchange with the server, and so does whoever keeps a record of them.
func ExampleInterceptor() {
	readOnly := errors.New("not in read-only mode")
	policy := func(ctx context.Context, x *mcp.Exchange) (context.Context, func(json.RawMessage, error), error) {
		var params struct {
			Name string `json:"name"`
		}
		if x.Method == "tools/call" && json.Unmarshal(x.Params, &params) == nil && params.Name == "book_table" {
			return nil, nil, readOnly
		}
		return ctx, nil, nil
	}
	audit := func(ctx context.Context, x *mcp.Exchange) (context.Context, func(json.RawMessage, error), error) {
		return ctx, func(_ json.RawMessage, err error) { fmt.Println(x.Method, x.Version, err) }, nil
	}
	ctx := context.Background()
	client, err := mcp.Connect(ctx, travelServer().Transport(), &mcp.Options{
		Interceptors: []mcp.Interceptor{audit, policy},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	_, err = client.CallTool(ctx, "translate", nil)
	fmt.Println("translate:", err)
	_, err = client.CallTool(ctx, "book_table", nil)
	fmt.Println("book_table:", errors.Is(err, readOnly))
	// Output:
	// server/discover 2026-07-28 <nil>
	// tools/call 2026-07-28 <nil>
	// translate: <nil>
	// tools/call 2026-07-28 not in read-only mode
	// book_table: true
}
