package host_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

func TestTransports(t *testing.T) {
	got := make(map[string]transport.Transport)
	seen := make(chan struct{}, 1)
	seen <- struct{}{}
	h := host.New(host.Options{
		Transport: func(s config.Server, t transport.Transport) (transport.Transport, error) {
			<-seen
			got[s.Name] = t
			seen <- struct{}{}
			return new(mcptest.Server).Transport(), nil
		},
	})
	defer closeHost(t, h)
	require.NoError(t, h.Apply(t.Context(), []config.Server{
		{
			Name: "stdio", Type: config.Stdio, Command: "server", Args: []string{"-x"}, Env: map[string]string{"A": "b"},
			Cwd: "/somewhere",
		},
		{Name: "http", Type: config.HTTP, URL: "https://example.com/mcp", Headers: map[string]string{"x-key": "k"}},
		{
			Name: "sse", Type: config.SSE, URL: "https://example.com/sse",
			Headers: map[string]string{"authorization": "Bearer mine"},
		},
		{Name: "other", Type: "other"},
	}))
	assert.Equal(t, &stdio.Transport{
		Command: "server", Args: []string{"-x"}, Env: map[string]string{"A": "b"}, Dir: "/somewhere",
	}, got["stdio"])
	http := got["http"].(*streamablehttp.Transport)
	assert.Equal(t, "https://example.com/mcp", http.URL)
	assert.Equal(t, "k", http.Header.Get("X-Key"))
	assert.Equal(t, streamablehttp.LegacyAuto, http.LegacySSE)
	assert.NotNil(t, http.Authorizer)
	sse := got["sse"].(*streamablehttp.Transport)
	assert.Equal(t, streamablehttp.LegacyOnly, sse.LegacySSE)
	assert.Nil(t, sse.Authorizer, "it has credentials of its own")
	assert.Nil(t, got["other"])
}
