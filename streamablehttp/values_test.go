package streamablehttp_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
)

// A RoundTripper may take anything from the context of a request: a trace, or somebody's credentials.
func TestEveryRequestHasTheValuesOfAContext(t *testing.T) {
	type key struct{}
	f := newFake(t)
	f.on("GET", func(a *arrival) { a.stream(); a.linger() })
	f.on("DELETE", func(a *arrival) {})
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	old := newLegacyFake(t)
	for name, tr := range map[string]*streamablehttp.Transport{
		"streamable HTTP":    {URL: f.url},
		"HTTP+SSE":           {URL: old.url},
		"HTTP+SSE, expected": {URL: old.url, LegacySSE: streamablehttp.LegacyOnly},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			seen := make(map[string]any) // by the method of the request
			tr.Client = &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				seen[req.Method] = req.Context().Value(key{})
				return http.DefaultTransport.RoundTrip(req)
			})}
			defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "opener"))
			client, err := mcp.Connect(ctx, tr, legacy)
			require.NoError(t, err)
			cancel()
			_, err = client.Request(context.WithValue(t.Context(), key{}, "caller"), "work", nil)
			require.NoError(t, err, "the end of the context is not the connection's")
			require.NoError(t, client.Close())
			want := map[string]any{"POST": "caller", "GET": "opener", "DELETE": "opener"}
			if tr.URL == old.url {
				delete(want, "DELETE")
			}
			assert.Equal(t, want, seen)
		})
	}
}
