package streamablehttp_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/streamablehttp"
)

func TestRedirectsOnTheSameOrigin(t *testing.T) { // field case 88
	for _, status := range []int{307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			f := newFake(t)
			f.on("GET", func(a *arrival) { a.stream(); a.linger() })
			f.on("POST work", func(a *arrival) { a.json(`{}`) })
			f.server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/") {
					w.Header().Set("Location", "/mcp/")
					w.WriteHeader(status)
					return
				}
				f.ServeHTTP(w, r)
			})
			c := open(t, f, func(tr *streamablehttp.Transport) {
				tr.Header = http.Header{"X-User": {"me"}}
				tr.Authorizer = streamablehttp.StaticToken("token")
			})
			f.await("GET", 1)
			_, _, err := c.call(7, "work")
			require.NoError(t, err)
			require.NoError(t, c.conn.Close())
			for _, key := range []string{"POST initialize", "POST work", "GET", "DELETE"} {
				a := f.await(key, 1)
				assert.Equal(t, "me", a.got("X-User"), key)
				assert.Equal(t, "Bearer token", a.got("Authorization"), key)
			}
			assert.Equal(t, `{"jsonrpc":"2.0","id":7,"method":"work"}`, f.await("POST work", 1).body)
		})
	}
}

func TestARedirectKeepsTheUserOfTheURL(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) {
		if a.nth == 1 {
			a.set("Location", f.url) // as most servers write it: absolute
			a.status(307)
			return
		}
		a.json(`{}`)
	})
	c := open(t, f, noGet, func(tr *streamablehttp.Transport) {
		tr.URL = strings.Replace(tr.URL, "http://", "http://me:secret@", 1)
		tr.Client = f.server.Client()
	})
	_, _, err := c.call(1, "work")
	require.NoError(t, err)
	for nth := range 2 {
		user, password, _ := f.await("POST work", nth+1).r.BasicAuth()
		assert.Equal(t, "me secret", user+" "+password)
	}
}

func TestARedirectThatSetsACookie(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) {
		if a.nth == 1 {
			a.set("Set-Cookie", "balancer=second; Path=/")
			a.set("Location", f.url)
			a.status(307)
			return
		}
		a.json(`{}`)
	})
	f.on("POST notifications/initialized", func(a *arrival) {
		a.set("Set-Cookie", "balancer=first; Path=/")
		a.status(202)
	})
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	given := *f.server.Client()
	given.Jar = jar
	c := open(t, f, noGet, func(tr *streamablehttp.Transport) { tr.Client = &given })
	_, _, err = c.call(1, "work")
	require.NoError(t, err)
	assert.Equal(t, "balancer=first", f.await("POST work", 1).got("Cookie"))
	assert.Equal(t, "balancer=second", f.await("POST work", 2).got("Cookie"))
}

func TestRedirectsThatAreRefused(t *testing.T) { // field case 88
	var leaked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	defer elsewhere.Close()
	const was = "POST was redirected "
	for _, test := range []struct {
		status       int
		target, text string
	}{
		{301, "/other?token=secret", was + "(301 Moved Permanently) to ORIGIN/other, which would change its method"},
		{302, "/other", was + "(302 Found) to ORIGIN/other, which would change its method"},
		{303, "/other", was + "(303 See Other) to ORIGIN/other, which would change its method"},
		{307, elsewhere.URL + "/x?token=secret", was + "(307 Temporary Redirect) to " + elsewhere.URL + "/x, another origin"},
		{308, elsewhere.URL, was + "(308 Permanent Redirect) to " + elsewhere.URL + ", another origin"},
		{307, "", "POST answered 307 Temporary Redirect without a usable target"},
		{307, "/mcp", "too many redirects"},
	} {
		t.Run(fmt.Sprint(test.status, test.target), func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", func(a *arrival) {
				a.set("Location", test.target)
				a.status(test.status)
			})
			c := open(t, f, func(tr *streamablehttp.Transport) { tr.Header = http.Header{"X-Key": {"secret"}} })
			_, _, err := c.call(1, "work")
			assert.EqualError(t, err, "streamablehttp: "+strings.ReplaceAll(test.text, "ORIGIN", f.server.URL))
			assert.NotContains(t, err.Error(), "secret")
		})
	}
	assert.Zero(t, leaked.Load())
}

func TestAClientOfTheHostsFollowsNoRedirectByItself(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Error("leaked") }))
	defer elsewhere.Close()
	f := newFake(t)
	f.on("GET", func(a *arrival) { a.set("Location", elsewhere.URL); a.status(302) })
	f.on("POST work", func(a *arrival) { a.set("Location", elsewhere.URL); a.status(307) })
	given := &http.Client{Transport: &http.Transport{}}
	defer given.CloseIdleConnections()
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.Client = given })
	_, _, err := c.call(1, "work")
	assert.ErrorContains(t, err, "another origin")
	f.await("GET", 1)
	require.NoError(t, c.conn.Close())
	assert.Nil(t, given.CheckRedirect, "the host's own is left alone")
}
