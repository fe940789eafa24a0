// Command ours is the least program that calls a tool with this client.
package main

import (
	"context"
	"fmt"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/stdio"
)

func main() {
	client, err := mcp.Connect(context.Background(), &stdio.Transport{Command: "server"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.CallTool(context.Background(), "tool", nil))
	fmt.Println(client.ListTools(context.Background()))
	_ = client.Close()
}
