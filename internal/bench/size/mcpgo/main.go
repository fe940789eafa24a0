// Command mcpgo is the least program that calls a tool with mcp-go.
package main

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	ctx := context.Background()
	c, err := client.NewStdioMCPClient("server", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Initialize(ctx, mcp.InitializeRequest{}))
	fmt.Println(c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "tool"}}))
	fmt.Println(c.ListTools(ctx, mcp.ListToolsRequest{}))
	_ = c.Close()
}
