package oauth_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

func TestAClientIsRegisteredOnce(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, nil)
	first := signIn(t, f, a)
	again := func(o *oauth.SignInOptions) *oauth.SignIn {
		o.Force = true
		s, err := a.StartSignIn(t.Context(), o)
		require.NoError(t, err)
		return s
	}
	assert.Equal(t, first.ClientID, again(&oauth.SignInOptions{}).ClientID)
	assert.Equal(t, 1, f.seen("/register"))

	other := again(&oauth.SignInOptions{RedirectURL: "http://127.0.0.1:8888/callback"})
	assert.NotEqual(t, first.ClientID, other.ClientID, "not every server lets the port differ")
	assert.Equal(t, 2, f.seen("/register"))
}

// TestEachSignInHasItsOwnClient begins two sign-ins with a registration each: the second takes nothing from the first,
// nor from what the user has granted before.
func TestEachSignInHasItsOwnClient(t *testing.T) {
	f := newFake(t)
	f.metadata = func(m map[string]any) {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	store := oauth.NewMemoryStore()
	shared := func(c *oauth.Config) { c.Store = store }
	a, b := newAuthorizer(t, f, shared), newAuthorizer(t, f, shared)
	start := func(a *oauth.Authorizer, redirectURL string) *oauth.SignIn {
		s, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{RedirectURL: redirectURL, Force: true})
		require.NoError(t, err)
		return overTheWire(t, s)
	}
	first, second := start(a, "http://127.0.0.1:8001/cb"), start(b, "http://127.0.0.1:8002/cb")
	require.NotEqual(t, first.ClientID, second.ClientID)
	require.NoError(t, a.CompleteSignIn(t.Context(), first, consent(t, f, first)))
	f.revoke()
	requireCall(t, f, a)

	require.NoError(t, b.CompleteSignIn(t.Context(), second, consent(t, f, second)))
	start(b, "http://127.0.0.1:8003/cb") // which nobody completes
	f.revoke()
	requireCall(t, f, b)
}

func TestApplicationTypeFollowsTheRedirectURL(t *testing.T) {
	for redirect, want := range map[string]string{
		"http://127.0.0.1:7777/cb":     "native",
		"http://localhost/cb":          "native",
		"http://[::1]:1/cb":            "native",
		"https://localhost:7777/cb":    "native",
		"com.example.app:/cb":          "native",
		"https://app.example.com/back": "web",
	} {
		f := newFake(t)
		s, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), &oauth.SignInOptions{RedirectURL: redirect})
		require.NoError(t, err)
		assert.Equal(t, want, f.client(s.ClientID).registration["application_type"], redirect)
	}
}

func TestRegistrationAnsweredByOtherMeans(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer map[string]any
		method string
	}{
		"200": {status: 200, answer: map[string]any{"client_id": "c1"}, method: "none"},
		"secret of its own": {status: 201, method: "client_secret_basic",
			answer: map[string]any{"client_id": "c1", "client_secret": "s-e-c-r-e-t"}},
		"null and numbers": {status: 201, method: "none",
			answer: map[string]any{"client_id": "c1", "client_secret": nil, "client_secret_expires_at": 0}},
		"secret that is empty": {status: 201, method: "none", answer: map[string]any{
			"client_id": "c1", "client_secret": "", "token_endpoint_auth_method": "client_secret_basic",
		}},
		"end in milliseconds": {status: 201, method: "none", answer: map[string]any{
			"client_id": "c1", "client_secret_expires_at": time.Now().Add(time.Hour).UnixMilli(),
		}},
		"post": {status: 201, method: "client_secret_post", answer: map[string]any{
			"client_id": "c1", "client_secret": "s-e-c-r-e-t", "token_endpoint_auth_method": "client_secret_post",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.register = func(w http.ResponseWriter, _ *http.Request) bool {
				secret, _ := c.answer["client_secret"].(string)
				f.addClient(&fakeClient{id: "c1", secret: secret, method: c.method, redirects: []string{redirectURL}})
				writeJSON(w, c.status, c.answer)
				return true
			}
			a := newAuthorizer(t, f, nil)
			signIn(t, f, a)
			requireCall(t, f, a)
		})
	}
}

func TestRegistrationRefused(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   oauth.RegistrationError
	}{
		"500 without a word": {500, "", oauth.RegistrationError{Status: 500}},
		"401":                {401, "<html>who are you", oauth.RegistrationError{Status: 401}},
		"400": {400, `{"error":"invalid_redirect_uri","error_description":"http is\nnot for us"}`,
			oauth.RegistrationError{Status: 400, Code: "invalid_redirect_uri", Excerpt: "http is not for us"}},
		"text": {403, "ask your administrator", oauth.RegistrationError{Status: 403, Excerpt: "ask your administrator"}},
		"cut off": {201, `{"client_id":"c1","client_secret":"very-secret"`,
			oauth.RegistrationError{Status: 201, Excerpt: "there is no client id in the answer"}},
		"no id": {201, `{"client_id":null}`,
			oauth.RegistrationError{Status: 201, Excerpt: "there is no client id in the answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.register = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
				return true
			}
			_, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), nil)
			var got *oauth.RegistrationError
			require.ErrorAs(t, err, &got)
			c.want.Issuer = f.asURL
			assert.Equal(t, c.want, *got)
			assert.ErrorContains(t, err, "configured client id")
		})
	}
	t.Run("no endpoint", func(t *testing.T) {
		f := newFake(t)
		f.metadata = func(m map[string]any) { delete(m, "registration_endpoint") }
		_, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), nil)
		var got *oauth.RegistrationError
		require.ErrorAs(t, err, &got)
		assert.Equal(t, oauth.RegistrationError{Issuer: f.asURL}, *got)
		assert.ErrorContains(t, err, "configure a client id")
	})
}

func TestRegistrationForbidden(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	before := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	signIn(t, f, before)
	requireCall(t, f, before)
	f.revoke()
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store, c.NoRegistration = store, true })
	requireCall(t, f, a) // its tokens are good

	_, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Force: true})
	var got *oauth.RegistrationError
	require.ErrorAs(t, err, &got)
	assert.Equal(t, oauth.RegistrationError{Issuer: f.asURL, Forbidden: true}, *got)
	assert.ErrorContains(t, err, "Config.NoRegistration forbids it")
	assert.Equal(t, 1, f.seen("/register"))

	f.addClient(&fakeClient{id: "mine", method: "none", redirects: []string{redirectURL}})
	b := newAuthorizer(t, f, func(c *oauth.Config) {
		c.Client, c.NoRegistration = &oauth.Client{ID: "mine"}, true
	})
	signIn(t, f, b)
	requireCall(t, f, b)
}

func TestMetadataDocumentGoesBeforeRegistration(t *testing.T) {
	const id = "https://app.example.com/client.json"
	published := func(c *oauth.Config) { c.ClientIDMetadataURL = id }
	f := newFake(t)
	f.metadata = func(m map[string]any) { m["client_id_metadata_document_supported"] = true }
	f.addClient(&fakeClient{id: id, method: "none", redirects: []string{redirectURL}})
	a := newAuthorizer(t, f, published)
	assert.Equal(t, id, signIn(t, f, a).ClientID)
	requireCall(t, f, a)
	f.revoke()
	requireCall(t, f, a)
	assert.Zero(t, f.seen("/register"))

	f = newFake(t)
	assert.NotEqual(t, id, signIn(t, f, newAuthorizer(t, f, published)).ClientID, "not everybody takes it")
}

func TestAClientBelongsToItsIssuer(t *testing.T) {
	for name, issuer := range map[string]string{"named": "", "the first": "first"} {
		t.Run(name, func(t *testing.T) {
			f, other := newFake(t), newFake(t)
			client := &oauth.Client{ID: "mine", Secret: "only for the first"}
			if issuer == "" {
				client.Issuer = f.asURL
			}
			f.addClient(&fakeClient{id: client.ID, secret: client.Secret, method: "client_secret_basic",
				redirects: []string{redirectURL}})
			a := newAuthorizer(t, f, func(c *oauth.Config) { c.Client = client })
			signIn(t, f, a)
			requireCall(t, f, a)

			f.resource = func(m map[string]any) { m["authorization_servers"] = []string{other.asURL} }
			_, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Force: true})
			var mismatch *oauth.IssuerError
			require.ErrorAs(t, err, &mismatch)
			assert.Equal(t, oauth.IssuerError{Expected: f.asURL, Got: other.asURL}, *mismatch)
		})
	}
}

// TestAnotherAuthorizationServer moves the MCP server to another one: nothing of the first goes there.
func TestAnotherAuthorizationServer(t *testing.T) {
	f, other := newFake(t), newFake(t)
	a := newAuthorizer(t, f, nil)
	first := signIn(t, f, a)
	requireCall(t, f, a)
	f.revoke()
	f.token = func(w http.ResponseWriter, _ *http.Request) bool {
		refuse(w, http.StatusBadRequest, "invalid_grant", "")
		return true
	}
	f.resource = func(m map[string]any) { m["authorization_servers"] = []string{other.asURL} }
	requireSignIn(t, f, a)
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, other.asURL, s.Issuer)
	assert.NotEqual(t, first.ClientID, s.ClientID)
	assert.Equal(t, 1, other.seen("/register"))
}

// TestAForgottenRegistration has an authorization server that keeps its clients in memory, and was started anew.
func TestAForgottenRegistration(t *testing.T) {
	f := newFake(t)
	f.metadata = func(m map[string]any) {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	a := newAuthorizer(t, f, nil)
	first := signIn(t, f, a)
	requireCall(t, f, a)
	f.revoke()
	f.mu.Lock()
	delete(f.clients, first.ClientID)
	f.mu.Unlock()

	requireSignIn(t, f, a)
	assert.NotEqual(t, first.ClientID, signIn(t, f, a).ClientID)
	requireCall(t, f, a)
}

func TestAForgottenRegistrationDuringASignIn(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, nil)
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	response := consent(t, f, s)
	f.mu.Lock()
	delete(f.clients, s.ClientID)
	f.mu.Unlock()
	err = a.CompleteSignIn(t.Context(), s, response)
	var e *oauth.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "invalid_client", e.Code)
	signIn(t, f, a)
	requireCall(t, f, a)
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]oauth.Config{
		"no server":                 {},
		"server without a scheme":   {Server: "example.com/mcp"},
		"server with a space":       {Server: "https://example.com/ https://example.org/mcp"},
		"metadata URL: http":        {ClientIDMetadataURL: "http://example.com/client.json"},
		"metadata URL: no path":     {ClientIDMetadataURL: "https://example.com/"},
		"metadata URL: fragment":    {ClientIDMetadataURL: "https://example.com/c#"},
		"metadata URL: dots":        {ClientIDMetadataURL: "https://example.com/../c"},
		"metadata URL: user":        {ClientIDMetadataURL: "https://u@example.com/c"},
		"redirect URL: in the open": {RedirectURL: "http://example.com/callback"},
		"redirect URL: fragment":    {RedirectURL: "https://example.com/callback#x"},
		"redirect URL: relative":    {RedirectURL: "/callback"},
		"client without an id":      {Client: &oauth.Client{Secret: "x"}},
		"client: no such method":    {Client: &oauth.Client{ID: "x", AuthMethod: "magic"}},
		"client: no secret":         {Client: &oauth.Client{ID: "x", AuthMethod: "client_secret_post"}},
		"client: no key":            {Client: &oauth.Client{ID: "x", AuthMethod: "private_key_jwt"}},
		"client: issuer":            {Client: &oauth.Client{ID: "x", Issuer: "as.example.com"}},
		"credentials: none":         {Grant: oauth.ClientCredentials{}},
		"credentials: no secret":    {Grant: oauth.ClientCredentials{}, Client: &oauth.Client{ID: "x"}},
		"workload: no assertion":    {Grant: oauth.WorkloadIdentity{}},
		"enterprise: no subject":    {Grant: oauth.EnterpriseManaged{Issuer: "https://idp"}, Client: &oauth.Client{ID: "x"}},
		"enterprise: no provider": {Client: &oauth.Client{ID: "x"}, Grant: oauth.EnterpriseManaged{
			Client: oauth.Client{ID: "x"}, Subject: func(context.Context) (string, error) { return "", nil },
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "no server" && c.Server == "" {
				c.Server = "https://example.com/mcp"
			}
			_, err := oauth.New(c)
			require.Error(t, err)
			assert.Regexp(t, "^oauth: ", err)
		})
	}
}

func TestNothingIsAskedWithoutARedirectURL(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.RedirectURL = "" })
	_, err := a.StartSignIn(t.Context(), nil)
	assert.ErrorContains(t, err, "redirect URL")
	_, err = a.StartSignIn(t.Context(), &oauth.SignInOptions{RedirectURL: "http://example.com/", Params: url.Values{}})
	assert.ErrorContains(t, err, "loopback")
	assert.Zero(t, f.seen("/register"))
}
