// Quickstart connects to an MCP server, shows its tools as a language model gets them, and calls one of them.
//
//	go run ./examples/quickstart               # starts the server in demo.go, as a process of its own
//	go run ./examples/quickstart -- COMMAND... # starts yours
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"syscall"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/llmcontent"
	"github.com/seed62b61957/mcp/stdio"
)

func main() {
	serve := flag.Bool("serve", false, "be the demo server, on standard input and output")
	flag.Parse()

	// Ctrl-C ends ctx, and ctx ends whatever is waiting: the call is cancelled, and run closes the server.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	var err error
	if *serve {
		err = demoServer().ServeStdio(ctx)
	} else {
		err = run(ctx, flag.Args(), screen{os.Stdout})
	}
	if err != nil {
		fmt.Fprintln(screen{os.Stderr}, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, command []string, out io.Writer) error {
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		command = []string{self, "-serve"}
	}

	// Connect starts the server and agrees with it on a version of the protocol. There is nothing to initialize later.
	client, err := mcp.Connect(ctx, &stdio.Transport{Command: command[0], Args: command[1:]}, &mcp.Options{
		Info:    mcp.Implementation{Name: "quickstart", Version: "1.0.0"},
		Timeout: 3 * time.Minute, // the first answer takes long when npx or uvx has to download the server
	})
	if err != nil {
		return err
	}
	defer client.Close() // ends the server, and whatever the server has started

	server := client.Server()
	fmt.Fprintf(out, "Connected to %s %s, protocol %s.\n",
		server.Info.Name, server.Info.Version, server.ProtocolVersion)

	tools, err := client.ListTools(ctx)
	if err != nil {
		return err
	}

	// For a model, the name of a tool starts with that of its server, since two servers may have tools of the same
	// name. An agent takes the name by which its user knows the server; here it is the end of what the server calls
	// itself.
	name := path.Base(server.Info.Name)
	functions, skipped := llmcontent.Functions(name, tools, llmcontent.Plain)
	showFunctions(out, functions)
	for _, s := range skipped {
		fmt.Fprintln(out, "\nSet aside:", s.Err)
	}

	// Now the model would choose. The server knows the tool by its own name, not by that of the function.
	tool, args := choose(server.Info.Name, tools)
	if tool == nil {
		fmt.Fprintln(out, "\nNo tool is called: none says both that it only reads and that it needs no arguments.")
		return nil
	}
	fmt.Fprintf(out, "\nCalling %q with %s\n", tool.Name, compact(args))
	result, err := client.CallTool(ctx, tool.Name, args, mcp.WithProgress(func(p mcp.Progress) {
		showProgress(out, p)
	}))
	if err != nil {
		return err
	}

	// What the model gets back. A tool that failed is a result too, so that the model can try something else.
	showBlocks(out, llmcontent.FromResult(result, llmcontent.WithLimit(llmcontent.Limit{})))
	return nil
}
