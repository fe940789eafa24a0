package oauthinterop

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/oauth"
)

// signedIn returns a client whose user has signed in at w, and what it was signed in with.
func signedIn(t *testing.T, w *world, b *browser, c oauth.Config) (*mcp.Client, *oauth.Authorizer) {
	t.Helper()
	c.Server = w.url
	a := newAuthorizer(t, c)
	signIn(t, b, a, nil)
	client, err := connect(w, a)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return client, a
}

// callUntil calls until so many refreshes were made. Each call goes well.
func callUntil(t *testing.T, w *world, client *mcp.Client, refreshes int) {
	t.Helper()
	for begun := time.Now(); w.provider.seen().Grants["refresh_token"] < refreshes; {
		require.Equal(t, "you are Eve", whoami(t, client))
		require.Less(t, time.Since(begun), long)
	}
}

func TestCallsWithTokensThatExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: 2})
	client, _ := signedIn(t, w, startBrowser(t), oauth.Config{})
	callUntil(t, w, client, 3)
	seen := w.provider.seen()
	assert.Empty(t, seen.Refused)
	assert.Zero(t, seen.Revoked)
}

func TestCallAfterTheGrantIsRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	b := startBrowser(t)
	client, a := signedIn(t, w, b, oauth.Config{})
	w.provider.revoke()
	_, err := client.CallTool(t.Context(), "whoami", nil)
	required := requireSignIn(t, err)
	assert.False(t, required.StepUp())
	w.provider.assertNoSecret(err.Error())

	signIn(t, b, a, required)
	assert.Equal(t, "you are Eve", whoami(t, client))
}

func TestCallThatNeedsMoreScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	b := startBrowser(t)
	client, a := signedIn(t, w, b, oauth.Config{})
	_, err := client.CallTool(t.Context(), "admin", nil)
	required := requireSignIn(t, err)
	assert.True(t, required.StepUp())
	assert.Subset(t, required.Scopes, []string{scopeTools, scopeAdmin})
	assert.Equal(t, "you are Eve", whoami(t, client), "the narrow token is still good")

	signIn(t, b, a, required)
	res, err := client.CallTool(t.Context(), "admin", nil)
	require.NoError(t, err)
	assert.Equal(t, "you are Eve", res.Text())
	token, err := a.Token(t.Context())
	require.NoError(t, err)
	assert.Subset(t, token.Scopes, []string{scopeTools, scopeAdmin})
}

// A user who does not want to give more has what they gave before.
func TestStepUpThatTheUserDenies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: 2})
	b := startBrowser(t)
	client, a := signedIn(t, w, b, oauth.Config{})
	_, err := client.CallTool(t.Context(), "admin", nil)
	required := requireSignIn(t, err)
	callback := newLoopback(t)
	s := startSignIn(t, a, callback, required)
	wait := waitFor(t.Context(), callback, s)
	b.deny(s.AuthorizationURL)
	response, err := wait()
	require.NoError(t, err)
	require.ErrorIs(t, a.CompleteSignIn(t.Context(), s, response), oauth.ErrSignInCancelled)
	callUntil(t, w, client, w.provider.seen().Grants["refresh_token"]+2)
}

// The same client id is used again, for which the port must stay.
func TestStepUpAtTheSameRedirectURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	b := startBrowser(t)
	callback := newLoopback(t)
	a := newAuthorizer(t, oauth.Config{Server: w.url, RedirectURL: callback.RedirectURL()})
	var required *oauth.SignInRequiredError
	for _, tool := range []string{"whoami", "admin"} {
		s, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Required: required})
		require.NoError(t, err)
		wait := waitFor(t.Context(), callback, s)
		b.agree(s.AuthorizationURL)
		response, err := wait()
		require.NoError(t, err)
		require.NoError(t, a.CompleteSignIn(t.Context(), s, response))
		client, err := connect(w, a)
		require.NoError(t, err)
		defer client.Close()
		_, err = client.CallTool(t.Context(), tool, nil)
		require.NoError(t, err)
		_, err = client.CallTool(t.Context(), "admin", nil)
		if tool == "whoami" {
			required = requireSignIn(t, err)
		}
	}
}

// Two programs, or two windows of one, begin a sign-in at the same time.
func TestSignInsThatOverlap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	b := startBrowser(t)
	store, err := oauth.NewFileStore(t.TempDir())
	require.NoError(t, err)
	first := newAuthorizer(t, oauth.Config{Server: w.url, Store: store})
	second := newAuthorizer(t, oauth.Config{Server: w.url, Store: store})
	callback, callback2 := newLoopback(t), newLoopback(t)
	s, s2 := startSignIn(t, first, callback, nil), startSignIn(t, second, callback2, nil)
	for _, one := range []struct {
		a        *oauth.Authorizer
		callback *oauth.Loopback
		s        *oauth.SignIn
	}{{first, callback, s}, {second, callback2, s2}} {
		wait := waitFor(t.Context(), one.callback, one.s)
		b.agree(one.s.AuthorizationURL)
		response, err := wait()
		require.NoError(t, err)
		require.NoError(t, one.a.CompleteSignIn(t.Context(), one.s, response))
	}
}

func TestSignOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	dir := filepath.Join(t.TempDir(), "tokens")
	store, err := oauth.NewFileStore(dir)
	require.NoError(t, err)
	client, a := signedIn(t, w, startBrowser(t), oauth.Config{Store: store})
	assert.Equal(t, "you are Eve", whoami(t, client))
	token, err := a.Token(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.SignOut(t.Context()))
	assert.Equal(t, 1, w.provider.seen().Revoked)
	assert.Equal(t, http.StatusUnauthorized, statusWith(t, w, token), "the token is of no more use")
	_, err = client.CallTool(t.Context(), "whoami", nil)
	requireSignIn(t, err)
	for _, name := range files(t, dir) {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		w.provider.assertNoSecret(string(data))
	}
	_, err = a.Token(context.Background())
	requireSignIn(t, err)
}

// statusWith is what the MCP server answers to somebody who has kept a token.
func statusWith(t *testing.T, w *world, token *oauth.Token) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token.AccessToken)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.StatusCode
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	require.NoError(t, err)
	return names
}
