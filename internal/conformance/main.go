// Command conformance is the driver of the official conformance suite: a small application on the public API, that does
// in each scenario what the suite expects an application to do. .ci/conformance installs the suite and runs it.
//
// The suite starts it with the URL of its server as the last argument, and names the scenario and the revision of the
// protocol in the environment. The driver prints "done" when everything went as an application would want it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
)

// The suite gives up after 30 s, and would then not say what the driver was waiting for.
const limit = 25 * time.Second

// run is what the suite asks for.
type run struct {
	url      string
	scenario string
	revision string
	context  []byte // JSON; empty for most scenarios

	authorizer streamablehttp.Authorizer // nil for most
}

var logger = slog.New(slog.NewTextHandler(os.Stderr, nil))

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := drive(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
	fmt.Println("done")
}

func drive(ctx context.Context) error {
	if len(os.Args) < 2 {
		return errors.New("the URL of the server is missing")
	}
	r := &run{
		url:      os.Args[len(os.Args)-1],
		scenario: os.Getenv("MCP_CONFORMANCE_SCENARIO"),
		revision: os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"),
		context:  []byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")),
	}
	play, ok := scenarios[r.scenario]
	if !ok {
		return fmt.Errorf("scenario %q is not known", r.scenario)
	}
	if err := play(ctx, r); err != nil {
		return fmt.Errorf("%s at %s: %w", r.scenario, r.revision, err)
	}
	return nil
}

// connect reaches the server as an application does that does not know its era: the probe runs in every scenario, and
// must end at the revision that the suite asked for.
func (r *run) connect(ctx context.Context, o mcp.Options) (*mcp.Client, error) {
	o.Info = mcp.Implementation{Name: "mcp-conformance", Version: "1.0.0"}
	o.Logger = logger
	o.Versions = slices.Compact([]string{mcp.Version20260728, r.revision})

	client, err := mcp.Connect(ctx, &streamablehttp.Transport{URL: r.url, Authorizer: r.authorizer}, &o)
	if err != nil {
		return nil, err
	}
	if agreed := client.Server().ProtocolVersion; agreed != r.revision {
		_ = client.Close()
		return nil, fmt.Errorf("agreed on revision %s", agreed)
	}
	return client, nil
}

// session makes a scenario of what is to be done with a connected client.
func session(o mcp.Options, use func(context.Context, *run, *mcp.Client) error) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		client, err := r.connect(ctx, o)
		if err != nil {
			return err
		}
		return errors.Join(use(ctx, r, client), client.Close())
	}
}
