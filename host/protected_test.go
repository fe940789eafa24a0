package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/seed62b61957/mcp/testing/mcptest"
)

// A guard is a front that needs a sign-in, and its own authorization server, whose user agrees to everything.
type guard struct {
	front front
	url   string

	mu     sync.Mutex
	tokens int    // how many were given
	valid  string // the one that opens the server, "" for none
	narrow string // the method that its scope is too narrow for, "" for none, "*" for all
	deaf   bool   // no token is any good
	// registered is what a client said of itself.
	registered map[string]any
	forms      []url.Values
}

func newGuard(t *testing.T) *guard {
	g := &guard{front: front{server: new(mcptest.Server)}}
	addEcho(g.front.server)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	g.url = server.URL
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{"resource": g.url + "/mcp", "authorization_servers": []string{g.url}})
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{
			"issuer": g.url, "authorization_endpoint": g.url + "/authorize", "token_endpoint": g.url + "/token",
			"registration_endpoint": g.url + "/register", "code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&g.registered)
		reply(w, 201, map[string]any{"client_id": "registered"})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		g.mu.Lock()
		g.forms = append(g.forms, q)
		g.mu.Unlock()
		back := url.Values{"code": {"code"}, "state": {q.Get("state")}}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.tokens++
		g.valid, g.narrow = fmt.Sprint("token", g.tokens), ""
		reply(w, 200, map[string]any{"access_token": g.valid, "token_type": "Bearer", "expires_in": 3600})
	})
	mux.HandleFunc("/mcp", g.serve)
	return g
}

func (g *guard) serve(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	ok := !g.deaf && g.valid != "" && r.Header.Get("Authorization") == "Bearer "+g.valid
	narrow := g.narrow == "*" || g.narrow != "" && r.Header.Get("Mcp-Method") == g.narrow
	g.mu.Unlock()
	metadata := g.url + "/.well-known/oauth-protected-resource/mcp"
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+metadata+`", scope="read"`)
		w.WriteHeader(http.StatusUnauthorized)
	case narrow:
		w.Header().Set("WWW-Authenticate",
			`Bearer error="insufficient_scope", resource_metadata="`+metadata+`", scope="write"`)
		w.WriteHeader(http.StatusForbidden)
	default:
		g.front.ServeHTTP(w, r)
	}
}

// restrict has a method, or all with "*", need more than the token is good for.
func (g *guard) restrict(method string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.narrow = method
}

// revoke makes the token that was given useless.
func (g *guard) revoke() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.valid = ""
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// browse is the user's browser.
func browse(address string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err == nil {
		resp.Body.Close()
	}
	return err
}
