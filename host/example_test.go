package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/llmcontent"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A configuration becomes servers that run, and functions for a model, whose calls find their server.
func Example() {
	ctx := context.Background()
	h := host.New(host.Options{Transport: exampleServers})
	defer h.Close(ctx)

	file, err := config.ParseBytes([]byte(`{"mcpServers": {
		"files": {"command": "files-server"},
		"notes": {"url": "https://example.com/mcp"}
	}}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	servers, err := file.Expand(os.LookupEnv)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := h.Apply(ctx, servers); err != nil {
		fmt.Println(err)
		return
	}
	functions, _ := h.Catalog().Functions(llmcontent.Anthropic) // skipped: what cannot be expressed
	for _, f := range functions {
		definition, _ := json.Marshal(f)
		fmt.Println(string(definition))
	}

	// The model answers with the name of a function, and JSON.
	f := llmcontent.Find(functions, "mcp__notes__read")
	args, err := f.Arguments(`{"name": "today"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := h.CallTool(ctx, f.Name, args)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// {"name":"mcp__files__erase","input_schema":{"type":"object","properties":{}}}
	// {"name":"mcp__files__read","input_schema":{"type":"object","properties":{}}}
	// {"name":"mcp__notes__erase","input_schema":{"type":"object","properties":{}}}
	// {"name":"mcp__notes__read","input_schema":{"type":"object","properties":{}}}
	// notes has read {"name": "today"}
}

// The user is asked before a tool is called that does not say that it only reads.
func ExampleOptions_approve() {
	ctx := context.Background()
	h := host.New(host.Options{
		Transport: exampleServers,
		Approve: func(ctx context.Context, call *host.Call) error {
			if call.Tool != nil && call.Tool.Annotations != nil {
				if hint := call.Tool.Annotations.ReadOnlyHint; hint != nil && *hint {
					return nil
				}
			}
			return errors.New("the user said no")
		},
	})
	defer h.Close(ctx)
	if err := h.Apply(ctx, []config.Server{{Name: "files", Type: config.Stdio, Command: "files-server"}}); err != nil {
		fmt.Println(err)
		return
	}
	_, err := h.CallTool(ctx, "mcp__files__read", nil)
	var refused *host.RefusedError
	fmt.Println(errors.As(err, &refused), err)
	// Output: true host: tool "read" of server "files" is refused: the user said no
}

// Each server asks, and logs, under the name that the user has given it.
func ExampleOptions_client() {
	ctx := context.Background()
	h := host.New(host.Options{
		Client: func(s config.Server) mcp.Options {
			return mcp.Options{
				Info: mcp.Implementation{Name: "my-agent", Version: "1.0.0"},
				Elicit: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					fmt.Printf("%s asks: %s\n", s.Name, r.Message)
					return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
				},
			}
		},
		Transport: func(s config.Server, t transport.Transport) (transport.Transport, error) {
			if process, ok := t.(*stdio.Transport); ok {
				process.Stderr = os.Stderr // shows what the server writes there
			}
			return exampleServers(s, t)
		},
	})
	defer h.Close(ctx)
	_ = h.Apply(ctx, []config.Server{{Name: "files", Type: config.Stdio, Command: "files-server"}})
	result, err := h.CallServerTool(ctx, "files", "erase", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text())
	// Output:
	// files asks: Erase everything?
	// decline
}

// A conversation that is over has no calls any more. The servers go on.
func ExampleHost_Scope() {
	ctx := context.Background()
	h := host.New(host.Options{Transport: exampleServers})
	defer h.Close(ctx)
	_ = h.Apply(ctx, []config.Server{{Name: "files", Type: config.Stdio, Command: "files-server"}})

	conversation := h.Scope()
	_, err := conversation.CallTool(ctx, "mcp__files__read", nil)
	fmt.Println(err)
	conversation.Close()
	_, err = conversation.CallTool(ctx, "mcp__files__read", nil)
	fmt.Println(err)
	// Output:
	// <nil>
	// host: scope closed
}

// What happens to servers is shown for as long as the host lives.
func ExampleHost_Events() {
	ctx := context.Background()
	h := host.New(host.Options{Transport: exampleServers})
	_ = h.Apply(ctx, []config.Server{{Name: "files", Type: config.Stdio, Command: "files-server"}})

	var catalog *host.Catalog
	for e := range h.Events(ctx) {
		if catalog == nil {
			go h.Close(ctx) // for the example to end
		}
		if e.Catalog != catalog {
			catalog = e.Catalog
			fmt.Println("tools for the model:", len(catalog.Tools))
		}
		switch s := e.Status; {
		case e.Gone:
			fmt.Println(s.Name, "is gone")
		case s.State == host.Reconnecting:
			fmt.Println(s.Name, "is tried again in", time.Until(s.Next), "since", s.Err)
		case s.State == host.NeedsSignIn:
			fmt.Println(s.Name, "needs a sign-in")
		}
	}
	// Output:
	// tools for the model: 2
	// tools for the model: 0
	// files is gone
}

// exampleServers reaches servers in memory, so that the examples need neither programs nor a network.
func exampleServers(s config.Server, _ transport.Transport) (transport.Transport, error) {
	server := &mcptest.Server{}
	server.AddTool(&mcp.Tool{Name: "read"}, func(_ context.Context, c *mcptest.Call) (*mcp.CallToolResult, error) {
		return mcptest.Text(fmt.Sprintf("%s has read %s", s.Name, c.Arguments)), nil
	})
	server.AddTool(&mcp.Tool{Name: "erase"}, func(_ context.Context, c *mcptest.Call) (*mcp.CallToolResult, error) {
		answer, err := c.Elicit(&mcp.ElicitRequest{Message: "Erase everything?"})
		if err != nil {
			return nil, err
		}
		return mcptest.Text(string(answer.Action)), nil
	})
	return server.Transport(), nil
}
