package oauthinterop

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Scopes of the server: each tool needs the one of its name as well as the first.
const (
	scopeTools = "mcp:tools"
	scopeAdmin = "mcp:admin"
)

const metadataPath = "/.well-known/oauth-protected-resource/mcp"

// A world is an MCP server of the Go SDK, protected by its package auth, and the authorization server that it trusts.
// It asks that one about each token each time, so that what is revoked is refused at once, unless it remembers.
type world struct {
	provider  *provider
	url       string // of the MCP server
	http      *http.Client
	remembers atomic.Bool
	known     sync.Map                        // *auth.TokenInfo by token
	guard     func(http.Handler) http.Handler // before the SDK's, nil for none
}

// newWorld starts both. The options of the provider need neither resource nor scopes.
func newWorld(t *testing.T, o providerOptions) *world {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w := &world{url: server.URL + "/mcp", http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
	t.Cleanup(w.http.CloseIdleConnections)
	o.Resource, o.Scopes = w.url, []string{scopeTools, scopeAdmin}
	w.provider = startProvider(t, o)
	mux.Handle(metadataPath, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource:             w.url,
		AuthorizationServers: []string{w.provider.issuer},
		ScopesSupported:      []string{scopeTools},
	}))
	mux.Handle("/mcp", w.protect(newTools()))
	return w
}

// newTools is a server with a tool that says who the user is, and one for administrators.
func newTools() http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "protected", Version: "1"}, nil)
	for _, name := range []string{"whoami", "admin"} {
		tool := &sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}
		server.AddTool(tool, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			user := r.Extra.TokenInfo.UserID
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "you are " + user}}}, nil
		})
	}
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// protect asks for a scope, and for another one where a call is one of an administrator.
func (w *world) protect(tools http.Handler) http.Handler {
	require := func(scopes ...string) http.Handler {
		return auth.RequireBearerToken(w.verify, &auth.RequireBearerTokenOptions{
			ResourceMetadataURL: w.metadataURL(),
			Scopes:              scopes,
		})(tools)
	}
	all, admin := require(scopeTools), require(scopeTools, scopeAdmin)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		handler := all
		if r.Header.Get("Mcp-Name") == "admin" {
			handler = admin
		}
		if w.guard != nil {
			handler = w.guard(handler)
		}
		handler.ServeHTTP(rw, r)
	})
}

func (w *world) metadataURL() string { return strings.TrimSuffix(w.url, "/mcp") + metadataPath }

// introspection is the answer about a token (RFC 7662, section 2.2).
type introspection struct {
	Active  bool   `json:"active"`
	Scope   string `json:"scope"`
	Subject string `json:"sub"`
	Client  string `json:"client_id"`
	Expires int64  `json:"exp"`
	Key     struct {
		Thumbprint string `json:"jkt"`
	} `json:"cnf"`
	Audience string `json:"aud"`
}

func (w *world) introspect(ctx context.Context, token string) (*introspection, error) {
	form := url.Values{"token": {token}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.provider.issuer+"/token/introspection",
		strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth("resource-server", w.provider.secret)
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var info introspection
	if err := json.NewDecoder(resp.Body).Decode(&info); err != nil {
		return nil, err
	}
	if !info.Active || info.Audience != w.url {
		return nil, auth.ErrInvalidToken
	}
	return &info, nil
}

func (w *world) verify(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	if known, ok := w.known.Load(token); ok {
		return known.(*auth.TokenInfo), nil
	}
	info, err := w.introspect(ctx, token)
	if err != nil {
		return nil, err
	}
	user := info.Subject
	if user == "" {
		user = info.Client
	}
	found := &auth.TokenInfo{
		Scopes:     strings.Fields(info.Scope),
		Expiration: time.Unix(info.Expires, 0),
		UserID:     user,
	}
	if w.remembers.Load() {
		w.known.Store(token, found)
	}
	return found, nil
}
