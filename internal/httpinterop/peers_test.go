package httpinterop

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mark3labs/mcp-go/server"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
)

// A peer is one way to serve the tools, with what is known about it.
type peer struct {
	name     string
	serve    func(t testing.TB, w *world) (url string)
	versions []string // to pin; nil for all
	version  string   // that it agrees to

	session bool   // it has sessions
	listens bool   // it has a stream of its own
	media   string // of its answers without progress
	streams bool   // progress comes with the answer
	asks    bool   // it can ask the client
	mixes   bool   // it spreads the messages of a call over its streams, and may answer before progress
}

const (
	jsonMedia = "application/json"
	sseMedia  = "text/event-stream"
)

var peers = []peer{
	sdkPeer("go-sdk SSE", sdk.StreamableHTTPOptions{}),
	sdkPeer("go-sdk SSE with events", sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)}),
	sdkPeer("go-sdk JSON", sdk.StreamableHTTPOptions{JSONResponse: true}),
	sdkPeer("go-sdk JSON with events", sdk.StreamableHTTPOptions{
		JSONResponse: true, EventStore: sdk.NewMemoryEventStore(nil),
	}),
	sdkPeer("go-sdk stateless SSE", sdk.StreamableHTTPOptions{Stateless: true}),
	sdkPeer("go-sdk stateless JSON", sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}),
	modernPeer("go-sdk modern SSE", false),
	modernPeer("go-sdk modern JSON", true),
	mcpGoPeer("mcp-go", server.WithStateful(true)),
	mcpGoPeer("mcp-go with events", server.WithStateful(true), server.WithEventStore(server.NewInMemoryEventStore())),
	{
		name: "mcp-go HTTP+SSE", serve: serveMCPGoSSE, versions: legacy, version: "2025-11-25",
		listens: true, streams: true, mixes: true,
	},
}

func sdkPeer(name string, o sdk.StreamableHTTPOptions) peer {
	p := peer{
		name: name, version: "2025-11-25", session: !o.Stateless, listens: !o.Stateless,
		media: sseMedia, streams: !o.JSONResponse, asks: !o.Stateless,
		serve: func(t testing.TB, w *world) string {
			_, handler := goSDK(t, w, o)
			return listen(t, handler).URL
		},
	}
	if o.JSONResponse {
		p.media = jsonMedia
	}
	if o.Stateless {
		p.versions = legacy
	}
	return p
}

// modernPeer speaks 2026-07-28.
func modernPeer(name string, json bool) peer {
	p := sdkPeer(name, modernOptions(json))
	p.versions, p.version = nil, mcp.Version20260728
	return p
}

// modernOptions are those of a server that offers 2026-07-28, and ends the calls whose streams are closed.
func modernOptions(json bool) sdk.StreamableHTTPOptions {
	return sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true, JSONResponse: json}
}

func mcpGoPeer(name string, o ...server.StreamableHTTPOption) peer {
	return peer{
		name: name, versions: legacy, version: "2025-11-25", session: true, listens: true, media: jsonMedia, streams: true,
		asks: true, mixes: true,
		serve: func(t testing.TB, w *world) string {
			s := server.NewStreamableHTTPServer(mcpGo(w), o...)
			t.Cleanup(func() { shutdown(t, s.Shutdown) })
			return listen(t, s).URL
		},
	}
}

func serveMCPGoSSE(t testing.TB, w *world) string {
	s := server.NewSSEServer(mcpGo(w))
	t.Cleanup(func() { shutdown(t, s.Shutdown) })
	return listen(t, s).URL + "/sse"
}

func shutdown(t testing.TB, f func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := f(ctx); err != nil {
		t.Error(err)
	}
}

// listen serves until the end of the test.
func listen(t testing.TB, h http.Handler) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func forEach(t *testing.T, suits func(*peer) bool, test func(*testing.T, *peer, *world, string)) {
	for i := range peers {
		p := &peers[i]
		if suits != nil && !suits(p) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			leakcheck.Goroutines(t)
			w := newWorld()
			url := p.serve(t, w)
			t.Cleanup(w.end) // before the server's own cleanup, which waits for calls
			test(t, p, w, url)
		})
	}
}

func listens(p *peer) bool { return p.listens }

// cancels is whether the server hears of it when a caller gives up.
func cancels(p *peer) bool { return p.listens || p.version == mcp.Version20260728 }

func asks(p *peer) bool { return p.asks }
