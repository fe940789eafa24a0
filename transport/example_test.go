package transport_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A server in the same process, which reads and writes a message a line.
func ExampleFunc() {
	ctx := context.Background()
	server := &mcptest.Server{} // or any other that serves a stream
	server.AddTool(&mcp.Tool{Name: "greet"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return mcptest.Text("hello"), nil
	})
	inProcess := transport.Func(func(context.Context) (transport.Conn, error) {
		ours, theirs := net.Pipe()
		go server.Serve(context.Background(), theirs) // until our side is closed
		return transport.NewStream(ours, &transport.StreamOptions{Name: "in-process"}), nil
	})

	client, err := mcp.Connect(ctx, inProcess, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	result, err := client.CallTool(ctx, "greet", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text())
	// Output: hello
}

func ExampleLogged() {
	ctx := context.Background()
	server := &mcptest.Server{}
	wire := transport.Logged(server.Transport(), log.New(os.Stdout, "files ", 0)) // os.Stderr, log.Lmicroseconds
	client, err := mcp.Connect(ctx, wire, &mcp.Options{
		Info:     mcp.Implementation{Name: "my-agent", Version: "1.0.0"},
		Versions: []string{mcp.Version20251125},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// files -> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"my-agent","version":"1.0.0"}}}
	// files <- {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"mcptest","version":"1"}}}
	// files -> {"jsonrpc":"2.0","method":"notifications/initialized"}
	// files -> {"jsonrpc":"2.0","id":2,"method":"ping"}
	// files <- {"jsonrpc":"2.0","id":2,"result":{}}
}
