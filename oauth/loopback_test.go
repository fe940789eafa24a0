package oauth_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

func listenLoopback(t *testing.T, o oauth.LoopbackOptions) *oauth.Loopback {
	t.Helper()
	l, err := oauth.ListenLoopback(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

// visit is a browser that was sent to a URL.
func visit(t *testing.T, rawURL string) (status int, page string, header http.Header) {
	t.Helper()
	resp, err := http.Get(rawURL)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body), resp.Header
}

type waited struct {
	response *oauth.Response
	err      error
}

func waitFor(t *testing.T, l *oauth.Loopback, state string) <-chan waited {
	done := make(chan waited, 1)
	go func() {
		r, err := l.Wait(t.Context(), state)
		done <- waited{r, err}
	}()
	return done
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{})
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/callback$`, l.RedirectURL())
	done := waitFor(t, l, "s1")
	status, page, header := visit(t, l.RedirectURL()+"?code=the-code&state=s1&iss=https%3A%2F%2Fas")
	assert.Equal(t, http.StatusOK, status)
	for _, secret := range []string{"the-code", "s1", "https://as"} {
		assert.NotContains(t, page, secret)
	}
	assert.Equal(t, "no-store", header.Get("Cache-Control"))
	assert.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
	got := <-done
	require.NoError(t, got.err)
	assert.Equal(t, oauth.Response{
		Code: "the-code", State: "s1", Issuer: "https://as", RedirectURL: l.RedirectURL(),
	}, *got.response)
}

func TestLoopbackWhereItIsTold(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := free.Addr().(*net.TCPAddr).Port
	require.NoError(t, free.Close())
	l := listenLoopback(t, oauth.LoopbackOptions{
		Host: "localhost", Port: port, Path: "/back", ExtraPaths: []string{"/other"},
	})
	u, err := url.Parse(l.RedirectURL())
	require.NoError(t, err)
	assert.Equal(t, "localhost", u.Hostname())
	assert.Equal(t, "/back", u.Path)

	done := waitFor(t, l, "s1")
	at := strings.Replace(l.RedirectURL(), "/back", "/other", 1)
	status, _, _ := visit(t, at+"?code=c&state=s1")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, at, (<-done).response.RedirectURL)
}

// TestLocalhostIsBothAddressesOrNone has another program on ::1, to which a browser might go first.
func TestLocalhostIsBothAddressesOrNone(t *testing.T) {
	other, err := net.Listen("tcp6", "[::1]:0")
	require.NoError(t, err)
	defer other.Close()
	_, err = oauth.ListenLoopback(oauth.LoopbackOptions{
		Host: "localhost", Port: other.Addr().(*net.TCPAddr).Port,
	})
	require.Error(t, err)
}

// TestStrayRequests must neither end the wait nor have anything to say in it.
func TestStrayRequests(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{})
	done := waitFor(t, l, "s1")
	base := strings.TrimSuffix(l.RedirectURL(), "/callback")
	for at, want := range map[string]int{
		"/favicon.ico":                       http.StatusNotFound,
		"/callback":                          http.StatusBadRequest,
		"/callback?state=s1":                 http.StatusBadRequest,
		"/callback?code=c":                   http.StatusBadRequest,
		"/callback?code=c&state=unknown":     http.StatusBadRequest,
		"/callback?code=c&code=d&state=s1":   http.StatusBadRequest,
		"/callback?code=c&state=s1&state=s2": http.StatusBadRequest,
	} {
		status, page, _ := visit(t, base+at)
		assert.Equal(t, want, status, at)
		assert.NotContains(t, page, "unknown")
	}
	resp, err := http.Post(l.RedirectURL()+"?code=c&state=s1", "text/plain", nil)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)

	req, err := http.NewRequest(http.MethodGet, l.RedirectURL()+"?code=c&state=s1", nil)
	require.NoError(t, err)
	req.Host = "evil.example"
	resp, err = http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusMisdirectedRequest, resp.StatusCode)

	status, _, _ := visit(t, l.RedirectURL()+"?error=access_denied&state=s1")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "access_denied", (<-done).response.Error)
}

func TestSeveralSignInsAtATime(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{})
	states := []string{"s1", "s2", "s3", "s4"}
	var running sync.WaitGroup
	for _, state := range states {
		running.Go(func() {
			r, err := l.Wait(t.Context(), state)
			if assert.NoError(t, err) {
				assert.Equal(t, "code-of-"+state, r.Code)
			}
		})
		running.Go(func() { visit(t, l.RedirectURL()+"?code=code-of-"+state+"&state="+state) })
	}
	running.Wait()
}

// TestAnAnswerBeforeTheWait is a browser that is faster than the program that opened it.
func TestAnAnswerBeforeTheWait(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{})
	visited := make(chan int)
	go func() {
		status, _, _ := visit(t, l.RedirectURL()+"?code=first&state=s1")
		visited <- status
	}()
	assert.Equal(t, http.StatusBadRequest, <-visited, "nobody has come for it")
	r, err := l.Wait(t.Context(), "s1")
	require.NoError(t, err)
	assert.Equal(t, "first", r.Code)
}

// TestAWaitJustAfterTheAnswer: the user sees that it has arrived.
func TestAWaitJustAfterTheAnswer(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{})
	visited := make(chan int)
	go func() {
		status, _, _ := visit(t, l.RedirectURL()+"?code=first&state=s1")
		visited <- status
	}()
	oauth.AwaitUnclaimed(l)
	_, err := l.Wait(t.Context(), "s1")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, <-visited)
}

func TestTheFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{})
	for _, code := range []string{"first", "second"} {
		visit(t, l.RedirectURL()+"?state=s1&code="+code)
	}
	r, err := l.Wait(t.Context(), "s1")
	require.NoError(t, err)
	assert.Equal(t, "first", r.Code)
}

// TestLoopbackClosesInTime has a browser that keeps connections on which it sends nothing.
func TestLoopbackClosesInTime(t *testing.T) {
	t.Parallel()
	l, err := oauth.ListenLoopback(oauth.LoopbackOptions{})
	require.NoError(t, err)
	u, err := url.Parse(l.RedirectURL())
	require.NoError(t, err)
	var kept []net.Conn
	for _, begun := range []string{"", "GET /callback HTTP/1.1\r\n"} {
		conn, err := net.Dial("tcp", u.Host)
		require.NoError(t, err)
		defer conn.Close()
		kept = append(kept, conn)
		_, err = io.WriteString(conn, begun)
		require.NoError(t, err)
	}
	done := waitFor(t, l, "s1")
	begun := time.Now()
	require.NoError(t, l.Close())
	assert.Less(t, time.Since(begun), time.Second)
	assert.ErrorIs(t, (<-done).err, net.ErrClosed)
	for _, conn := range kept {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Second)))
		_, err = io.ReadAll(conn)
		assert.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is still there")
	}
	_, err = l.Wait(t.Context(), "s2")
	assert.ErrorIs(t, err, net.ErrClosed)
	assert.NoError(t, l.Close(), "again")
}

func TestWaitEnds(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{Timeout: 10 * time.Millisecond})
	_, err := l.Wait(t.Context(), "s1")
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	gone := errors.New("the user has left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	_, err = l.Wait(ctx, "s1")
	assert.ErrorIs(t, err, gone)

	_, err = l.Wait(t.Context(), "")
	assert.ErrorContains(t, err, "state")
}

func TestAPageOfYourOwn(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{Page: func(w http.ResponseWriter, taken bool) {
		if taken {
			_, _ = io.WriteString(w, "thank you")
			return
		}
		w.WriteHeader(http.StatusTeapot)
	}})
	done := waitFor(t, l, "s1")
	status, _, _ := visit(t, l.RedirectURL())
	assert.Equal(t, http.StatusTeapot, status)
	_, page, _ := visit(t, l.RedirectURL()+"?state=s1&code=c")
	assert.Equal(t, "thank you", page)
	require.NoError(t, (<-done).err)
}

func TestLoopbackRefusesToListenElsewhere(t *testing.T) {
	t.Parallel()
	for _, o := range []oauth.LoopbackOptions{
		{Host: "0.0.0.0"}, {Host: "192.0.2.1"}, {Host: "example.com"}, {Path: "callback"}, {Path: "/a?b"},
		{ExtraPaths: []string{"x"}}, {Port: -1},
	} {
		_, err := oauth.ListenLoopback(o)
		require.Error(t, err)
		assert.Regexp(t, "^oauth: ", err)
	}
}

// TestLoopbackOfAHostInCapitals: browsers write hosts in lower case.
func TestLoopbackOfAHostInCapitals(t *testing.T) {
	t.Parallel()
	l := listenLoopback(t, oauth.LoopbackOptions{Host: "LocalHost"})
	done := waitFor(t, l, "s1")
	status, _, _ := visit(t, strings.ToLower(l.RedirectURL())+"?code=c&state=s1")
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, (<-done).err)
}
