package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBothWays lists tools with a token that was asked for once.
func TestBothWays(t *testing.T) {
	var tokens, lists atomic.Int32
	server := protectedServer(t, &tokens, &lists)
	require.NoError(t, run(context.Background(), server.URL+"/mcp", "example", "secret"))
	assert.EqualValues(t, 2, lists.Load())
	assert.EqualValues(t, 1, tokens.Load())
}

func protectedServer(t *testing.T, tokens, lists *atomic.Int32) *httptest.Server {
	var base string
	answer := func(w http.ResponseWriter, v any) { assert.NoError(t, json.NewEncoder(w).Encode(v)) }
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"resource": base + "/mcp", "authorization_servers": []string{base}})
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": base, "token_endpoint": base + "/token"})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		assert.Equal(t, "example secret", id+" "+secret)
		tokens.Add(1)
		answer(w, map[string]any{"access_token": "a-token", "token_type": "Bearer", "expires_in": 3600})
	})
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer a-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&m))
		result := map[string]any{"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
		switch m.Method {
		case "server/discover":
			result["supportedVersions"] = []string{"2026-07-28"}
			result["capabilities"] = map[string]any{"tools": map[string]any{}}
		case "tools/list":
			lists.Add(1)
			result["tools"] = []any{}
		}
		w.Header().Set("Content-Type", "application/json")
		answer(w, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	base = server.URL
	return server
}
