package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A server with one tool, and a client that calls it. In a test, [mcptest.Connect] does the connecting and closing.
func Example() {
	server := &mcptest.Server{}
	server.AddTool(&mcp.Tool{Name: "shout"}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		var args struct{ Text string }
		if err := call.Bind(&args); err != nil {
			return nil, err
		}
		_ = call.Progress(ctx, 1, 2, "taking a breath")
		return mcptest.Text(strings.ToUpper(args.Text)), nil
	})

	ctx := context.Background()
	client, err := mcp.Connect(ctx, server.Transport(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	res, err := client.CallTool(ctx, "shout", map[string]any{"text": "hello"}, mcp.WithProgress(func(p mcp.Progress) {
		fmt.Println("progress:", p.Message)
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Text())
	for _, m := range server.Received() {
		fmt.Println(m.Method)
	}
	// Output:
	// progress: taking a breath
	// HELLO
	// server/discover
	// tools/call
}

// The server exits while the first call is on its way: message 1 to the server is the question what it speaks.
func ExampleFaulty() {
	ctx := context.Background()
	server := &mcptest.Server{}
	network := mcptest.Faulty(server.Transport(), mcptest.Disconnect(mcptest.ToServer, 2))
	client, err := mcp.Connect(ctx, network, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	err = client.Ping(ctx)
	fmt.Println("closed:", errors.Is(err, mcp.ErrClosed))
	fmt.Println("safe to retry:", transport.SafeToRetry(err))
	// Output:
	// closed: true
	// safe to retry: true
}

// A server that gets it wrong.
func ExampleServer_Handle() {
	ctx := context.Background()
	server := &mcptest.Server{Capabilities: json.RawMessage(`{"tools":{}}`)}
	server.Handle("tools/list", func(context.Context, *mcptest.Call) (any, error) {
		return json.RawMessage(`{"tools":[null,{"name":"usable"},5]}`), nil
	})
	client, err := mcp.Connect(ctx, server.Transport(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	for tool, err := range client.Tools(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tool.Name)
	}
	// Output: usable
}

// A tool that asks the user. Until the answer is there, Elicit returns an error that asks for it, and the handler is
// called again.
func ExampleCall_Elicit() {
	server := &mcptest.Server{}
	server.AddTool(&mcp.Tool{Name: "order"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		answer, err := call.Elicit(&mcp.ElicitRequest{
			Message:         "How many?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`),
		})
		if err != nil {
			return nil, err
		}
		return mcptest.Text(fmt.Sprintf("%s: %v", answer.Action, answer.Content["count"])), nil
	})

	ctx := context.Background()
	client, err := mcp.Connect(ctx, server.Transport(), &mcp.Options{
		Elicit: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Println(r.Message)
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"count": 3}}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	res, err := client.CallTool(ctx, "order", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Text())
	// Output:
	// How many?
	// accept: 3
}

// Both ends in the hands of a test, to play a server message by message.
func ExamplePipe() {
	ctx := context.Background()
	near, far := mcptest.Pipe()
	defer near.Close()
	go near.Send(ctx, transport.Outgoing{Message: &transport.Message{ID: transport.IntID(1), Method: "ping"}})
	m, err := far.Receive(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Method, m.ID)
	// Output: ping 1
}
