package oauth_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/growth"
	"github.com/seed62b61957/mcp/oauth"
)

// TestScopesByTheThousand comes from either server: no scope is looked for among all others.
func TestScopesByTheThousand(t *testing.T) {
	scopes := func(n int) []string {
		many := make([]string, n)
		for i := range many {
			many[i] = fmt.Sprintf("%x", i)
		}
		return many
	}
	growth.Linear(t, 3000, func(n int) func() {
		many := scopes(n)
		return func() {
			f := newFake(t)
			f.resource = func(m map[string]any) { m["scopes_supported"] = many }
			s, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, many, s.Scopes)
		}
	})
	growth.Linear(t, 3000, func(n int) func() {
		many := scopes(n)
		return func() {
			f := newFake(t)
			f.answer = func(m map[string]any) { m["scope"] = strings.Join(many, " ") }
			a := newAuthorizer(t, f, nil)
			signIn(t, f, a)
			s, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Scopes: many})
			require.NoError(t, err)
			assert.True(t, s.Done())
		}
	})
}

// TestAnAnswerThatIsNoHTTP repeats the secrets of a request in places that net/http shows in its errors.
func TestAnAnswerThatIsNoHTTP(t *testing.T) {
	for name, answer := range map[string]string{
		"status":             "HTTP/1.1 %s\r\n\r\n",
		"header":             "HTTP/1.1 200 OK\r\n%s\r\n\r\n",
		"length":             "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n",
		"encoding":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n",
		"redirect elsewhere": "HTTP/1.1 307 \r\nLocation: https://evil.example/%s\r\nContent-Length: 0\r\n\r\n",
		"redirect to a GET":  "HTTP/1.1 302 \r\nLocation: /%s\r\nContent-Length: 0\r\n\r\n",
		"redirect nowhere":   "HTTP/1.1 307 \r\nLocation: http://a b/%s\r\nContent-Length: 0\r\n\r\n",
		"type of token": "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" +
			`{"access_token":"new-token","token_type":"%s new-token","refresh_token":"new-refresh"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.addClient(&fakeClient{id: "mine", redirects: []string{redirectURL}})
			var log bytes.Buffer
			a := newAuthorizer(t, f, func(c *oauth.Config) {
				c.Client = &oauth.Client{ID: "mine", Secret: "very/secret", AuthMethod: "client_secret_basic"}
				c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			s, err := a.StartSignIn(t.Context(), nil)
			require.NoError(t, err)
			response := consent(t, f, s)
			secrets := []string{response.Code, s.Verifier, "very/secret", "very%2Fsecret", "new-token", "new-refresh"}
			f.token = func(w http.ResponseWriter, r *http.Request) bool {
				basic := strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")
				secrets = append(secrets, basic)
				told := strings.Join([]string{
					r.PostForm.Get("code"), r.PostForm.Get("code_verifier"), "very/secret", "very%2Fsecret", basic,
				}, "+")
				conn, rw, err := w.(http.Hijacker).Hijack()
				if assert.NoError(t, err) {
					_, _ = fmt.Fprintf(rw, answer, told)
					_ = errors.Join(rw.Flush(), conn.Close())
				}
				return true
			}
			err = a.CompleteSignIn(t.Context(), s, response)
			require.ErrorContains(t, err, "***")
			for e := err; e != nil; e = errors.Unwrap(e) {
				assertNone(t, fmt.Sprintf("%v %+v %#v", e, e, e), secrets)
			}
			assertNone(t, log.String(), secrets)
		})
	}
}

// TestErrorsAreShort although servers name what is long, and in them what it is long of.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("long", 100_000)
	for name, c := range map[string]struct{ resource, server map[string]any }{
		"resource":            {resource: map[string]any{"resource": long}},
		"resource at a host":  {resource: map[string]any{"resource": "https://" + long}},
		"issuer":              {server: map[string]any{"issuer": long}},
		"place of the issuer": {resource: map[string]any{"authorization_servers": []string{"ftp://h/" + long}}},
		"endpoint":            {server: map[string]any{"token_endpoint": "http://h/" + long}},
		"algorithms":          {server: map[string]any{"dpop_signing_alg_values_supported": []string{long}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.resource = func(m map[string]any) { enter(m, c.resource) }
			f.metadata = func(m map[string]any) { enter(m, c.server) }
			_, err := newAuthorizer(t, f, func(c *oauth.Config) { c.DPoP = true }).StartSignIn(t.Context(), nil)
			require.ErrorContains(t, err, "long")
			assert.Less(t, len(err.Error()), 4000)
		})
	}
	t.Run("header", func(t *testing.T) {
		f := newFake(t)
		f.register = func(w http.ResponseWriter, _ *http.Request) bool {
			conn, rw, err := w.(http.Hijacker).Hijack()
			if assert.NoError(t, err) {
				_, _ = fmt.Fprintf(rw, "HTTP/1.1 200 OK\r\n%s\r\n\r\n", long)
				_ = errors.Join(rw.Flush(), conn.Close())
			}
			return true
		}
		_, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), nil)
		require.ErrorContains(t, err, "long")
		assert.Less(t, len(err.Error()), 1000)
	})
}

func enter(m, more map[string]any) {
	for name, value := range more {
		m[name] = value
	}
}

func TestARefusedScopeIsQuoted(t *testing.T) {
	e := &oauth.RefusedError{Server: "https://h", Status: http.StatusForbidden, Scopes: []string{"\x1b[2J"}}
	assert.Contains(t, e.Error(), `(wanted: "\x1b[2J")`)
}

func TestErrorsOfManyScopesAreShort(t *testing.T) {
	scopes := strings.Fields(strings.Repeat("scope ", 10_000))
	for _, e := range []error{
		&oauth.SignInRequiredError{Server: "https://h", Status: http.StatusForbidden, Scopes: scopes},
		&oauth.RefusedError{Server: "https://h", Status: http.StatusForbidden, Scopes: scopes},
	} {
		assert.Contains(t, e.Error(), "scope scope")
		assert.Less(t, len(e.Error()), 1000)
	}
}
