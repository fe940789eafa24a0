package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

func TestSignIn(t *testing.T) {
	f := newFake(t)
	f.wanted = []string{"read"}
	a := newAuthorizer(t, f, nil)

	required := requireSignIn(t, f, a)
	assert.Equal(t, http.StatusUnauthorized, required.Status)
	assert.Equal(t, []string{"read"}, required.Scopes)
	s := signIn(t, f, a)
	requireCall(t, f, a)

	assert.Equal(t, "read", f.lastQuery().Get("scope"))
	assert.Equal(t, f.asURL, s.Issuer)
	client := f.client(s.ClientID)
	assert.Equal(t, "native", client.registration["application_type"])
	assert.Equal(t, []any{"authorization_code", "refresh_token"}, client.registration["grant_types"])
	assert.Equal(t, "none", client.registration["token_endpoint_auth_method"])
}

// TestSignInInAnotherProcess is a web application: each request may be served by another process.
func TestSignInInAnotherProcess(t *testing.T) {
	f := newFake(t)
	f.metadata = func(m map[string]any) {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"} // the secret is in the store
	}
	store := oauth.NewMemoryStore()
	shared := func(c *oauth.Config) { c.Store = store }
	required := requireSignIn(t, f, newAuthorizer(t, f, shared))

	s, err := newAuthorizer(t, f, shared).StartSignIn(t.Context(), &oauth.SignInOptions{Required: required})
	require.NoError(t, err)
	kept, err := json.Marshal(s)
	require.NoError(t, err)
	var back oauth.SignIn
	require.NoError(t, json.Unmarshal(kept, &back))
	assert.Equal(t, *s, back)

	a := newAuthorizer(t, f, shared)
	require.NoError(t, a.CompleteSignIn(t.Context(), &back, consent(t, f, &back)))
	requireCall(t, f, a)
	requireCall(t, f, newAuthorizer(t, f, shared))
}

func TestSignInElsewhereEndsTheNeedForOne(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	shared := func(c *oauth.Config) { c.Store = store }
	a, b := newAuthorizer(t, f, shared), newAuthorizer(t, f, shared)
	requireSignIn(t, f, a)
	requireSignIn(t, f, b)
	signIn(t, f, b)

	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	assert.True(t, s.Done(), "somebody has signed in meanwhile")
	requireCall(t, f, a)
}

func TestStartSignInRefreshesFirst(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, nil)
	signIn(t, f, a)
	f.revoke()

	s, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	assert.False(t, s.Done(), "another store, nothing to refresh")

	s, err = a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	assert.True(t, s.Done(), "the token is not known to be refused")
	requireCall(t, f, a) // which refreshes it
	assert.Equal(t, "refresh_token", f.lastForm().Get("grant_type"))

	s, err = a.StartSignIn(t.Context(), &oauth.SignInOptions{Force: true})
	require.NoError(t, err)
	assert.False(t, s.Done())
}

func TestWhatAnAnswerMustBe(t *testing.T) {
	for name, c := range map[string]struct {
		unadvertised bool // no promise of an iss
		change       func(url.Values)
		check        func(*testing.T, error)
	}{
		"iss of another server": {
			change: func(q url.Values) { q.Set("iss", "https://evil.example") },
			check:  isIssuerError("https://evil.example"),
		},
		"iss with a slash more": { // field case 131
			change: func(q url.Values) { q.Set("iss", q.Get("iss")+"/") },
			check: func(t *testing.T, err error) {
				var wrong *oauth.IssuerError
				require.ErrorAs(t, err, &wrong)
				assert.Equal(t, wrong.Expected+"/", wrong.Got)
			},
		},
		"iss promised and not given": {
			change: func(q url.Values) { q.Del("iss") },
			check:  isIssuerError(""),
		},
		"iss of another server, not promised": {
			unadvertised: true,
			change:       func(q url.Values) { q.Set("iss", "https://evil.example") },
			check:        isIssuerError("https://evil.example"),
		},
		"error of another server is not shown": {
			change: func(q url.Values) {
				q.Set("iss", "https://evil.example")
				q.Set("error", "access_denied")
				q.Set("error_description", "call 555-0100")
			},
			check: func(t *testing.T, err error) {
				isIssuerError("https://evil.example")(t, err)
				assert.NotErrorIs(t, err, oauth.ErrSignInCancelled)
				assert.NotContains(t, err.Error(), "555")
			},
		},
		"state of another sign-in": {
			change: func(q url.Values) { q.Set("state", "other") },
			check:  func(t *testing.T, err error) { assert.ErrorIs(t, err, oauth.ErrWrongState) },
		},
		"no state": {
			change: func(q url.Values) { q.Del("state") },
			check:  func(t *testing.T, err error) { assert.ErrorIs(t, err, oauth.ErrWrongState) },
		},
		"denied": {
			change: func(q url.Values) {
				q.Del("code")
				q.Set("error", "access_denied")
				q.Set("error_description", "the user\nsaid no")
			},
			check: func(t *testing.T, err error) {
				assert.ErrorIs(t, err, oauth.ErrSignInCancelled)
				var e *oauth.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, oauth.Error{Code: "access_denied", Description: "the user said no"}, *e)
			},
		},
		"another error": {
			change: func(q url.Values) { q.Set("error", "invalid_scope") },
			check: func(t *testing.T, err error) {
				assert.NotErrorIs(t, err, oauth.ErrSignInCancelled)
				assert.EqualError(t, err, "oauth: the authorization server answered invalid_scope")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.redirect = c.change
			if c.unadvertised {
				f.metadata = func(m map[string]any) { delete(m, "authorization_response_iss_parameter_supported") }
			}
			a := newAuthorizer(t, f, nil)
			s, err := a.StartSignIn(t.Context(), nil)
			require.NoError(t, err)
			err = a.CompleteSignIn(t.Context(), s, consent(t, f, s))
			require.Error(t, err)
			c.check(t, err)
			assert.Zero(t, f.seen("/token"), "the code must not be used")
		})
	}
}

func isIssuerError(got string) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		var e *oauth.IssuerError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, got, e.Got)
	}
}

// TestOwnRedirectURL tells the answers of a server that sends no iss by where they come in.
func TestOwnRedirectURL(t *testing.T) {
	f := newFake(t)
	f.metadata = func(m map[string]any) { delete(m, "authorization_response_iss_parameter_supported") }
	f.redirect = func(q url.Values) { q.Del("iss") }
	a := newAuthorizer(t, f, func(c *oauth.Config) {
		c.RedirectURLFor = func(issuer string) string {
			assert.Equal(t, f.asURL, issuer)
			return redirectURL + "/7"
		}
	})
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, redirectURL+"/7", f.client(s.ClientID).redirects[0])
	response := consent(t, f, s)
	assert.Equal(t, redirectURL+"/7", response.RedirectURL)

	elsewhere := *response
	elsewhere.RedirectURL = redirectURL
	assert.ErrorIs(t, a.CompleteSignIn(t.Context(), s, &elsewhere), oauth.ErrWrongState)
	require.NoError(t, a.CompleteSignIn(t.Context(), s, response))
}

func TestNoSignInWithoutPKCE(t *testing.T) {
	for name, methods := range map[string]any{"absent": nil, "plain only": []string{"plain"}} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.metadata = func(m map[string]any) { m["code_challenge_methods_supported"] = methods }
			_, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), nil)
			assert.ErrorIs(t, err, oauth.ErrNoPKCE)
			assert.Zero(t, f.seen("/register"))
		})
	}
}

func TestParamsOfASignIn(t *testing.T) {
	f := newFake(t)
	f.metadata = func(m map[string]any) { m["authorization_endpoint"] = f.asURL + "/authorize?tenant=1" }
	a := newAuthorizer(t, f, nil)
	s, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Params: url.Values{"login_hint": {"eve"}}})
	require.NoError(t, err)
	consent(t, f, s)
	assert.Equal(t, "eve", f.lastQuery().Get("login_hint"))
	assert.Equal(t, "1", f.lastQuery().Get("tenant"), "the endpoint's own parameters stay")

	_, err = a.StartSignIn(t.Context(), &oauth.SignInOptions{Params: url.Values{"state": {"mine"}}})
	assert.ErrorContains(t, err, "state")
}

func TestResponseFromRedirectURL(t *testing.T) {
	r, err := oauth.ResponseFromRedirectURL("http://127.0.0.1:1/cb?code=a%2Bb&state=s&iss=https%3A%2F%2Fas%2F#x")
	require.NoError(t, err)
	assert.Equal(t, oauth.Response{
		Code: "a+b", State: "s", Issuer: "https://as/", RedirectURL: "http://127.0.0.1:1/cb",
	}, *r)

	r, err = oauth.ResponseFromRedirectURL("?error=access_denied&state=s") // a part of it, as users copy it
	require.NoError(t, err)
	assert.Equal(t, oauth.Response{Error: "access_denied", State: "s"}, *r)

	for _, raw := range []string{"", "https://h/cb", "https://h/cb?state=s", "https://h/cb?code=very-secret%zz\x7f",
		"?code=very-secret&code=b&state=s", "?code=very-secret&state=s&state=t", "?code=very-secret&state=s&iss=a&iss=b",
		"?error=access_denied&error=very-secret&state=s"} {
		_, err := oauth.ResponseFromRedirectURL(raw)
		require.Error(t, err, raw)
		assert.NotContains(t, err.Error(), "very-secret")
	}
}

// TestARedirectURLInTheWordsOfABrowser: what a user pastes, and what a web application sees, is not as it was sent.
func TestARedirectURLInTheWordsOfABrowser(t *testing.T) {
	for asked, seen := range map[string]string{
		"http://LocalHost:7777":            "http://localhost:7777/",
		"https://App.Example.com:443/back": "https://app.example.com/back",
		"http://127.0.0.1:80/back":         "http://127.0.0.1/back",
	} {
		f := newFake(t)
		a := newAuthorizer(t, f, func(c *oauth.Config) { c.RedirectURL = asked })
		s, err := a.StartSignIn(t.Context(), nil)
		require.NoError(t, err)
		response := consent(t, f, s)
		response.RedirectURL = seen
		assert.NoError(t, a.CompleteSignIn(t.Context(), s, response), asked)
	}
}
