package streamablehttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

func noGet(tr *streamablehttp.Transport) { tr.DisableGetStream = true }

func TestAResponseIsResumed(t *testing.T) { // field cases 77, 83
	f := newFake(t)
	var cut time.Time
	var answer string
	f.on("POST work", func(a *arrival) {
		answer = a.answer(`{}`)
		a.stream()
		a.event("id: e1", "retry: 500", "data:")
		cut = time.Now()
	})
	f.on("GET", func(a *arrival) {
		assert.GreaterOrEqual(t, time.Since(cut), 500*time.Millisecond)
		assert.Equal(t, "e1", a.got("Last-Event-ID"))
		assert.Equal(t, sessionID, a.got("Mcp-Session-Id"))
		assert.Equal(t, version, a.got("Mcp-Protocol-Version"))
		assert.Equal(t, "text/event-stream", a.got("Accept"))
		a.stream()
		a.event(`data: {"jsonrpc":"2.0","method":"notifications/progress"}`)
		a.event("data: " + answer)
		a.linger()
	})
	c := open(t, f, noGet)
	result, before, err := c.call(1, "work")
	require.NoError(t, err)
	assert.Equal(t, `{}`, result)
	assert.Len(t, before, 1)
}

func TestResumptionAgainAndAgain(t *testing.T) { // field case 85
	f := newFake(t)
	f.on("POST work", func(a *arrival) {
		a.stream()
		a.event("id: e0", "retry: 1", "data:")
		panic(http.ErrAbortHandler)
	})
	f.on("GET", func(a *arrival) {
		assert.Equal(t, fmt.Sprint("e", a.nth-1), a.got("Last-Event-ID"))
		a.stream()
		a.event(fmt.Sprint("id: e", a.nth), `data: {"jsonrpc":"2.0","method":"notifications/progress"}`)
		if a.nth == 4 {
			a.event(`data: {"jsonrpc":"2.0","id":1,"result":{}}`)
			a.event("id: e9", "data:")
		}
	})
	// No retries: the first GET is made all the same, and each event resets the count.
	c := open(t, f, noGet, func(tr *streamablehttp.Transport) { tr.Reconnect.MaxRetries = -1 })
	_, before, err := c.call(1, "work")
	require.NoError(t, err)
	assert.Len(t, before, 4)
	require.NoError(t, c.conn.Close())
	assert.Equal(t, 4, f.count("GET"), "nothing is asked for after the answer")
}

func TestAResponseThatCannotBeResumed(t *testing.T) {
	const (
		cannot = "no response: the stream cannot be resumed: "
		gaveUp = "no response: gave up resuming the stream: "
		ended  = "the stream ended without it"
	)
	for name, test := range map[string]struct {
		serve   func(*arrival)
		gets    int
		expired bool
		text    string
	}{
		"405":       {func(a *arrival) { a.status(405) }, 1, false, cannot + "GET answered 405 Method Not Allowed"},
		"404":       {func(a *arrival) { a.status(404) }, 1, true, "session expired: GET answered 404 Not Found"},
		"no stream": {func(a *arrival) { a.json("1") }, 1, false, cannot + "GET answered without an event stream"},
		"down":      {func(a *arrival) { a.status(502) }, 2, false, gaveUp + "GET answered 502 Bad Gateway"},
		"empty":     {func(a *arrival) { a.stream() }, 2, false, gaveUp + ended},
		"comments":  {func(a *arrival) { a.stream(); a.event(": hello") }, 2, false, gaveUp + ended},
		"no id":     {func(a *arrival) { a.stream(); a.event("id:", "data:") }, 1, false, "no response: " + ended},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", func(a *arrival) {
				a.stream()
				a.event("id: e1", "retry: 1", "data:")
			})
			f.on("GET", func(a *arrival) {
				a.msg = request(1, "")
				test.serve(a)
			})
			c := open(t, f, noGet, quick, func(tr *streamablehttp.Transport) { tr.Reconnect.MaxRetries = 2 })
			_, _, err := c.call(1, "work")
			assert.EqualError(t, err, "streamablehttp: "+test.text)
			assert.Equal(t, test.expired, errors.Is(err, transport.ErrSessionExpired))
			assert.False(t, transport.SafeToRetry(err), "the server may have executed it")
			assert.Equal(t, test.gets, f.count("GET"))
		})
	}
}

func TestAServerThatVanishesWhileAResponseIsResumed(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) {
		a.stream()
		a.event("id: e1", "retry: 1", "data:")
		f.server.Listener.Close()
	})
	c := open(t, f, noGet, quick, func(tr *streamablehttp.Transport) {
		tr.Reconnect.MaxRetries = 1
		tr.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // so that it must dial
	})
	_, _, err := c.call(1, "work")
	assert.ErrorIs(t, err, transport.ErrNoResponse)
	assert.False(t, transport.SafeToRetry(err), "only the GET was not sent")
}
