package oauth_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// TestAnswersOfTokenEndpoints has what servers answer beyond the specification.
func TestAnswersOfTokenEndpoints(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		body     string
		scopes   []string
		lifetime time.Duration // 0: not known
		err      *oauth.Error
	}{
		"201": {status: 201, body: `{"access_token":"a1","token_type":"bearer"}`},
		"form": {status: 200, body: "access_token=a1&token_type=bearer&scope=x+y&expires_in=60",
			scopes: []string{"x", "y"}, lifetime: time.Minute},
		"no type":     {status: 200, body: `{"access_token":"a1"}`},
		"empty scope": {status: 200, body: `{"access_token":"a1","scope":""}`},
		"null": {status: 200,
			body: `{"access_token":"a1","scope":null,"expires_in":null,"refresh_token":null}`},
		"scopes in a list": {status: 200, body: `{"access_token":"a1","scope":["x","y"]}`,
			scopes: []string{"x", "y"}},
		"lifetime as text":    {status: 200, body: `{"access_token":"a1","expires_in":"3600"}`, lifetime: time.Hour},
		"lifetime of nothing": {status: 200, body: `{"access_token":"a1","expires_in":0}`},
		"lifetime of ages": {status: 200, body: `{"access_token":"a1","expires_in":1e300}`,
			lifetime: 100 * 365 * 24 * time.Hour},
		"lifetime of nonsense": {status: 200, body: `{"access_token":"a1","expires_in":"soon"}`},
		"200 with an error": {status: 200, body: `{"error":"invalid_grant","error_description":"no"}`,
			err: &oauth.Error{Code: "invalid_grant", Description: "no", Status: 200}},
		"form with an error": {status: 400, body: "error=invalid_grant",
			err: &oauth.Error{Code: "invalid_grant", Status: 400}},
		"400 without a word": {status: 400, err: &oauth.Error{Status: 400}},
		"page":               {status: 502, body: "<html>Bad Gateway", err: &oauth.Error{Status: 502}},
		"no token": {status: 200, body: `{}`,
			err: &oauth.Error{Status: 200, Description: "there is no access token in the answer"}},
		"token for no header": {status: 200, body: `{"access_token":"a\r\nX: y"}`,
			err: &oauth.Error{Status: 200, Description: "the access token cannot be sent in a header"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.token = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
				return true
			}
			a := newAuthorizer(t, f, nil)
			s, err := a.StartSignIn(t.Context(), nil)
			require.NoError(t, err)
			err = a.CompleteSignIn(t.Context(), s, consent(t, f, s))
			if c.err != nil {
				var e *oauth.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, *c.err, *e)
				return
			}
			require.NoError(t, err)
			token, err := a.Token(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "a1", token.AccessToken)
			assert.Equal(t, "Bearer", token.Type)
			assert.Equal(t, c.scopes, token.Scopes)
			if c.lifetime == 0 {
				assert.Zero(t, token.Expires)
				return
			}
			assert.WithinDuration(t, time.Now().Add(c.lifetime), token.Expires, 5*time.Second)
		})
	}
}

func TestATokenOfAnotherTypeIsNotUsed(t *testing.T) {
	f := newFake(t)
	f.answer = func(m map[string]any) { m["token_type"] = "mac" }
	a := newAuthorizer(t, f, nil)
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	assert.ErrorContains(t, a.CompleteSignIn(t.Context(), s, consent(t, f, s)), "type mac")
	requireSignIn(t, f, a)
}

// TestClientAuthentication has the methods of RFC 7591, each from what is known of server and client.
func TestClientAuthentication(t *testing.T) {
	secret := oauth.Client{Secret: "s%c r&t"}
	both := oauth.Client{Secret: secret.Secret, SigningKey: testKey}
	for name, c := range map[string]struct {
		client    oauth.Client
		supported any
		want      string
	}{
		"basic by default": {client: secret, want: "client_secret_basic"},
		"basic of two": {client: secret, supported: []string{"client_secret_post", "client_secret_basic"},
			want: "client_secret_basic"},
		"post alone":             {client: secret, supported: []string{"client_secret_post"}, want: "client_secret_post"},
		"none although a secret": {client: secret, supported: []string{"none"}, want: "none"},
		"none without a secret":  {supported: []string{"client_secret_basic"}, want: "none"},
		"as configured": {client: oauth.Client{Secret: secret.Secret, AuthMethod: "client_secret_post"},
			supported: []string{"client_secret_basic"}, want: "client_secret_post"},
		"key without a secret": {client: oauth.Client{SigningKey: testKey}, want: "private_key_jwt"},
		"key where it is taken": {client: both, supported: []string{"client_secret_basic", "private_key_jwt"},
			want: "private_key_jwt"},
		"secret where no key is": {client: both, supported: []string{"client_secret_basic"},
			want: "client_secret_basic"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.metadata = func(m map[string]any) { m["token_endpoint_auth_methods_supported"] = c.supported }
			c.client.ID = "id:with/odd characters"
			known := &fakeClient{id: c.client.ID, method: c.want, redirects: []string{redirectURL}}
			if strings.HasPrefix(c.want, "client_secret") {
				known.secret = c.client.Secret
			}
			f.addClient(known)
			a := newAuthorizer(t, f, func(o *oauth.Config) { o.Client = &c.client })
			signIn(t, f, a)
			requireCall(t, f, a)
			f.revoke()
			requireCall(t, f, a)
		})
	}
}
