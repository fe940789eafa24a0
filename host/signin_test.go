package host_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/oauth"
)

func TestSignIn(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"))
	s := status(t, h, "a")
	assert.Equal(t, host.NeedsSignIn, s.State)
	assert.Equal(t, []string{"read"}, s.SignIn.Scopes)
	var required *oauth.SignInRequiredError
	assert.ErrorAs(t, isState(t, echo(t, h, "a"), host.NeedsSignIn), &required)

	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	assert.Equal(t, host.Ready, state(t, h, "a"))
	assert.Nil(t, status(t, h, "a").SignIn)
	assert.NoError(t, echo(t, h, "a"))

	before := h.Catalog()
	g.revoke()
	assert.ErrorAs(t, echo(t, h, "a"), &required, "the first one to notice")
	isState(t, echo(t, h, "a"), host.NeedsSignIn)
	assert.Same(t, before, h.Catalog())
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	assert.NoError(t, echo(t, h, "a"))
	assert.Same(t, before, h.Catalog())
	require.NoError(t, h.Restart(t.Context(), "a"), "the host keeps the tokens")
	assert.Equal(t, 2, g.tokens)
}

// inBrowser opens a URL as applications do, without waiting for what comes of it.
func inBrowser(address string) error {
	go browse(address)
	return nil
}

func TestSignInInTwoHalves(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"), func(o *host.Options) {
		o.OAuth = func(s config.Server) oauth.Config {
			return oauth.Config{RedirectURL: "https://app.example.com/callback/" + s.Name}
		}
	})
	signIn, err := h.StartSignIn(t.Context(), "a", nil)
	require.NoError(t, err)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(get(t, signIn.AuthorizationURL))
	require.NoError(t, err)
	resp.Body.Close()
	location := resp.Header.Get("Location")
	assert.Contains(t, location, "https://app.example.com/callback/a?")
	response, err := oauth.ResponseFromRedirectURL(location)
	require.NoError(t, err)
	require.NoError(t, h.CompleteSignIn(t.Context(), "a", signIn, response))
	assert.NoError(t, echo(t, h, "a"))

	signIn, err = h.StartSignIn(t.Context(), "a", nil)
	require.NoError(t, err)
	assert.True(t, signIn.Done())
}

func get(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	return r
}

func TestStepUpLeavesTheServerReady(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"))
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	g.restrict("tools/call")
	var required *oauth.SignInRequiredError
	require.ErrorAs(t, echo(t, h, "a"), &required)
	s := status(t, h, "a")
	assert.Equal(t, host.Ready, s.State)
	require.NotNil(t, s.SignIn)
	assert.Equal(t, []string{"read", "write"}, s.SignIn.Scopes)
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	assert.Nil(t, status(t, h, "a").SignIn)
	assert.NoError(t, echo(t, h, "a"))
	assert.Contains(t, g.forms[len(g.forms)-1].Get("scope"), "write")
}

func TestStepUpToConnect(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"))
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	g.restrict("*")
	assert.Error(t, h.Restart(t.Context(), "a"))
	assert.Equal(t, host.NeedsSignIn, state(t, h, "a"))
	require.NotNil(t, status(t, h, "a").SignIn)
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	assert.NoError(t, echo(t, h, "a"))
	assert.Contains(t, g.forms[len(g.forms)-1].Get("scope"), "write")
}

func TestStepUpForAList(t *testing.T) {
	g := newGuard(t)
	g.front.server.AddPrompt(&mcp.Prompt{Name: "p"}, nil)
	h := processes(t, remote(g.url+"/mcp"))
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	require.NoError(t, h.Stop(t.Context(), "a"))
	g.restrict("prompts/list")
	require.NoError(t, h.Start(t.Context(), "a"))
	assert.Len(t, h.Catalog().Tools, 1, "which are not refused")
	assert.Empty(t, h.Catalog().Prompts)
	s := status(t, h, "a")
	assert.Equal(t, host.Ready, s.State)
	require.NotNil(t, s.SignIn)
	assert.Equal(t, []string{"read", "write"}, s.SignIn.Scopes)

	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for e := range h.Events(ctx) {
		if len(e.Catalog.Prompts) == 1 {
			break
		}
	}
	assert.Len(t, h.Catalog().Prompts, 1, "the lists are fetched again")
	assert.Nil(t, status(t, h, "a").SignIn)
}

func TestSettingsOfTheServer(t *testing.T) {
	g := newGuard(t)
	list := remote(g.url + "/mcp")
	list[0].OAuth = &config.OAuth{ClientID: "mine", Scope: "read more", CallbackURL: "http://localhost/back"}
	h := processes(t, list)
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	form := g.forms[0]
	assert.Equal(t, "mine", form.Get("client_id"))
	assert.Equal(t, "read more", form.Get("scope"))
	assert.Regexp(t, `^http://localhost:\d+/back$`, form.Get("redirect_uri"))

	list[0].OAuth = &config.OAuth{Registration: config.CIMD}
	require.NoError(t, h.Apply(t.Context(), list))
	assert.ErrorContains(t, status(t, h, "a").Err, "no Client ID Metadata Document")
}

func TestClientIsRegisteredWhereTheServerWantsIt(t *testing.T) {
	g := newGuard(t)
	list := remote(g.url + "/mcp")
	list[0].OAuth = &config.OAuth{
		Registration: config.DCR, ClientName: "Named", CallbackURL: "http://127.0.0.1/back", CallbackPort: 4321,
	}
	h := processes(t, list, func(o *host.Options) {
		o.OAuth = func(config.Server) oauth.Config {
			return oauth.Config{
				Client: &oauth.Client{ID: "ours"}, ClientIDMetadataURL: "https://app.example.com/client.json",
			}
		}
	})
	signIn, err := h.StartSignIn(t.Context(), "a", nil)
	require.NoError(t, err)
	assert.Equal(t, "registered", signIn.ClientID)
	assert.Equal(t, "http://127.0.0.1:4321/back", signIn.RedirectURL)
	assert.Equal(t, "Named", g.registered["client_name"])
}

func TestCallbackOnIPv6WithAPort(t *testing.T) {
	g := newGuard(t)
	list := remote(g.url + "/mcp")
	list[0].OAuth = &config.OAuth{ClientID: "mine", CallbackURL: "http://[::1]/back", CallbackPort: 4321}
	h := processes(t, list)
	signIn, err := h.StartSignIn(t.Context(), "a", nil)
	require.NoError(t, err)
	assert.Equal(t, "http://[::1]:4321/back", signIn.RedirectURL)
}

func TestTokensOutliveAConfiguration(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"))
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	list := remote(g.url + "/mcp")
	list[0].Description = "another text"
	require.NoError(t, h.Apply(t.Context(), list))
	assert.NoError(t, echo(t, h, "a"))
	assert.Equal(t, 1, g.tokens)
}

func TestSignInOfALazyServer(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"), options(host.ServerOptions{Lazy: true}))
	isState(t, echo(t, h, "a"), host.NeedsSignIn)
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	assert.Equal(t, host.Ready, state(t, h, "a"))
}

func TestSignInOfNoUse(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"))
	g.deaf = true
	err := h.SignIn(t.Context(), "a", inBrowser)
	var e *host.StateError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, host.Failed, e.State)
	var refused *oauth.RefusedError
	assert.ErrorAs(t, err, &refused)
}

func TestSignInThatComesToNothing(t *testing.T) {
	g := newGuard(t)
	list := append(remote(g.url+"/mcp"), child("process", "serve"))
	own := remote(g.url + "/mcp")[0]
	own.Name, own.Headers = "own", map[string]string{"authorization": "Bearer mine"}
	h := processes(t, append(list, own))
	no := errors.New("there is no browser")
	err := h.SignIn(t.Context(), "a", func(string) error { return no })
	assert.ErrorIs(t, err, no)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = h.SignIn(ctx, "a", func(string) error { return nil }) // and the user does nothing
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, host.NeedsSignIn, state(t, h, "a"))

	for _, name := range []string{"process", "own"} {
		assert.ErrorContains(t, h.SignIn(t.Context(), name, inBrowser), `there is no sign-in to server "`+name+`"`)
	}
	var missing *host.NotFoundError
	assert.ErrorAs(t, h.SignIn(t.Context(), "nobody", inBrowser), &missing)
	assert.NotEqual(t, host.NeedsSignIn, state(t, h, "own"))
}

func TestSignInOfAStoppedServer(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"))
	require.NoError(t, h.Stop(t.Context(), "a"))
	require.NoError(t, h.SignIn(t.Context(), "a", inBrowser))
	assert.Equal(t, host.Stopped, state(t, h, "a"))
	require.NoError(t, h.Start(t.Context(), "a"))
	assert.NoError(t, echo(t, h, "a"))
}

// The user may never come back, and the port is not to stay open for that long.
func TestSignInEndsWithTheHost(t *testing.T) {
	g := newGuard(t)
	h := processes(t, remote(g.url+"/mcp"))
	var callback string
	err := h.SignIn(t.Context(), "a", func(address string) error {
		u, err := url.Parse(address)
		callback = u.Query().Get("redirect_uri")
		go closeHost(t, h)
		return err
	})
	assert.ErrorIs(t, err, host.ErrClosed)
	assert.Error(t, browse(callback), "nobody listens")
	assert.ErrorIs(t, h.SignIn(t.Context(), "a", inBrowser), host.ErrClosed)
	_, err = h.StartSignIn(t.Context(), "a", nil)
	assert.ErrorIs(t, err, host.ErrClosed)
}
