package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

var errDiskFull = errors.New("the disk is full")

// A fullStore does not save while full is set.
type fullStore struct {
	oauth.Store
	mu    sync.Mutex
	full  bool
	tried int
}

func (s *fullStore) tries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tried
}

func (s *fullStore) set(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

func (s *fullStore) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	s.mu.Lock()
	s.tried++
	s.mu.Unlock()
	var failed error
	err := s.Store.Update(ctx, key, func(record []byte) ([]byte, error) {
		changed, err := change(record)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil && s.full {
			failed = errDiskFull
			return record, nil
		}
		return changed, err
	})
	return errors.Join(err, failed)
}

// failToSave signs in, and has the tokens renewed while the store is full.
func failToSave(t *testing.T, f *fake, a *oauth.Authorizer, store *fullStore) {
	t.Helper()
	signIn(t, f, a)
	requireCall(t, f, a)
	store.set(true)
	f.revoke()
	_, err := call(t.Context(), f, a)
	require.ErrorIs(t, err, oauth.ErrNotSaved)
	require.ErrorIs(t, err, errDiskFull)
}

func TestALostSaveSurfaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFake(t)
		store := &fullStore{Store: oauth.NewMemoryStore()}
		shared := func(c *oauth.Config) { c.Store = store }
		a := newAuthorizer(t, f, shared)
		failToSave(t, f, a, store)
		requireCall(t, f, a)
		assert.Equal(t, 2, f.seen("/token"), "the new token is in use")

		f.revoke()
		_, err := call(t.Context(), f, a)
		require.ErrorIs(t, err, oauth.ErrNotSaved)
		assert.Zero(t, f.lostGrants(), "the refresh token that was not saved is the one to use")

		store.set(false)
		time.Sleep(2 * time.Second)
		requireCall(t, f, a)
		requireCall(t, f, newAuthorizer(t, f, shared))
		assert.Equal(t, 3, f.seen("/token"))
	})
}

func TestASignInThatIsNotSavedSurfaces(t *testing.T) {
	f := newFake(t)
	store := &fullStore{Store: oauth.NewMemoryStore()}
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	s, err := a.StartSignIn(t.Context(), nil)
	require.NoError(t, err)
	response := consent(t, f, s)
	store.set(true)
	require.ErrorIs(t, a.CompleteSignIn(t.Context(), s, response), oauth.ErrNotSaved)
	requireCall(t, f, a)
}

// TestANewerRecordIsNotOverwritten has a process that could not save, and another one that signed in meanwhile.
func TestANewerRecordIsNotOverwritten(t *testing.T) {
	f := newFake(t)
	inner := oauth.NewMemoryStore()
	store := &fullStore{Store: inner}
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	failToSave(t, f, a, store)

	b := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = inner })
	s, err := b.StartSignIn(t.Context(), &oauth.SignInOptions{Force: true})
	require.NoError(t, err)
	require.NoError(t, b.CompleteSignIn(t.Context(), s, consent(t, f, s)))
	want, err := b.Token(t.Context())
	require.NoError(t, err)

	store.set(false)
	requireCall(t, f, a)
	got, err := a.Token(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want.AccessToken, got.AccessToken)
	requireCall(t, f, newAuthorizer(t, f, func(c *oauth.Config) { c.Store = inner }))
}

func TestARecordThatIsNotRead(t *testing.T) {
	for name, record := range map[string]string{
		"no record":  "secret-rubbish",
		"of a later": `{"version":2,"credentials":{"access_token":"secret-token"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			store := oauth.NewMemoryStore()
			require.NoError(t, store.Update(t.Context(), f.url(), func([]byte) ([]byte, error) {
				return []byte(record), nil
			}))
			a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
			_, err := call(t.Context(), f, a)
			require.ErrorContains(t, err, "oauth: the stored record")
			assert.NotContains(t, err.Error(), "secret")
			kept, err := store.Load(t.Context(), f.url())
			require.NoError(t, err)
			assert.Equal(t, record, string(kept))
			require.NoError(t, a.SignOut(t.Context()), "which is the way out")
			requireSignIn(t, f, a)
		})
	}
}

// TestTheRecord pins what is stored: later versions have to read it.
func TestTheRecord(t *testing.T) {
	f := newFake(t)
	f.wanted = []string{"read"}
	store := oauth.NewMemoryStore()
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store, c.Key = store, "user 7" })
	requireSignIn(t, f, a)
	s := signIn(t, f, a)
	data, err := store.Load(t.Context(), "user 7 "+f.url())
	require.NoError(t, err)
	var record map[string]any
	require.NoError(t, json.Unmarshal(data, &record))
	assert.EqualValues(t, 1, record["version"])
	credentials := record["credentials"].(map[string]any)
	assert.Equal(t, f.asURL, credentials["issuer"])
	assert.Equal(t, f.asURL+"/token", credentials["token_endpoint"])
	assert.Equal(t, f.url(), credentials["resource"])
	assert.Equal(t, s.ClientID, credentials["client_id"])
	assert.Equal(t, []any{"read"}, credentials["scopes"])
	assert.Contains(t, credentials["refresh_token"], "refresh-")
	clients := record["clients"].(map[string]any)
	assert.Equal(t, s.ClientID, clients[f.asURL].(map[string]any)["client_id"])
}

// TestReloadingDropsNothing: what could not be saved is not replaced by what is stored.
func TestReloadingDropsNothing(t *testing.T) {
	f := newFake(t)
	store := &fullStore{Store: oauth.NewMemoryStore()}
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	failToSave(t, f, a, store)
	s, err := a.StartSignIn(t.Context(), nil) // which reads the record anew
	require.NoError(t, err)
	assert.True(t, s.Done())
	requireCall(t, f, a)
	assert.Equal(t, 2, f.seen("/token"))
}

// A slowStore returns from its first Load late.
type slowStore struct {
	oauth.Store
	loads  atomic.Int32
	loaded chan struct{} // closed when the record is read
	answer chan struct{} // lets it return
}

func (s *slowStore) Load(ctx context.Context, key string) ([]byte, error) {
	record, err := s.Store.Load(ctx, key)
	if s.loads.Add(1) == 1 {
		close(s.loaded)
		<-s.answer
	}
	return record, err
}

// TestALoadThatWasOvertaken reads the record before a sign-in and sees it after.
func TestALoadThatWasOvertaken(t *testing.T) {
	f := newFake(t)
	store := &slowStore{Store: oauth.NewMemoryStore(), loaded: make(chan struct{}), answer: make(chan struct{})}
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	request := func(refresh bool) string {
		req, err := http.NewRequest(http.MethodPost, f.url(), nil)
		assert.NoError(t, err)
		assert.NoError(t, a.Authorize(t.Context(), req, refresh))
		return req.Header.Get("Authorization")
	}
	done := make(chan string)
	go func() { done <- request(true) }()
	<-store.loaded
	signIn(t, f, a)
	close(store.answer)
	assert.Contains(t, <-done, "Bearer access-")
	assert.Contains(t, request(false), "Bearer access-")
}

// TestWhatIsReadIsNotTakenForSaved: a sign-in that looks into the record saves what could not be saved before.
func TestWhatIsReadIsNotTakenForSaved(t *testing.T) {
	f := newFake(t)
	store := &fullStore{Store: oauth.NewMemoryStore()}
	shared := func(c *oauth.Config) { c.Store = store }
	a := newAuthorizer(t, f, shared)
	failToSave(t, f, a, store)

	store.set(false)
	_, err := a.StartSignIn(t.Context(), &oauth.SignInOptions{Force: true})
	require.NoError(t, err)
	requireCall(t, f, newAuthorizer(t, f, shared)) // the next process
	assert.Equal(t, 2, f.seen("/token"))
	assert.Zero(t, f.lostGrants())
}

// TestTwoFailuresHaveAPauseEach: neither the store nor the authorization server is asked again and again.
func TestTwoFailuresHaveAPauseEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFake(t)
		store := &fullStore{Store: oauth.NewMemoryStore()}
		a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
		failToSave(t, f, a, store)
		requireCall(t, f, a)

		f.revoke()
		f.token = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		asked, saved := f.seen("/token"), store.tries()
		for range 5 {
			_, err := call(t.Context(), f, a)
			require.Error(t, err)
		}
		assert.Equal(t, asked+1, f.seen("/token"))
		assert.LessOrEqual(t, store.tries(), saved+2, "to save what is there, and for the renewal")
	})
}

// TestAWrongClientCostsNoGrant: who configures the right one again has not lost the refresh token.
func TestAWrongClientCostsNoGrant(t *testing.T) {
	f := newFake(t)
	f.addClient(&fakeClient{id: "mine", method: "none", redirects: []string{redirectURL}})
	store := oauth.NewMemoryStore()
	with := func(id string) *oauth.Authorizer {
		return newAuthorizer(t, f, func(c *oauth.Config) { c.Store, c.Client = store, &oauth.Client{ID: id} })
	}
	signIn(t, f, with("mine"))
	f.revoke()
	requireSignIn(t, f, with("another"))
	requireCall(t, f, with("mine"))
}
