// A server on the Go SDK, whose own example has no tool for what 2026-07-28 brought:
//
//	golang [-http ADDRESS] [legacy | modern | dual]
//
// With an address it serves HTTP there, and else its standard input. typescript.mjs has the same tools.
package main

import (
	"cmp"
	"context"
	"flag"
	"log"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const firstModern = "2026-07-28"

var address = flag.String("http", "", "serve HTTP at this address")

func main() {
	flag.Parse()
	era := cmp.Or(flag.Arg(0), "dual")
	log.Fatal(serve(newServer(era), era))
}

// newServer makes a server that speaks the revisions of an era.
func newServer(era string) *mcp.Server {
	versions := slices.DeleteFunc(mcp.SupportedProtocolVersions(), func(v string) bool {
		return era == "legacy" && v >= firstModern || era == "modern" && v < firstModern
	})
	server := mcp.NewServer(&mcp.Implementation{Name: "interop-golang", Version: "1.0.0"}, &mcp.ServerOptions{
		SupportedProtocolVersions: versions,
		Instructions:              "For tests only.",
		SubscribeHandler:          func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler:        func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	addTools(server)
	server.AddResource(&mcp.Resource{URI: note, Name: "note"}, readNote)
	return server
}

func serve(server *mcp.Server, era string) error {
	if *address == "" {
		return server.Run(context.Background(), &mcp.StdioTransport{})
	}
	get := func(*http.Request) *mcp.Server { return server }
	// A handler with sessions serves the older revisions alone, one without them cannot ask its client anything there.
	stateful := mcp.NewStreamableHTTPHandler(get, nil)
	stateless := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true,
	})
	return http.ListenAndServe(*address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if era == "modern" || era == "dual" && r.Header.Get("Mcp-Protocol-Version") >= firstModern {
			stateless.ServeHTTP(w, r)
		} else {
			stateful.ServeHTTP(w, r)
		}
	}))
}
