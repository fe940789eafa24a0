package streamablehttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

// authorizer does what a test says, and nothing by default.
type authorizer struct {
	authorize func(req *http.Request, refresh bool) error
	inspect   func(*http.Response) (bool, error)
}

func (a *authorizer) Authorize(_ context.Context, req *http.Request, refresh bool) error {
	if a.authorize == nil {
		return nil
	}
	return a.authorize(req, refresh)
}

func (a *authorizer) Inspect(_ context.Context, _ *http.Request, resp *http.Response) (bool, error) {
	if a.inspect == nil {
		return false, nil
	}
	return a.inspect(resp)
}

func with(a streamablehttp.Authorizer) func(*streamablehttp.Transport) {
	return func(tr *streamablehttp.Transport) { tr.Authorizer = a }
}

func TestStaticToken(t *testing.T) {
	f := newFake(t)
	token := streamablehttp.StaticToken("secret")
	c := open(t, f, with(token))
	f.await("GET", 1)
	require.NoError(t, c.conn.Close())
	for _, key := range f.order() {
		assert.Equal(t, "Bearer secret", f.await(key, 1).got("Authorization"), key)
	}
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s", token, token, token, token), "secret")
}

// dpop is an authorizer with a proof for each request, made of method, URL, and a nonce that any response may change
// (RFC 9449, section 8).
type dpop struct {
	mu     sync.Mutex
	nonce  string
	proofs []string
}

func (d *dpop) Authorize(_ context.Context, req *http.Request, _ bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	proof := fmt.Sprintf("%d %s %s %s", len(d.proofs), req.Method, req.URL.Path, d.nonce)
	d.proofs = append(d.proofs, proof)
	req.Header.Set("DPoP", proof)
	req.Header.Set("Authorization", "DPoP token")
	return nil
}

func (d *dpop) Inspect(_ context.Context, _ *http.Request, resp *http.Response) (retry bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if nonce := resp.Header.Get("DPoP-Nonce"); nonce != "" && nonce != d.nonce {
		d.nonce = nonce
		return resp.StatusCode == 401, nil
	}
	return false, nil
}

func TestAProofForEachRequest(t *testing.T) {
	f := newFake(t)
	f.on("POST initialize", func(a *arrival) {
		if a.nth == 1 {
			a.set("DPoP-Nonce", "n1")
			a.status(401)
			return
		}
		a.set("Mcp-Session-Id", sessionID)
		a.json(`{}`)
	})
	f.on("POST work", func(a *arrival) {
		a.set("DPoP-Nonce", "n2") // on a good response
		a.json(`{}`)
	})
	f.on("POST moved", func(a *arrival) {
		if a.r.URL.Path == "/mcp" {
			a.set("Location", "/mcp/")
			a.status(307)
			return
		}
		a.json(`{}`)
	})
	c := open(t, f, noGet, with(&dpop{}))
	for id, method := range []string{"work", "moved"} {
		_, _, err := c.call(int64(id+1), method)
		require.NoError(t, err)
	}
	require.NoError(t, c.conn.Close())
	var proofs []string
	f.mu.Lock()
	for _, a := range f.log {
		proofs = append(proofs, a.got("DPoP"))
	}
	f.mu.Unlock()
	assert.Equal(t, []string{
		"0 POST /mcp", "1 POST /mcp n1", // initialize
		"2 POST /mcp n1",                    // initialized
		"3 POST /mcp n1",                    // work
		"4 POST /mcp n2", "5 POST /mcp/ n2", // moved
		"6 DELETE /mcp n2",
	}, proofs)
}

// renewing is an authorizer whose token can be renewed. However many requests are refused with the old one, it does so
// once.
type renewing struct {
	mu       sync.Mutex
	token    int
	renewals int
	err      error
}

func (r *renewing) Authorize(_ context.Context, req *http.Request, _ bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	req.Header.Set("Authorization", fmt.Sprint("Bearer ", r.token))
	return nil
}

func (r *renewing) Inspect(_ context.Context, req *http.Request, resp *http.Response) (retry bool, err error) {
	if resp.StatusCode != 401 {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Header.Get("Authorization") == fmt.Sprint("Bearer ", r.token) {
		r.token++
		r.renewals++
	}
	return true, r.err
}

func TestConcurrentChallengesShareOneRecovery(t *testing.T) {
	f := newFake(t)
	const calls = 10
	var refused sync.WaitGroup
	refused.Add(calls)
	f.on("POST work", func(a *arrival) {
		if a.got("Authorization") != "Bearer 0" {
			a.json(`{}`)
			return
		}
		refused.Done()
		refused.Wait()
		a.status(401)
	})
	auth := &renewing{}
	c := open(t, f, noGet, with(auth))
	var calling sync.WaitGroup
	for id := range calls {
		calling.Go(func() {
			_, _, err := c.call(int64(id+1), "work")
			assert.NoError(t, err)
		})
	}
	calling.Wait()
	assert.Equal(t, 1, auth.renewals)
	assert.Equal(t, 2*calls, f.count("POST work"))
}

func TestAChallengeIsMetTwiceAtMost(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.text(401, "text/plain", "no") })
	c := open(t, f, noGet, with(&renewing{}))
	_, _, err := c.call(1, "work")
	assert.EqualError(t, err, "streamablehttp: POST answered 401 Unauthorized: no")
	assert.Equal(t, 3, f.count("POST work"))
}

func TestAGoodResponseIsNoChallenge(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	c := open(t, f, noGet, with(&authorizer{inspect: func(*http.Response) (bool, error) { return true, nil }}))
	_, _, err := c.call(1, "work")
	assert.NoError(t, err)
	assert.Equal(t, 1, f.count("POST work"), "it was executed")
}

func TestErrorsOfAnAuthorizer(t *testing.T) {
	errLogin := errors.New("sign in first")
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.text(401, "text/plain", "no") })
	auth := &renewing{err: errLogin}
	c := open(t, f, noGet, with(auth))
	_, _, err := c.call(1, "work")
	assert.ErrorIs(t, err, errLogin)
	assert.EqualError(t, err, "streamablehttp: POST answered 401 Unauthorized: sign in first")
	var status *streamablehttp.StatusError
	assert.ErrorAs(t, err, &status)

	failing := &authorizer{}
	c = open(t, f, noGet, with(failing))
	failing.authorize = func(*http.Request, bool) error { return errLogin }
	_, _, err = c.call(1, "other")
	assert.ErrorIs(t, err, errLogin)
	assert.EqualError(t, err, "streamablehttp: POST: authorize: sign in first")
	assert.True(t, transport.SafeToRetry(err))
	failing.authorize = nil
}

func TestCleaningUpAsksNobody(t *testing.T) { // field case 57
	f := newFake(t)
	f.on("POST notifications/cancelled", func(a *arrival) { a.status(401) })
	f.on("POST tasks/cancel", func(a *arrival) { a.stream(); a.event("id: 1", "retry: 1", "data:") })
	f.on("GET", func(a *arrival) { a.status(401) })
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	f.on("DELETE", func(a *arrival) { a.status(401) })
	var mu sync.Mutex
	var asked, refused []string
	c := open(t, f, noGet, with(&authorizer{
		authorize: func(req *http.Request, refresh bool) error {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, fmt.Sprint(req.Method, refresh))
			return nil
		},
		inspect: func(resp *http.Response) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			refused = append(refused, resp.Status)
			return true, nil
		},
	}))
	_, _, err := c.call(1, "work")
	require.NoError(t, err)
	notice := transport.Outgoing{Message: notification("notifications/cancelled"), Version: version, Unattended: true}
	assert.Error(t, c.conn.Send(t.Context(), notice))
	cancel := transport.Outgoing{Message: request(2, "tasks/cancel"), Version: version, Unattended: true}
	assert.Error(t, c.conn.Send(t.Context(), cancel))
	assert.Error(t, c.conn.Close())
	assert.Equal(t, []string{"POSTtrue", "POSTtrue", "POSTtrue", "POSTfalse", "POSTfalse", "GETfalse", "DELETEfalse"},
		asked)
	assert.False(t, slices.Contains(refused, "401 Unauthorized"))
	assert.Equal(t, 1, f.count("POST notifications/cancelled"))
	assert.Equal(t, 1, f.count("DELETE"))
}

func TestAnAuthorizerMayChangeTheURL(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	c := open(t, f, noGet, with(&authorizer{authorize: func(req *http.Request, _ bool) error {
		req.URL.RawQuery += "k"
		return nil
	}}))
	_, _, err := c.call(1, "work")
	require.NoError(t, err)
	assert.Equal(t, "k", f.await("POST work", 1).r.URL.RawQuery, "each request starts from the same URL")
}
