package host_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// playVar makes the test binary play a server instead of running the tests.
const playVar = "HOST_TEST_PLAY"

// plays are the servers, by what they do.
var plays = map[string]func(){
	"serve": serve,
	"serve slowly": func() {
		time.Sleep(300 * time.Millisecond)
		serve()
	},
	"serve stubbornly": func() {
		ignored := make(chan os.Signal, 1)
		signal.Notify(ignored, syscall.SIGTERM)
		serve()
		forever()
	},
	"hang":               forever,
	"serve over HTTP":    playHTTP,
	"tortured":           playTortured,
	"tortured over HTTP": playTorturedHTTP,
	"exit": func() {
		fmt.Fprintln(os.Stderr, "no configuration")
		os.Exit(3)
	},
}

// forever outlives every test that goes well, and not those that fail by much.
func forever() { time.Sleep(10 * time.Minute) }

func serve() { _ = usual().ServeStdio(context.Background()) }

func usual() *mcptest.Server {
	s := era(new(mcptest.Server))
	addEcho(s)
	s.AddTool(&mcp.Tool{Name: "pid"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return mcptest.Text(fmt.Sprint(os.Getpid())), nil
	})
	s.AddTool(&mcp.Tool{Name: "crash"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "something is wrong")
		os.Exit(3)
		return nil, nil
	})
	s.AddTool(&mcp.Tool{Name: "mute"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		os.Stdout.Close() // and the process lives on
		return nil, nil
	})
	return s
}
