package oauth_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// TestScopesAsked has the order of the specification ("Scope Selection Strategy").
func TestScopesAsked(t *testing.T) {
	for name, c := range map[string]struct {
		challenged, supported, configured []string
		advertised                        any // by the authorization server
		want                              string
	}{
		"challenge":     {challenged: []string{"a", "b"}, supported: []string{"c"}, want: "a b"},
		"metadata":      {supported: []string{"c", "d"}, want: "c d"},
		"none":          {},
		"configuration": {challenged: []string{"a"}, configured: []string{"x"}, want: "x"},
		"offline access": {
			challenged: []string{"a"}, advertised: []string{"offline_access"}, want: "a offline_access",
		},
		"offline access alone":      {advertised: []string{"offline_access"}},
		"offline access not to get": {challenged: []string{"offline_access", "a"}, advertised: []string{"b"}, want: "a"},
		"offline access by the MCP server": {
			challenged: []string{"offline_access", "a"}, want: "offline_access a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.wanted = c.challenged
			f.resource = func(m map[string]any) {
				if c.supported != nil {
					m["scopes_supported"] = c.supported
				}
			}
			f.metadata = func(m map[string]any) { m["scopes_supported"] = c.advertised }
			a := newAuthorizer(t, f, func(o *oauth.Config) { o.Scopes = c.configured })
			requireSignIn(t, f, a)
			signIn(t, f, a)
			q := f.lastQuery()
			assert.Equal(t, c.want, q.Get("scope"))
			assert.Equal(t, c.want != "", q.Has("scope"))
			wantPrompt := ""
			if c.want == "a offline_access" || c.want == "offline_access a" {
				wantPrompt = "consent"
			}
			assert.Equal(t, wantPrompt, q.Get("prompt"))
		})
	}
}

func TestStepUp(t *testing.T) {
	f := newFake(t)
	f.wanted = []string{"read"}
	a := newAuthorizer(t, f, nil)
	requireSignIn(t, f, a)
	signIn(t, f, a)
	requireCall(t, f, a)

	f.wanted = []string{"write"}
	required := requireSignIn(t, f, a)
	assert.True(t, required.StepUp())
	assert.Equal(t, []string{"read", "write"}, required.Scopes)
	signIn(t, f, a)
	assert.Equal(t, "read write", f.lastQuery().Get("scope"), "nothing that was granted is lost")
	requireCall(t, f, a)
}

// TestStepUpGoesBeforeConfiguredScopes: the server's demand is what the call needs.
func TestStepUpGoesBeforeConfiguredScopes(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Scopes = []string{"mine"} })
	signIn(t, f, a)
	f.wanted = []string{"write"}
	requireSignIn(t, f, a)
	signIn(t, f, a)
	assert.Equal(t, "mine write", f.lastQuery().Get("scope"))
	requireCall(t, f, a)
}

func TestStepUpIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFake(t)
		a := newAuthorizer(t, f, nil)
		signIn(t, f, a)
		f.wanted = []string{"admin"}
		f.narrow = true
		for range 2 {
			required := requireSignIn(t, f, a)
			requireSignIn(t, f, a) // calls do not count, tokens do
			assert.Contains(t, required.Scopes, "admin")
			signIn(t, f, a)
		}
		_, err := call(t.Context(), f, a)
		var refused *oauth.RefusedError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, http.StatusForbidden, refused.Status)

		time.Sleep(10*time.Minute + time.Second)
		requireSignIn(t, f, a)
	})
}

func TestAForbiddenCallIsNotAlwaysAboutScopes(t *testing.T) {
	f := newFake(t)
	f.wanted = []string{"read"}
	a := newAuthorizer(t, f, nil)
	requireSignIn(t, f, a)
	signIn(t, f, a)
	for _, challenge := range []string{
		"", `Bearer`, `Bearer error="invalid_request"`, `Basic realm="insufficient_scope"`, `Bearer scope="read"`,
		`Bearer error="", scope="write"`,
	} {
		retry, err := inspectForbidden(t, f, a, challenge)
		assert.NoError(t, err, challenge)
		assert.False(t, retry, challenge)
	}
}

// TestAForbiddenCallThatNamesNoError has a server of the Go SDK, which names the scopes that the call takes.
func TestAForbiddenCallThatNamesNoError(t *testing.T) {
	f := newFake(t)
	f.wanted = []string{"read"}
	a := newAuthorizer(t, f, nil)
	requireSignIn(t, f, a)
	signIn(t, f, a)
	_, err := inspectForbidden(t, f, a, `Bearer resource_metadata="https://x.example/", scope="read write"`)
	var required *oauth.SignInRequiredError
	require.ErrorAs(t, err, &required)
	assert.True(t, required.StepUp())
	assert.Equal(t, []string{"read", "write"}, required.Scopes)
}

func inspectForbidden(t *testing.T, f *fake, a *oauth.Authorizer, challenge string) (retry bool, err error) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, f.url(), nil)
	require.NoError(t, err)
	require.NoError(t, a.Authorize(t.Context(), req, true))
	resp := &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}}
	if challenge != "" {
		resp.Header.Set("WWW-Authenticate", challenge)
	}
	return a.Inspect(t.Context(), req, resp)
}
