package oauth_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

func TestSignOut(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	signIn(t, f, a)
	requireCall(t, f, a)
	require.NoError(t, a.SignOut(t.Context()))
	record, err := store.Load(t.Context(), f.url())
	require.NoError(t, err)
	assert.Nil(t, record)
	requireSignIn(t, f, a)
	signIn(t, f, a)
	requireCall(t, f, a)
	assert.Equal(t, 2, f.seen("/register"))
}

// TestSignOutAndInElsewhere: a record that begins anew is newer than the one that was removed.
func TestSignOutAndInElsewhere(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	shared := func(c *oauth.Config) { c.Store = store }
	a, b := newAuthorizer(t, f, shared), newAuthorizer(t, f, shared)
	signIn(t, f, a)
	for range 3 {
		requireCall(t, f, a)
		f.revoke()
	}
	require.NoError(t, b.SignOut(t.Context()))
	signIn(t, f, b)
	requireCall(t, f, a)
	mine, err := a.Token(t.Context())
	require.NoError(t, err)
	theirs, err := b.Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, theirs.AccessToken, mine.AccessToken)
}

// tokensIn are those of a record, the refresh token first.
func tokensIn(t *testing.T, store oauth.Store, key string) []string {
	t.Helper()
	data, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	var record struct {
		Credentials struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		} `json:"credentials"`
	}
	require.NoError(t, json.Unmarshal(data, &record))
	return []string{record.Credentials.Refresh, record.Credentials.Access}
}

// TestSignOutRevokes does so in another process than the sign-in, for each kind of client.
func TestSignOutRevokes(t *testing.T) {
	for _, method := range []string{"none", "client_secret_basic", "client_secret_post"} {
		t.Run(method, func(t *testing.T) {
			f := newFake(t)
			f.metadata = func(m map[string]any) { m["token_endpoint_auth_methods_supported"] = []string{method} }
			store := oauth.NewMemoryStore()
			shared := func(c *oauth.Config) { c.Store = store }
			signIn(t, f, newAuthorizer(t, f, shared))
			tokens := tokensIn(t, store, f.url())
			f.withdraw = func(http.ResponseWriter, *http.Request) bool {
				record, err := store.Load(t.Context(), f.url())
				assert.NoError(t, err)
				assert.Nil(t, record, "the tokens are forgotten first")
				return false
			}
			require.NoError(t, newAuthorizer(t, f, shared).SignOut(t.Context()))
			assert.Equal(t, tokens, f.revoked)
		})
	}
}

func TestSignOutOfAMachine(t *testing.T) {
	f := newFake(t)
	f.answer = func(m map[string]any) { delete(m, "refresh_token") }
	a := newAuthorizer(t, f, withSecret(f))
	token, err := a.Token(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.SignOut(t.Context()))
	assert.Equal(t, []string{token.AccessToken}, f.revoked)
}

// TestSignOutWithTokensThatAreNotSaved revokes these, and not those in the store, which are used up.
func TestSignOutWithTokensThatAreNotSaved(t *testing.T) {
	f := newFake(t)
	store := &fullStore{Store: oauth.NewMemoryStore()}
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	failToSave(t, f, a, store)
	token, err := a.Token(t.Context())
	require.NoError(t, err)

	require.ErrorIs(t, a.SignOut(t.Context()), errDiskFull)
	assert.Empty(t, f.revoked, "nobody is signed out")
	requireCall(t, f, a)

	store.set(false)
	require.NoError(t, a.SignOut(t.Context()))
	require.Len(t, f.revoked, 2)
	assert.Equal(t, token.AccessToken, f.revoked[1])
}

func TestSignOutWhereNothingCanBeRevoked(t *testing.T) {
	f := newFake(t)
	f.metadata = func(m map[string]any) { delete(m, "revocation_endpoint") }
	a := newAuthorizer(t, f, nil)
	signIn(t, f, a)
	require.NoError(t, a.SignOut(t.Context()))
	requireSignIn(t, f, a)
	assert.Zero(t, f.seen("/revoke"))
}

// TestSignOutWhateverTheServerMakesOfIt: what is forgotten stays forgotten, in time, and no log has a token.
func TestSignOutWhateverTheServerMakesOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		withdraw func(http.ResponseWriter, *http.Request)
		limit    time.Duration // of the caller
		takes    time.Duration
		says     string
	}{
		"refused": {says: "unsupported_token_type: you said ***", withdraw: func(w http.ResponseWriter, r *http.Request) {
			refuse(w, http.StatusBadRequest, "unsupported_token_type", "you said "+r.PostForm.Get("token"))
		}},
		"503": {says: "503 Service Unavailable", withdraw: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
		"no answer": {says: "deadline exceeded", takes: 10 * time.Second, withdraw: hang},
		"no answer to a caller without patience": {
			says: "deadline exceeded", limit: time.Second, takes: time.Second, withdraw: hang,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newTimedFake(t)
				store := oauth.NewMemoryStore()
				var log bytes.Buffer
				a := newAuthorizer(t, f, func(o *oauth.Config) {
					o.Store, o.Logger = store, slog.New(slog.NewTextHandler(&log, nil))
				})
				signIn(t, f, a)
				tokens := tokensIn(t, store, f.url())
				f.withdraw = func(w http.ResponseWriter, r *http.Request) bool {
					c.withdraw(w, r)
					return true
				}
				ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(c.limit, time.Hour))
				defer cancel()
				begun := time.Now()
				require.NoError(t, a.SignOut(ctx))
				assert.Equal(t, c.takes, time.Since(begun))
				assert.Contains(t, log.String(), "not revoked")
				assert.Contains(t, log.String(), c.says)
				assertNone(t, log.String(), tokens)
				record, err := store.Load(t.Context(), f.url())
				require.NoError(t, err)
				assert.Nil(t, record)
				requireSignIn(t, f, a)
			})
		})
	}
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
