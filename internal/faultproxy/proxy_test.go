package faultproxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/faultproxy"
)

func TestWithoutAFaultNothingChanges(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		w.Header().Set("Mcp-Session-Id", "s")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL, r.Host, r.Header.Get("Last-Event-Id"), body)
	}))
	defer server.Close()
	p := faultproxy.New(t, server.URL, faultproxy.Always(faultproxy.Schedule{}))
	req, err := http.NewRequest("DELETE", p.URL()+"/a%2Fb?c=d", strings.NewReader("body"))
	require.NoError(t, err)
	req.Header.Set("Last-Event-Id", "7")
	client := &http.Client{Transport: &http.Transport{}, Timeout: soon}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, 202, resp.StatusCode)
	assert.Equal(t, "s", resp.Header.Get("Mcp-Session-Id"))
	assert.Equal(t, "DELETE /a%2Fb?c=d "+strings.TrimPrefix(p.URL(), "http://")+" 7 body", string(body))
	assert.Equal(t, "DELETE 1: no fault", p.String())
	assert.Equal(t, 1, p.Passed("DELETE"))
}

func TestHTTPFaults(t *testing.T) {
	for _, test := range []struct {
		faultproxy.Schedule
		status int
		kind   string
		body   string
		passed int
	}{
		{faultproxy.Schedule{Type: "text/html"}, 200, "text/html", stream, 1},
		{faultproxy.Schedule{Status: 502}, 502, "text/event-stream", stream, 1},
		{faultproxy.Schedule{Refuse: 503}, 503, "text/html", "<html><body>no</body></html>", 0},
		{
			faultproxy.Schedule{Duplicate: 2},
			200, "text/event-stream", stream[:34] + stream[17:34] + stream[34:], 1,
		},
		{faultproxy.Schedule{Duplicate: 4}, 200, "text/event-stream", stream, 1},
	} {
		t.Run(test.String(), func(t *testing.T) {
			p := behind(t, faultproxy.Always(test.Schedule))
			resp, body, err := exchange(t, p, "/stream")
			require.NoError(t, err)
			assert.Equal(t, test.status, resp.StatusCode)
			assert.Equal(t, test.kind, resp.Header.Get("Content-Type"))
			assert.Equal(t, test.body, body)
			assert.Equal(t, test.passed, p.Passed("POST"))
		})
	}
}

func TestOnlyEventsAreDuplicated(t *testing.T) {
	p := behind(t, faultproxy.Always(faultproxy.Schedule{Duplicate: 3}))
	_, body, err := exchange(t, p, "/known")
	require.NoError(t, err)
	assert.Equal(t, stream+stream[34:], body)
	resp, body, err := exchange(t, p, "/reply")
	require.NoError(t, err)
	assert.Equal(t, reply, body)
	assert.EqualValues(t, len(reply), resp.ContentLength)
}

func TestDelayIsBeforeTheRequestAndHoldAfterIt(t *testing.T) {
	for _, test := range []struct {
		faultproxy.Schedule
		before, after time.Duration
	}{
		{faultproxy.Schedule{Delay: 50 * time.Millisecond}, 50 * time.Millisecond, 0},
		{faultproxy.Schedule{Hold: 50 * time.Millisecond}, 0, 50 * time.Millisecond},
	} {
		t.Run(test.String(), func(t *testing.T) {
			var seen time.Time
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				seen = time.Now()
			}))
			defer server.Close()
			p := faultproxy.New(t, server.URL, faultproxy.Always(test.Schedule))
			begun := time.Now()
			_, _, err := exchange(t, p, "/")
			require.NoError(t, err)
			assert.GreaterOrEqual(t, seen.Sub(begun), test.before)
			assert.GreaterOrEqual(t, time.Since(seen), test.after)
		})
	}
}

// live is a server that sends one event, and then nothing until the client leaves. It reports both.
func live(t *testing.T) (url string, came, left <-chan struct{}) {
	here, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: one\n\n")
		w.(http.Flusher).Flush()
		here <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	t.Cleanup(server.Close)
	return server.URL, here, gone
}

func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(soon):
		require.Fail(t, "it takes too long")
		panic("unreachable")
	}
}

func TestALiveStreamIsPassedOnAndSoIsItsEnd(t *testing.T) {
	for _, s := range []faultproxy.Schedule{{}, {Duplicate: 2}, {Drip: 3}} {
		t.Run(s.String(), func(t *testing.T) {
			url, _, left := live(t)
			w := dial(t, faultproxy.New(t, url, faultproxy.Always(s)))
			w.post("/")
			w.head()
			for got := ""; got != "data: one\n\n"; {
				_, text, err := w.chunk()
				require.NoError(t, err)
				got += text
			}
			require.NoError(t, w.Close())
			within(t, left)
		})
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	for _, s := range []faultproxy.Schedule{
		{}, {Delay: time.Hour}, {Hold: time.Hour}, {End: faultproxy.HalfClose, After: 5},
	} {
		t.Run(s.String(), func(t *testing.T) {
			url, came, left := live(t)
			p := faultproxy.New(t, url, faultproxy.Always(s))
			w := dial(t, p)
			w.post("/")
			if s.Delay == 0 {
				within(t, came)
			}
			var closing sync.WaitGroup
			for range 3 {
				closing.Go(p.Close)
			}
			closing.Wait()
			_, err := io.Copy(io.Discard, w)
			assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			if s.Delay == 0 {
				within(t, left)
			}
		})
	}
}
