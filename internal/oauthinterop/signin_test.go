package oauthinterop

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/streamablehttp"
)

const hour = 3600

func newAuthorizer(t *testing.T, c oauth.Config) *oauth.Authorizer {
	t.Helper()
	c.Registration = oauth.Registration{ClientName: "Interoperation test"}
	a, err := oauth.New(c)
	require.NoError(t, err)
	return a
}

func newLoopback(t *testing.T) *oauth.Loopback {
	t.Helper()
	callback, err := oauth.ListenLoopback(oauth.LoopbackOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, callback.Close()) })
	return callback
}

func startSignIn(t *testing.T, a *oauth.Authorizer, callback *oauth.Loopback,
	required *oauth.SignInRequiredError) *oauth.SignIn {
	t.Helper()
	s, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{
		Required:    required,
		RedirectURL: callback.RedirectURL(),
	})
	require.NoError(t, err)
	require.False(t, s.Done())
	return s
}

// signIn is a whole sign-in, in which the user agrees.
func signIn(t *testing.T, b *browser, a *oauth.Authorizer, required *oauth.SignInRequiredError) {
	t.Helper()
	callback := newLoopback(t)
	s := startSignIn(t, a, callback, required)
	wait := waitFor(t.Context(), callback, s)
	assert.Equal(t, takenPage, b.agree(s.AuthorizationURL))
	response, err := wait()
	require.NoError(t, err)
	require.NoError(t, a.CompleteSignIn(t.Context(), s, response))
}

// What the last page says, depending on whether somebody waits for it.
const (
	takenPage   = "The answer has reached the application. You may close this page."
	unknownPage = "No sign-in is waiting for this page. You may close it, and begin anew in the application."
)

// waitFor begins to wait for the answer to a sign-in, and returns the function that ends with that.
func waitFor(ctx context.Context, callback *oauth.Loopback, s *oauth.SignIn) func() (*oauth.Response, error) {
	var response *oauth.Response
	var err error
	done := make(chan struct{})
	go func() {
		response, err = callback.Wait(ctx, s.State)
		close(done)
	}()
	return func() (*oauth.Response, error) {
		<-done
		return response, err
	}
}

func connect(w *world, a *oauth.Authorizer) (*mcp.Client, error) {
	return mcp.Connect(context.Background(), &streamablehttp.Transport{URL: w.url, Authorizer: a}, nil)
}

// requireSignIn takes the error of a call that cannot do without the user.
func requireSignIn(t *testing.T, err error) *oauth.SignInRequiredError {
	t.Helper()
	required, ok := errors.AsType[*oauth.SignInRequiredError](err)
	require.True(t, ok, "%v", err)
	return required
}

func whoami(t *testing.T, client *mcp.Client) string {
	t.Helper()
	res, err := client.CallTool(t.Context(), "whoami", nil)
	require.NoError(t, err)
	return res.Text()
}

func TestSignInWithConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	b := startBrowser(t)
	a := newAuthorizer(t, oauth.Config{Server: w.url})
	_, err := connect(w, a)
	required := requireSignIn(t, err)
	assert.Equal(t, []string{scopeTools}, required.Scopes)
	signIn(t, b, a, required)

	client, err := connect(w, a)
	require.NoError(t, err)
	defer client.Close()
	tools, err := client.ListTools(t.Context())
	require.NoError(t, err)
	assert.Len(t, tools, 2)
	assert.Equal(t, "you are Eve", whoami(t, client))
	token, err := a.Token(t.Context())
	require.NoError(t, err)
	w.provider.assertNoSecret(fmt.Sprintf("%v %+v %#v", token, token, token))
	assert.Equal(t, map[string]int{"authorization_code": 1}, w.provider.seen().Grants)
}

func TestSignInThatTheUserDenies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	b := startBrowser(t)
	a := newAuthorizer(t, oauth.Config{Server: w.url})
	callback := newLoopback(t)
	s := startSignIn(t, a, callback, nil)
	wait := waitFor(t.Context(), callback, s)
	assert.Equal(t, takenPage, b.deny(s.AuthorizationURL)) // it does not tell what came of it
	response, err := wait()
	require.NoError(t, err)
	err = a.CompleteSignIn(t.Context(), s, response)
	require.ErrorIs(t, err, oauth.ErrSignInCancelled)
	refusal, ok := errors.AsType[*oauth.Error](err)
	require.True(t, ok)
	assert.Equal(t, oauth.Error{Code: "access_denied", Description: "End-User aborted interaction"}, *refusal)
	assert.EqualError(t, err,
		"oauth: the authorization server answered access_denied: End-User aborted interaction")
	_, err = connect(w, a)
	requireSignIn(t, err)
}

// Somebody else's answer is nobody's: neither the page says that it was taken, nor does it end the wait of the user.
func TestSignInWithTheAnswerToAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	b := startBrowser(t)
	a := newAuthorizer(t, oauth.Config{Server: w.url})
	callback := newLoopback(t)
	s := startSignIn(t, a, callback, nil)
	wait := waitFor(t.Context(), callback, s)
	foreign := url.Values{"code": {"a-code"}, "state": {"another"}, "iss": {w.provider.issuer}}
	b.open(callback.RedirectURL() + "?" + foreign.Encode())
	b.waitFor(lastPage)
	assert.Equal(t, unknownPage, b.text())

	other := startSignIn(t, a, callback, nil)
	assert.Equal(t, takenPage, b.agree(s.AuthorizationURL))
	response, err := wait()
	require.NoError(t, err)
	require.ErrorIs(t, a.CompleteSignIn(t.Context(), other, response), oauth.ErrWrongState)
	require.NoError(t, a.CompleteSignIn(t.Context(), s, response))
}

func TestSignInWhoseBrowserIsClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	a := newAuthorizer(t, oauth.Config{Server: w.url})
	callback := newLoopback(t)
	s := startSignIn(t, a, callback, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := waitFor(ctx, callback, s)
	b := startBrowser(t)
	b.consent(s.AuthorizationURL)
	b.close()
	cancel() // nothing tells the application but its user
	_, err := wait()
	require.ErrorIs(t, err, context.Canceled)

	signIn(t, startBrowser(t), a, nil) // and it can begin anew
}

// Chromium opens connections in advance, for which a server that shuts down would wait.
func TestLoopbackIsClosedAtOnceThoughTheBrowserIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, providerOptions{Lifetime: hour})
	b := startBrowser(t)
	a := newAuthorizer(t, oauth.Config{Server: w.url})
	callback := newLoopback(t)
	s := startSignIn(t, a, callback, nil)
	wait := waitFor(t.Context(), callback, s)
	assert.Equal(t, takenPage, b.agree(s.AuthorizationURL))
	_, err := wait()
	require.NoError(t, err)
	b.evaluate(`const ahead = document.createElement("link"); ahead.rel = "preconnect"; ahead.href = location.origin;` +
		`document.head.append(ahead); ""`)
	require.Eventually(t, func() bool { return connections(t, callback) > 0 }, long, 10*time.Millisecond)
	begun := time.Now()
	require.NoError(t, callback.Close())
	took := time.Since(begun)
	assert.Less(t, took, time.Second)
	t.Log("the loopback was closed within", took)
	assert.Equal(t, takenPage, b.text()) // the browser is there still
}

// connections counts those to a loopback that are open, by the table of Linux (proc_pid_net(5)).
func connections(t *testing.T, callback *oauth.Loopback) int {
	t.Helper()
	address, err := url.Parse(callback.RedirectURL())
	require.NoError(t, err)
	port, err := strconv.Atoi(address.Port())
	require.NoError(t, err)
	table, err := os.ReadFile("/proc/net/tcp")
	require.NoError(t, err)
	local := fmt.Sprintf(": 0100007F:%04X ", port)
	open := 0
	for line := range strings.Lines(string(table)) {
		_, rest, ours := strings.Cut(line, local)
		if fields := strings.Fields(rest); ours && len(fields) > 1 && fields[1] == "01" {
			open++
		}
	}
	return open
}
