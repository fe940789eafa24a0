package oauth_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A fake is a protected MCP server and its authorization server, on sockets of their own. The authorization server is
// strict: what a client must not do is an error of the test as well as of the client. It misbehaves where a hook says
// so.
type fake struct {
	t            *testing.T
	asURL, rsURL string
	http         *http.Client // reaches both

	// Hooks; each may be nil. Those that handle a request report so. They are set before the first request.
	metadata  func(map[string]any)
	resource  func(map[string]any)
	register  func(http.ResponseWriter, *http.Request) bool
	token     func(http.ResponseWriter, *http.Request) bool
	withdraw  func(http.ResponseWriter, *http.Request) bool
	answer    func(map[string]any) // of the token endpoint
	redirect  func(url.Values)     // the authorization response
	challenge func(*http.Request) string

	lifetime time.Duration // of access tokens; 0 is an hour
	keep     bool          // refresh tokens can be used again
	narrow   bool          // no scope is granted, whatever is asked for
	dpop     bool
	nonce    string   // that proofs must have, "" for none
	wanted   []string // scopes that the MCP server wants of a token

	mu       sync.Mutex
	clients  map[string]*fakeClient
	codes    map[string]*fakeGrant
	access   map[string]*fakeGrant
	refresh  map[string]*fakeGrant
	lost     int // refresh tokens that were used twice
	requests map[string]int
	forms    []url.Values // of the token endpoint
	revoked  []string     // tokens that clients have revoked
	queries  []url.Values // of the authorization endpoint
	jtis     map[string]bool
}

type fakeClient struct {
	id, secret, method string
	redirects          []string
	registration       map[string]any
}

type fakeGrant struct {
	client    string
	redirect  string
	challenge string
	scope     string
	expires   time.Time
	key       string // thumbprint
	over      bool   // withdrawn
}

func newFake(t *testing.T) *fake {
	f, as, rs := makeFake(t)
	asServer, rsServer := httptest.NewServer(as), httptest.NewServer(rs)
	t.Cleanup(asServer.Close)
	t.Cleanup(rsServer.Close)
	f.asURL, f.rsURL, f.http = asServer.URL, rsServer.URL, rsServer.Client()
	return f
}

// newTimedFake has no sockets, so that it can live in a bubble of testing/synctest.
func newTimedFake(t *testing.T) *fake {
	f, as, rs := makeFake(t)
	f.asURL, f.rsURL = "http://127.0.0.1:1", "http://127.0.0.1:2"
	f.http = &http.Client{Transport: direct{"127.0.0.1:1": as, "127.0.0.1:2": rs, "127.0.0.1:3": as}}
	return f
}

// moveServer moves the authorization server to another origin. The old one is gone, but for a proxy.
func (f *fake) moveServer() {
	f.asURL = "http://127.0.0.1:3"
	f.token = func(w http.ResponseWriter, r *http.Request) bool {
		if gone := r.Host != "127.0.0.1:3"; gone {
			http.Error(w, "<html>", http.StatusNotFound)
			return true
		}
		return false
	}
}

// direct calls handlers, by host.
type direct map[string]http.Handler

func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	served := req.Clone(req.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	d[req.URL.Host].ServeHTTP(w, served)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func makeFake(t *testing.T) (f *fake, as, rs http.Handler) {
	f = &fake{
		t:       t,
		clients: map[string]*fakeClient{},
		codes:   map[string]*fakeGrant{}, access: map[string]*fakeGrant{}, refresh: map[string]*fakeGrant{},
		requests: map[string]int{}, jtis: map[string]bool{},
	}
	asMux, rsMux := http.NewServeMux(), http.NewServeMux()
	asMux.HandleFunc("GET /.well-known/oauth-authorization-server", f.serveMetadata)
	asMux.HandleFunc("POST /register", f.serveRegister)
	asMux.HandleFunc("GET /authorize", f.serveAuthorize)
	asMux.HandleFunc("POST /token", f.serveToken)
	asMux.HandleFunc("POST /revoke", f.serveRevoke)
	rsMux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", f.serveResource)
	rsMux.HandleFunc("/mcp", f.serveMCP)
	return f, f.count(asMux), rsMux
}

func (f *fake) url() string { return f.rsURL + "/mcp" }

func (f *fake) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests[r.URL.Path]++
		f.mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

// seen is how many requests a path of the authorization server had.
func (f *fake) seen(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[path]
}

func (f *fake) lastForm() url.Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.forms[len(f.forms)-1]
}

func (f *fake) lastQuery() url.Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.queries[len(f.queries)-1]
}

// revoke withdraws all access tokens.
func (f *fake) revoke() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.access {
		g.over = true
	}
}

func (f *fake) lostGrants() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, code, why string) {
	writeJSON(w, status, map[string]any{"error": code, "error_description": why})
}

func (f *fake) serveMetadata(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{
		"issuer":                                         f.asURL,
		"authorization_endpoint":                         f.asURL + "/authorize",
		"token_endpoint":                                 f.asURL + "/token",
		"registration_endpoint":                          f.asURL + "/register",
		"revocation_endpoint":                            f.asURL + "/revoke",
		"response_types_supported":                       []string{"code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic", "client_secret_post"},
		"authorization_response_iss_parameter_supported": true,
	}
	if f.dpop {
		m["dpop_signing_alg_values_supported"] = []string{"ES256"}
	}
	if f.metadata != nil {
		f.metadata(m)
	}
	writeJSON(w, http.StatusOK, m)
}

func (f *fake) serveResource(w http.ResponseWriter, _ *http.Request) {
	m := map[string]any{"resource": f.url(), "authorization_servers": []string{f.asURL}}
	if f.resource != nil {
		f.resource(m)
	}
	writeJSON(w, http.StatusOK, m)
}

func (f *fake) serveRegister(w http.ResponseWriter, r *http.Request) {
	if f.register != nil && f.register(w, r) {
		return
	}
	var m map[string]any
	if !assert.NoError(f.t, json.NewDecoder(r.Body).Decode(&m)) {
		return
	}
	c := &fakeClient{id: unique("client"), registration: m}
	c.method, _ = m["token_endpoint_auth_method"].(string)
	for _, u := range m["redirect_uris"].([]any) {
		c.redirects = append(c.redirects, u.(string))
	}
	answer := map[string]any{"client_id": c.id, "token_endpoint_auth_method": c.method}
	if c.method != "none" {
		c.secret = unique("secret")
		answer["client_secret"] = c.secret
	}
	f.addClient(c)
	writeJSON(w, http.StatusCreated, answer)
}

func (f *fake) addClient(c *fakeClient) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clients[c.id] = c
}

func (f *fake) client(id string) *fakeClient {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clients[id]
}

// serveAuthorize is the page on which the user consents, at once.
func (f *fake) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	client := f.client(q.Get("client_id"))
	if !assert.NotNil(f.t, client, "authorize: unknown client") {
		http.Error(w, "unknown client", http.StatusBadRequest)
		return
	}
	assert.Contains(f.t, client.redirects, q.Get("redirect_uri"))
	if registered, ok := client.registration["scope"].(string); ok {
		assert.Empty(f.t, missingScope(strings.Fields(q.Get("scope")), registered), "more than it was registered with")
	}
	assert.Equal(f.t, "code", q.Get("response_type"))
	assert.Equal(f.t, "S256", q.Get("code_challenge_method"))
	assert.Len(f.t, q.Get("code_challenge"), 43)
	assert.Equal(f.t, f.url(), q.Get("resource"))
	assert.NotEmpty(f.t, q.Get("state"))

	code := unique("code")
	f.mu.Lock()
	f.queries = append(f.queries, q)
	f.codes[code] = &fakeGrant{
		client: client.id, redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), scope: q.Get("scope"),
	}
	f.mu.Unlock()

	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {f.asURL}}
	if f.redirect != nil {
		f.redirect(answer)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

func (f *fake) serveToken(w http.ResponseWriter, r *http.Request) {
	assert.NoError(f.t, r.ParseForm())
	f.mu.Lock()
	f.forms = append(f.forms, r.PostForm)
	f.mu.Unlock()
	if f.token != nil && f.token(w, r) {
		return
	}
	assert.Equal(f.t, f.url(), r.PostForm.Get("resource"))
	client := f.authenticate(w, r)
	if client == nil {
		return
	}
	key, ok := "", true
	if f.dpop {
		if key, ok = f.proof(w, r, f.asURL+"/token", ""); !ok {
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	g, why := f.granted(client, r.PostForm, key)
	if g == nil {
		refuse(w, http.StatusBadRequest, "invalid_grant", why)
		return
	}
	writeJSON(w, http.StatusOK, f.issue(g, client))
}

// granted finds what the request has a right to.
func (f *fake) granted(client *fakeClient, form url.Values, key string) (*fakeGrant, string) {
	switch form.Get("grant_type") {
	case "authorization_code":
		g := f.codes[form.Get("code")]
		delete(f.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		switch {
		case g == nil || g.client != client.id:
			return nil, "no such code: " + form.Get("code")
		case g.redirect != form.Get("redirect_uri"):
			return nil, "another redirect_uri"
		case g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
			return nil, "PKCE"
		}
		return &fakeGrant{client: client.id, scope: g.scope, key: key}, ""
	case "refresh_token":
		g := f.refresh[form.Get("refresh_token")]
		if g == nil || g.client != client.id || g.key != key {
			return nil, "no such refresh token: " + form.Get("refresh_token")
		}
		if g.over {
			f.lost++ // a token that was used up: somebody has stolen it, or lost the new one
			return nil, "the refresh token was used twice"
		}
		g.over = !f.keep
		return &fakeGrant{client: client.id, scope: g.scope, key: key}, ""
	case "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer":
		return &fakeGrant{client: client.id, scope: form.Get("scope"), key: key}, ""
	}
	return nil, "grant type"
}

func (f *fake) issue(g *fakeGrant, client *fakeClient) map[string]any {
	lifetime := f.lifetime
	if lifetime == 0 {
		lifetime = time.Hour
	}
	g.expires = time.Now().Add(lifetime)
	if f.narrow {
		g.scope = ""
	}
	access, refresh := unique("access"), unique("refresh")
	f.access[access], f.refresh[refresh] = g, &fakeGrant{client: client.id, scope: g.scope, key: g.key}
	answer := map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": int(lifetime.Seconds()), "refresh_token": refresh,
	}
	if g.key != "" {
		answer["token_type"] = "DPoP"
	}
	if g.scope != "" {
		answer["scope"] = g.scope
	}
	if f.answer != nil {
		f.answer(answer)
	}
	return answer
}

func (f *fake) serveRevoke(w http.ResponseWriter, r *http.Request) {
	assert.NoError(f.t, r.ParseForm())
	if f.withdraw != nil && f.withdraw(w, r) {
		return
	}
	client := f.authenticate(w, r)
	if client == nil {
		return
	}
	token, grants := r.PostForm.Get("token"), f.access
	if r.PostForm.Get("token_type_hint") == "refresh_token" {
		grants = f.refresh
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := grants[token]; assert.NotNil(f.t, g, "no such token") && assert.Equal(f.t, client.id, g.client) {
		g.over = true
		f.revoked = append(f.revoked, token)
	}
}

// authenticate takes the method that the client was registered with, and no other.
func (f *fake) authenticate(w http.ResponseWriter, r *http.Request) *fakeClient {
	id, secret, basic := r.BasicAuth()
	id, _ = url.QueryUnescape(id)
	secret, _ = url.QueryUnescape(secret)
	method := "client_secret_basic"
	switch form := r.PostForm; {
	case basic:
	case form.Has("client_assertion"):
		assert.Equal(f.t, "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", form.Get("client_assertion_type"))
		id, method = fmt.Sprint(decodeJWT(f.t, form.Get("client_assertion")).claims["sub"]), "private_key_jwt"
	case form.Has("client_secret"):
		id, secret, method = form.Get("client_id"), form.Get("client_secret"), "client_secret_post"
	default:
		id, secret, method = form.Get("client_id"), "", "none"
	}
	c := f.client(id)
	if c == nil || c.method != method || c.secret != secret {
		refuse(w, http.StatusUnauthorized, "invalid_client", "client "+id+" by "+method+" with "+secret)
		return nil
	}
	return c
}

// serveMCP is the protected resource; it knows nothing of MCP.
func (f *fake) serveMCP(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	f.mu.Lock()
	g := f.access[token]
	valid := g != nil && !g.over && time.Now().Before(g.expires)
	f.mu.Unlock()
	metadata := fmt.Sprintf("resource_metadata=%q", f.rsURL+"/.well-known/oauth-protected-resource/mcp")
	want := "Bearer"
	if f.dpop {
		want = "DPoP"
	}
	if f.challenge != nil {
		if c := f.challenge(r); c != "" {
			w.Header().Set("WWW-Authenticate", c)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	if !valid || scheme != want {
		if scope := strings.Join(f.wanted, " "); scope != "" {
			metadata += fmt.Sprintf(", scope=%q", scope)
		}
		w.Header().Set("WWW-Authenticate", want+" "+metadata)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if f.dpop {
		if key, ok := f.proof(w, r, f.url(), token); !ok || !assert.Equal(f.t, g.key, key) {
			return
		}
	}
	if missing := missingScope(f.wanted, g.scope); missing != "" {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, %s`, missing, metadata))
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func missingScope(wanted []string, granted string) string {
	has := strings.Fields(granted)
	return strings.Join(slices.DeleteFunc(slices.Clone(wanted), func(s string) bool {
		return slices.Contains(has, s)
	}), " ")
}

func unique(kind string) string {
	return kind + "-" + strings.ToLower(rand.Text()) // letters and digits, which no text has by chance
}
