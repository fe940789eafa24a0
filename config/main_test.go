package config_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// serveVar makes the test binary a server on its standard input and output.
const serveVar = "CONFIG_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVar) != "" {
		serve()
		return
	}
	leakcheck.Main(m)
}

func serve() {
	var server mcptest.Server
	server.AddTool(&mcp.Tool{Name: "shout"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		var args struct{ Text string }
		if err := call.Bind(&args); err != nil {
			return nil, err
		}
		return mcptest.Text(strings.ToUpper(args.Text) + os.Getenv("MARK")), nil
	})
	_ = server.ServeStdio(context.Background())
}
