package oauth_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// TestNothingFormatsASecret formats what holds secrets in all the ways that programs do.
func TestNothingFormatsASecret(t *testing.T) {
	f := newFake(t)
	var log bytes.Buffer
	store := oauth.NewMemoryStore()
	client := &oauth.Client{ID: "mine", Secret: "hidden-secret", SigningKey: testKey, AuthMethod: "client_secret_post"}
	f.addClient(&fakeClient{
		id: "mine", secret: client.Secret, method: client.AuthMethod, redirects: []string{redirectURL},
	})
	a := newAuthorizer(t, f, func(c *oauth.Config) {
		c.Client, c.Store = client, store
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	response := consent(t, f, s)
	loopback := listenLoopback(t, oauth.LoopbackOptions{})
	waitFor(t, loopback, s.State)
	require.NoError(t, a.CompleteSignIn(t.Context(), s, response))
	token, err := a.Token(t.Context())
	require.NoError(t, err)
	secrets := []string{"hidden-secret", s.State, s.Verifier, response.Code, token.AccessToken, "refresh-"}

	for _, v := range []any{
		a, client, *client, s, *s, response, *response, token, *token,
		struct{ A any }{s}, []oauth.Response{*response}, map[string]oauth.Token{"t": *token},
		oauth.Config{Client: client}, oauth.EnterpriseManaged{Client: *client}, store, loopback,
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			assertNone(t, fmt.Sprintf(verb, v), secrets)
		}
		slog.New(slog.NewTextHandler(&log, nil)).Info("text", "v", v)
	}
	for _, v := range []any{client, *client, s, *s, response, *response, token, *token} {
		slog.New(slog.NewJSONHandler(&log, nil)).Info("JSON", "v", v)
	}
	assertNone(t, log.String(), secrets)

	kept, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Contains(t, string(kept), s.Verifier, "JSON is for keeping it")
}

func assertNone(t *testing.T, text string, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		assert.NotContains(t, text, secret)
		assert.NotContains(t, text, fmt.Sprintf("%x", secret))
	}
}

// TestAServerThatRepeatsSecrets says in its errors all that it was told.
func TestAServerThatRepeatsSecrets(t *testing.T) {
	f := newFake(t)
	client := &oauth.Client{ID: "mine", Secret: "hidden-secret", AuthMethod: "client_secret_post"}
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Client = client })
	f.addClient(&fakeClient{
		id: "mine", secret: client.Secret, method: client.AuthMethod, redirects: []string{redirectURL},
	})
	signIn(t, f, a)
	requireCall(t, f, a)
	var told []string
	f.token = func(w http.ResponseWriter, r *http.Request) bool {
		told = nil
		for name, values := range r.PostForm {
			if name == "code" || strings.Contains(name, "token") || strings.Contains(name, "verifier") ||
				strings.Contains(name, "secret") {
				told = append(told, values...)
			}
		}
		refuse(w, http.StatusServiceUnavailable, "slow_down", "you said "+strings.Join(told, " and "))
		return true
	}
	f.revoke()
	_, err := call(t.Context(), f, a)
	require.ErrorContains(t, err, "you said *** and ***")
	assertNone(t, err.Error(), told)

	s, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Force: true})
	require.NoError(t, err)
	err = a.CompleteSignIn(t.Context(), s, consent(t, f, s))
	require.ErrorContains(t, err, "you said *** and ***")
	assertNone(t, err.Error(), told)
	var e *oauth.Error
	require.ErrorAs(t, err, &e)
	assertNone(t, fmt.Sprintf("%+v", *e), told)
}
