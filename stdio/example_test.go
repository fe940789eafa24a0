package stdio_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/stdio"
)

// A server with a secret of its own, whose standard error goes to the log. It sees no other variable of the host but
// the harmless ones.
func Example() {
	ctx := context.Background()
	client, err := mcp.Connect(ctx, &stdio.Transport{
		Command: "npx",
		Args:    []string{"-y", "@modelcontextprotocol/server-github"},
		Env:     map[string]string{"GITHUB_TOKEN": os.Getenv("MY_GITHUB_TOKEN")},
		Stderr:  os.Stderr,
	}, nil)
	var exit *stdio.ExitError
	if errors.As(err, &exit) {
		fmt.Println("the server has ended:", exit) // with its status, and the end of its standard error
	}
	if err != nil {
		return
	}
	defer client.Close()
	fmt.Println(client.Server().Info.Name)
}
