package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/host"
)

// A server that wants a sign-in holds up nobody, and neither does a user who does not sign in.
func TestSignInIsShown(t *testing.T) {
	front := guarded(t)
	path := filepath.Join(t.TempDir(), "mcp.json")
	writeConfig(t, path, map[string]any{
		"kitchen": entry(t, "kitchen"),
		"private": map[string]any{"url": front + "/mcp"},
	})
	p := start(t, "-config", path)
	said := p.until("kitchen: ready, 2 tools\n", "\nyou> ", "To sign in to private, open "+front+"/authorize?")
	assert.Contains(t, said, "private: needs-sign-in")
	p.enter("hello")
	p.until("<- kitchen/recipes: onion soup")
	p.end(0)
	assert.Empty(t, p.stderr.String())
}

func TestServerLine(t *testing.T) {
	why := errors.New("no such page")
	for want, s := range map[string]host.ServerStatus{
		"a: ready, 3 tools":               {State: host.Ready, Tools: 3},
		"a: ready, 3 tools: no such page": {State: host.Ready, Tools: 3, ListErr: why},
		"a: reconnecting: no such page":   {State: host.Reconnecting, Err: why, ListErr: why},
		"a: stopped":                      {State: host.Stopped},
	} {
		s.Name = "a"
		assert.Equal(t, want, serverLine(s))
	}
}

// guarded is a server that lets nobody in who has not signed in, with an authorization server.
func guarded(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	write := func(path string, v any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if path == "POST /register" {
				w.WriteHeader(http.StatusCreated)
			}
			_ = json.NewEncoder(w).Encode(v)
		})
	}
	write("GET /.well-known/oauth-protected-resource/mcp", map[string]any{
		"resource": server.URL + "/mcp", "authorization_servers": []string{server.URL},
	})
	write("GET /.well-known/oauth-authorization-server", map[string]any{
		"issuer": server.URL, "authorization_endpoint": server.URL + "/authorize", "token_endpoint": server.URL + "/token",
		"registration_endpoint": server.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
	})
	write("POST /register", map[string]any{"client_id": "registered"})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate",
			fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, server.URL))
		w.WriteHeader(http.StatusUnauthorized)
	})
	return server.URL
}
