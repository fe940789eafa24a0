package oauth_test

import (
	"context"
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

// calls makes n calls at a time, all of which must succeed.
func calls(t *testing.T, f *fake, n int, authorizers ...*oauth.Authorizer) {
	t.Helper()
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			status, err := call(t.Context(), f, authorizers[i%len(authorizers)])
			assert.NoError(t, err)
			assert.Equal(t, http.StatusOK, status)
		})
	}
	running.Wait()
}

func TestOneRefreshForAllWhoAreRefused(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, nil)
	signIn(t, f, a)
	requireCall(t, f, a)
	for range 5 {
		f.revoke()
		before := f.seen("/token")
		calls(t, f, 50, a)
		assert.Equal(t, before+1, f.seen("/token"))
	}
	assert.Zero(t, f.lostGrants())
}

// TestOneRefreshForAllProcesses has authorizers that share nothing but a store.
func TestOneRefreshForAllProcesses(t *testing.T) {
	f := newFake(t)
	store := oauth.NewMemoryStore()
	shared := func(c *oauth.Config) { c.Store = store }
	a := []*oauth.Authorizer{newAuthorizer(t, f, shared), newAuthorizer(t, f, shared), newAuthorizer(t, f, shared)}
	signIn(t, f, a[0])
	calls(t, f, 9, a...)
	for range 5 {
		f.revoke()
		before := f.seen("/token")
		calls(t, f, 30, a...)
		assert.Equal(t, before+1, f.seen("/token"))
	}
	assert.Zero(t, f.lostGrants())
}

func TestRefreshBeforeTheEnd(t *testing.T) {
	for _, test := range []struct{ lifetime, due time.Duration }{
		{time.Hour, time.Hour - 30*time.Second},
		{2 * time.Second, 1500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newTimedFake(t)
			f.lifetime = test.lifetime
			a := newAuthorizer(t, f, nil)
			signIn(t, f, a)

			time.Sleep(test.due - time.Millisecond)
			requireCall(t, f, a)
			assert.Equal(t, 1, f.seen("/token"))
			time.Sleep(time.Millisecond)
			calls(t, f, 10, a)
			assert.Equal(t, 2, f.seen("/token"))
			assert.Equal(t, "refresh_token", f.lastForm().Get("grant_type"))
		})
	}
}

func TestRefreshKeepsWhatTheAnswerDoesNotSay(t *testing.T) {
	f := newFake(t)
	f.wanted, f.keep = []string{"read"}, true
	a := newAuthorizer(t, f, nil)
	requireSignIn(t, f, a)
	signIn(t, f, a)
	requireCall(t, f, a)
	f.answer = func(m map[string]any) {
		delete(m, "refresh_token")
		m["scope"] = nil
	}
	for range 3 {
		f.revoke()
		requireCall(t, f, a)
		token, err := a.Token(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"read"}, token.Scopes)
	}
}

func TestARefusedRefreshAsksForASignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFake(t)
		a := newAuthorizer(t, f, nil)
		signIn(t, f, a)
		requireCall(t, f, a)
		f.revoke()
		f.token = func(w http.ResponseWriter, r *http.Request) bool {
			if r.PostForm.Get("grant_type") != "refresh_token" {
				return false
			}
			refuse(w, http.StatusBadRequest, "invalid_grant", "")
			return true
		}
		for range 3 {
			requireSignIn(t, f, a)
			time.Sleep(time.Minute)
		}
		assert.Equal(t, 2, f.seen("/token"), "a refresh token that was refused is not sent again")
		signIn(t, f, a)
		requireCall(t, f, a)
	})
}

// TestAFailedRefreshKeepsTheTokens is about what may pass.
func TestAFailedRefreshKeepsTheTokens(t *testing.T) {
	for name, fail := range map[string]func(http.ResponseWriter){
		"503":         func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"429":         func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
		"page":        func(w http.ResponseWriter) { http.Error(w, "<html>", http.StatusNotFound) },
		"in trouble":  func(w http.ResponseWriter) { refuse(w, http.StatusBadRequest, "temporarily_unavailable", "") },
		"cut off":     func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"no JSON":     func(w http.ResponseWriter) { _, _ = w.Write([]byte("hello")) },
		"wrong token": func(w http.ResponseWriter) { writeJSON(w, 200, map[string]any{"access_token": "a\nb"}) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			a := newAuthorizer(t, f, nil)
			signIn(t, f, a)
			requireCall(t, f, a)
			f.revoke()
			var mended atomic.Bool
			f.token = func(w http.ResponseWriter, _ *http.Request) bool {
				if mended.Load() {
					return false
				}
				fail(w)
				return true
			}
			_, err := call(t.Context(), f, a)
			require.Error(t, err)
			var required *oauth.SignInRequiredError
			assert.False(t, errors.As(err, &required), "nothing is lost")

			mended.Store(true)
			s, err := newAuthorizer(t, f, nil).StartSignIn(t.Context(), nil)
			require.NoError(t, err)
			assert.False(t, s.Done())
			_, err = call(t.Context(), f, a)
			assert.Error(t, err, "it is not tried again at once")
			assert.Equal(t, 2, f.seen("/token"))
		})
	}
}

func TestAFailedRefreshIsTriedAgainAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFake(t)
		f.lifetime = time.Minute
		a := newAuthorizer(t, f, nil)
		signIn(t, f, a)
		f.token = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		time.Sleep(50 * time.Second)
		calls(t, f, 10, a) // the old token is still good
		assert.Equal(t, 2, f.seen("/token"))

		time.Sleep(20 * time.Second)
		_, err := call(t.Context(), f, a)
		var e *oauth.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, http.StatusBadGateway, e.Status)

		f.token = nil
		time.Sleep(2 * time.Second)
		requireCall(t, f, a)
		assert.Zero(t, f.lostGrants())
	})
}

// TestTheAuthorizationServerIsGone: the token is over, and where it came from there is nobody any more.
func TestTheAuthorizationServerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFake(t)
		f.lifetime = time.Minute
		a := newAuthorizer(t, f, nil)
		signIn(t, f, a)
		requireCall(t, f, a)
		f.moveServer()
		requireCall(t, f, a) // the token is still good
		time.Sleep(2 * time.Minute)
		requireSignIn(t, f, a)
		signIn(t, f, a)
		requireCall(t, f, a)
	})
}

// TestTheFirstCallerGoesAway cancels the call that began a refresh, while the server thinks about it.
func TestTheFirstCallerGoesAway(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, nil)
	signIn(t, f, a)
	requireCall(t, f, a)
	f.revoke()
	arrived, answer := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f.token = func(http.ResponseWriter, *http.Request) bool {
		once.Do(func() { close(arrived) })
		<-answer
		return false
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := call(ctx, f, a)
		first <- err
	}()
	<-arrived
	cancel()
	assert.ErrorIs(t, <-first, context.Canceled, "it does not wait")

	second := make(chan error)
	go func() {
		_, err := call(t.Context(), f, a)
		second <- err
	}()
	close(answer)
	assert.NoError(t, <-second)
	assert.Equal(t, 2, f.seen("/token"))
	assert.Zero(t, f.lostGrants())
}

func TestARefreshIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTimedFake(t)
		store := oauth.NewMemoryStore()
		a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
		signIn(t, f, a)
		requireCall(t, f, a)
		f.revoke()
		f.token = func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}
		begun := time.Now()
		_, err := call(t.Context(), f, a)
		assert.Error(t, err)
		assert.Equal(t, 10*time.Second, time.Since(begun), "a request's bound")

		f.token = nil
		time.Sleep(2 * time.Second)
		release := make(chan struct{})
		go func() {
			_ = store.Update(t.Context(), f.url(), func(r []byte) ([]byte, error) { <-release; return r, nil })
		}()
		synctest.Wait()
		begun = time.Now()
		_, err = call(t.Context(), f, a)
		assert.ErrorIs(t, err, oauth.ErrLockBusy)
		assert.Equal(t, 15*time.Second, time.Since(begun))
		close(release)

		time.Sleep(2 * time.Second)
		requireCall(t, f, a)
	})
}

// TestAFreshTokenIsRefused goes through all there is to try, and must come to an end.
func TestAFreshTokenIsRefused(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, nil)
	signIn(t, f, a)
	requireCall(t, f, a)
	f.challenge = func(*http.Request) string { return `Bearer error="invalid_token", error_description="not mine"` }

	requireSignIn(t, f, a)
	assert.Equal(t, 2, f.seen("/token"), "one refresh")
	requireSignIn(t, f, a)
	assert.Equal(t, 2, f.seen("/token"), "and no other")

	signIn(t, f, a)
	for range 3 {
		_, err := call(t.Context(), f, a)
		var refused *oauth.RefusedError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, oauth.RefusedError{Server: f.url(), Status: 401, Description: "not mine"}, *refused)
	}
	assert.Equal(t, 4, f.seen("/token"))

	signIn(t, f, a) // who insists may
	f.challenge = nil
	requireCall(t, f, a)
}

// TestATokenWithoutARefreshTokenIsRefused: a user who has just signed in is not sent to do it again.
func TestATokenWithoutARefreshTokenIsRefused(t *testing.T) {
	f := newFake(t)
	f.answer = func(m map[string]any) { delete(m, "refresh_token") }
	f.challenge = func(*http.Request) string { return "Bearer" }
	a := newAuthorizer(t, f, nil)
	requireSignIn(t, f, a)
	signIn(t, f, a)
	_, err := call(t.Context(), f, a)
	var refused *oauth.RefusedError
	require.ErrorAs(t, err, &refused)
	signIn(t, f, a) // who insists may
	f.challenge = nil
	requireCall(t, f, a)
}

func TestAnOlderTokenIsSimplyReplaced(t *testing.T) {
	f := newFake(t)
	a := newAuthorizer(t, f, nil)
	signIn(t, f, a)
	req, err := http.NewRequest(http.MethodPost, f.url(), nil)
	require.NoError(t, err)
	require.NoError(t, a.Authorize(t.Context(), req, true)) // a long call
	f.revoke()
	requireCall(t, f, a)

	resp, err := f.http.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	retry, err := a.Inspect(t.Context(), req, resp)
	require.NoError(t, err)
	assert.True(t, retry)
	assert.Equal(t, 2, f.seen("/token"), "of the sign-in and of the call")
}
