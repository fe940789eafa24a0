// Command gosdk is the least program that calls a tool with the Go SDK.
package main

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "least", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command("server")}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(session.CallTool(ctx, &mcp.CallToolParams{Name: "tool"}))
	fmt.Println(session.ListTools(ctx, nil))
	_ = session.Close()
}
