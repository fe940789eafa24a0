package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// overTheWire is what was handed to another process.
func overTheWire[T any](t *testing.T, v *T) *T {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	back := new(T)
	require.NoError(t, json.Unmarshal(data, back))
	require.Equal(t, v, back)
	return back
}

// TestATokenThatWasRefusedElsewhere: the second process must not take the token for good, nor refresh it once more.
func TestATokenThatWasRefusedElsewhere(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	shared := func(c *oauth.Config) { c.Store = store }
	a, b := newAuthorizer(t, f, shared), newAuthorizer(t, f, shared)
	signIn(t, f, a)
	requireCall(t, f, a)
	f.challenge = func(*http.Request) string { return "Bearer" }
	required := requireSignIn(t, f, a)
	before := f.seen("/token")

	s, err := b.StartSignIn(t.Context(), &oauth.SignInOptions{Required: overTheWire(t, required)})
	require.NoError(t, err)
	require.False(t, s.Done())
	assert.Equal(t, before, f.seen("/token"))

	f.challenge = nil
	require.NoError(t, b.CompleteSignIn(t.Context(), s, consent(t, f, s)))
	s, err = a.StartSignIn(t.Context(), &oauth.SignInOptions{Required: required})
	require.NoError(t, err)
	assert.True(t, s.Done(), "it was done elsewhere")
	requireCall(t, f, a)
}

func TestAStepUpElsewhere(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	shared := func(c *oauth.Config) { c.Store = store }
	a, b := newAuthorizer(t, f, shared), newAuthorizer(t, f, shared)
	signIn(t, f, a)
	requireCall(t, f, a)
	f.wanted = []string{"write"}
	required := requireSignIn(t, f, a)

	s, err := b.StartSignIn(t.Context(), &oauth.SignInOptions{Required: overTheWire(t, required)})
	require.NoError(t, err)
	require.False(t, s.Done())
	require.NoError(t, b.CompleteSignIn(t.Context(), s, consent(t, f, s)))
	requireCall(t, f, a)
	s, err = a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	assert.True(t, s.Done())
}

func TestMoreScopesThanThereAre(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Scopes = []string{"read"} })
	signIn(t, f, a)
	s, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Scopes: []string{"read"}})
	require.NoError(t, err)
	assert.True(t, s.Done())
	s, err = a.StartSignIn(t.Context(), &oauth.SignInOptions{Scopes: []string{"write"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"read", "write"}, s.Scopes)
}

// TestServersDoNotGetTheTokensOfOthers has two servers for one user, in one store.
func TestServersDoNotGetTheTokensOfOthers(t *testing.T) {
	f, other := newFake(t), newFake(t)
	store := oauth.NewMemoryStore()
	user := func(c *oauth.Config) { c.Store, c.Key = store, "user 7" }
	a, b := newAuthorizer(t, f, user), newAuthorizer(t, other, user)
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	response := consent(t, f, s)
	assert.ErrorContains(t, b.CompleteSignIn(t.Context(), s, response), f.url())
	require.NoError(t, a.CompleteSignIn(t.Context(), s, response))
	requireCall(t, f, a)

	req, err := http.NewRequest(http.MethodPost, other.url(), nil)
	require.NoError(t, err)
	require.NoError(t, b.Authorize(t.Context(), req, true))
	assert.Empty(t, req.Header.Get("Authorization"))
}

// TestASignInIsEndedByWhoBeganIt has one user lead another one to the end of a sign-in of theirs, so that the other
// would work with the first one's account.
func TestASignInIsEndedByWhoBeganIt(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	mallory := newAuthorizer(t, f, func(c *oauth.Config) { c.Store, c.Key = store, "mallory" })
	alice := newAuthorizer(t, f, func(c *oauth.Config) { c.Store, c.Key = store, "alice" })
	s, err := mallory.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	require.ErrorContains(t, alice.CompleteSignIn(t.Context(), s, consent(t, f, s)), "another Key")
	assert.Zero(t, f.seen("/token"))
}

// TestASecretGoesToItsIssuerOnly has a server that registered clients under the id, which is no secret, of a client
// that the application has elsewhere.
func TestASecretGoesToItsIssuerOnly(t *testing.T) {
	secret := &oauth.Client{ID: "mine", Secret: "very-secret", AuthMethod: "client_secret_post"}
	for name, c := range map[string]struct {
		before, after *oauth.Client
	}{
		"registered before": {nil, &oauth.Client{ID: secret.ID, Secret: secret.Secret, AuthMethod: secret.AuthMethod}},
		"configured for another before": {
			&oauth.Client{ID: "mine", AuthMethod: "none"},
			&oauth.Client{ID: secret.ID, Secret: secret.Secret, AuthMethod: secret.AuthMethod},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.addClient(&fakeClient{id: "mine", method: "none", redirects: []string{redirectURL}})
			f.register = func(w http.ResponseWriter, _ *http.Request) bool {
				writeJSON(w, http.StatusCreated, map[string]any{"client_id": "mine"})
				return true
			}
			store := oauth.NewMemoryStore()
			before := newAuthorizer(t, f, func(config *oauth.Config) { config.Store, config.Client = store, c.before })
			signIn(t, f, before)
			pending, err := before.StartSignIn(t.Context(), &oauth.SignInOptions{Force: true})
			require.NoError(t, err)
			f.revoke()

			c.after.Issuer = "https://elsewhere.example"
			after := newAuthorizer(t, f, func(config *oauth.Config) { config.Store, config.Client = store, c.after })
			_, _ = call(t.Context(), f, after)
			assert.Error(t, after.CompleteSignIn(t.Context(), pending, consent(t, f, pending)))
			for _, form := range f.forms {
				assert.NotContains(t, form.Encode(), "very-secret")
			}
		})
	}
}

// TestASecretGoesToTheFirstIssuerOnly has a client for which nobody said where it belongs, and a sign-in that was begun
// before that was known.
func TestASecretGoesToTheFirstIssuerOnly(t *testing.T) {
	f := newFake(t)
	f.addClient(&fakeClient{id: "mine", secret: "very-secret", method: "client_secret_basic",
		redirects: []string{redirectURL}})
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Client = &oauth.Client{ID: "mine", Secret: "very-secret"} })
	signIn(t, f, a)
	asked := f.seen("/token")
	s, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Force: true})
	require.NoError(t, err)
	response := consent(t, f, s)
	s.Issuer, response.Issuer = "https://elsewhere.example", "https://elsewhere.example"
	require.ErrorContains(t, a.CompleteSignIn(t.Context(), s, response), "not known")
	assert.Equal(t, asked, f.seen("/token"))
}

// A busyStore has a lock that is never to be had, from the moment on that it is told.
type busyStore struct {
	oauth.Store
	busy chan struct{}
}

func (s busyStore) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	select {
	case <-s.busy:
		<-ctx.Done()
		return errors.Join(oauth.ErrLockBusy, ctx.Err())
	default:
		return s.Store.Update(ctx, key, change)
	}
}

// TestTheUserGoesAwayAfterTheCode cancels the second half when the code has been used: the tokens must not be lost.
func TestTheUserGoesAwayAfterTheCode(t *testing.T) {
	f := newFake(t)
	store := busyStore{oauth.NewMemoryStore(), make(chan struct{})}
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	response := consent(t, f, s)
	close(store.busy)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err = a.CompleteSignIn(ctx, s, response)
	require.ErrorIs(t, err, oauth.ErrNotSaved)
	require.ErrorIs(t, err, oauth.ErrLockBusy)

	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url(), nil)
	require.NoError(t, err)
	require.NoError(t, a.Authorize(ctx, req, false))
	assert.Contains(t, req.Header.Get("Authorization"), "Bearer access-")
}

// TestTheSameTokenAgain is an authorization server that repeats a token until it is over.
func TestTheSameTokenAgain(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, withSecret(f))
	requireCall(t, f, a)
	token, err := a.Token(t.Context())
	require.NoError(t, err)
	f.answer = func(m map[string]any) { m["access_token"] = token.AccessToken }
	f.revoke()
	_, err = call(t.Context(), f, a)
	var refused *oauth.RefusedError
	require.ErrorAs(t, err, &refused)

	g := newFake(t)
	b := newAuthorizer(t, g, withSecret(g))
	requireCall(t, g, b)
	token, err = b.Token(t.Context())
	require.NoError(t, err)
	g.answer = func(m map[string]any) { m["access_token"] = token.AccessToken }
	g.wanted = []string{"more"}
	_, err = call(t.Context(), g, b)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, http.StatusForbidden, refused.Status)
}
