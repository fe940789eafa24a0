package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/seed62b61957/mcp/oauth"
)

// startProtectedServer starts an MCP server that is its own authorization server, for the examples. The user is Eve,
// who agrees at once; a client that acts for itself is nightly-report.
func startProtectedServer() *httptest.Server {
	var base, challenge, scope string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, map[string]any{
			"resource": base + "/mcp", "authorization_servers": []string{base}, "scopes_supported": []string{"profile"},
		})
	})
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, map[string]any{
			"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
			"registration_endpoint": base + "/register", "code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("POST /register", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 201, map[string]any{"client_id": "example"})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		challenge, scope = q.Get("code_challenge"), q.Get("scope")
		answer := url.Values{"code": {"a-code"}, "state": {q.Get("state")}}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); r.PostFormValue("grant_type") == "client_credentials" {
			if id != "nightly-report" || secret != "from-the-vault" {
				refuse(w, http.StatusUnauthorized, "invalid_client", "")
				return
			}
			writeJSON(w, 200, map[string]any{"access_token": "a-token", "token_type": "Bearer", "expires_in": 3600})
			return
		}
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if r.PostFormValue("code") != "a-code" || base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
			refuse(w, http.StatusBadRequest, "invalid_grant", "")
			return
		}
		writeJSON(w, 200, map[string]any{"access_token": "a-token", "token_type": "Bearer", "scope": scope})
	})
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer a-token" {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(
				`Bearer scope="profile", resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, base))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		serveExampleMCP(w, r)
	})
	server := httptest.NewServer(mux)
	base = server.URL
	return server
}

// serveExampleMCP has one tool, in revision 2026-07-28.
func serveExampleMCP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	result := map[string]any{"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
	switch m.Method {
	case "server/discover":
		result["supportedVersions"] = []string{"2026-07-28"}
		result["capabilities"] = map[string]any{"tools": map[string]any{}}
	case "tools/list":
		result["tools"] = []any{map[string]any{"name": "whoami", "inputSchema": map[string]any{"type": "object"}}}
	case "tools/call":
		result["content"] = []any{map[string]any{"type": "text", "text": "you are Eve"}}
	}
	writeJSON(w, 200, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

// visitServer is a browser that shows where it is sent to.
func visitServer(authorizationURL string) (location string) {
	resp, err := http.DefaultTransport.RoundTrip(httptest.NewRequest(http.MethodGet, authorizationURL, nil))
	if err != nil {
		return err.Error()
	}
	resp.Body.Close()
	return resp.Header.Get("Location")
}

func saveSignIn(s *oauth.SignIn) []byte {
	data, _ := json.Marshal(s)
	return data
}

func loadSignIn(data []byte) *oauth.SignIn {
	s := new(oauth.SignIn)
	_ = json.Unmarshal(data, s)
	return s
}
