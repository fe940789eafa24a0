package streamablehttp_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

func TestALostSessionIsMadeAnew(t *testing.T) { // field case 60, through the client
	f := newFake(t)
	var sessions atomic.Int32
	f.on("POST initialize", func(a *arrival) {
		assert.Empty(t, a.got("Mcp-Session-Id"))
		a.set("Mcp-Session-Id", "session-"+string('0'+rune(sessions.Add(1))))
		a.json(`{"protocolVersion":"` + version + `","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`)
	})
	f.on("POST work", func(a *arrival) {
		if a.got("Mcp-Session-Id") == "session-1" {
			a.text(404, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
			return
		}
		a.json(`{"ok":true}`)
	})
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url, DisableGetStream: true}, legacy)
	require.NoError(t, err)
	defer client.Close()
	raw, err := client.Request(t.Context(), "work", nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"ok":true}`, string(raw))
	assert.Equal(t, []string{
		"POST initialize", "POST notifications/initialized", "POST work",
		"POST initialize", "POST notifications/initialized", "POST work",
	}, f.order())
	assert.Equal(t, "session-2", f.await("POST notifications/initialized", 2).got("Mcp-Session-Id"))
}

func TestASessionThatIsLostTwiceIsAnError(t *testing.T) { // field case 60
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.status(404) })
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, legacy)
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Request(t.Context(), "work", nil)
	require.ErrorIs(t, err, transport.ErrSessionExpired)
	var status *streamablehttp.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, 404, status.StatusCode)
	assert.Equal(t, 2, f.count("POST work"))
}

func TestConcurrentCallsShareOneNewSession(t *testing.T) {
	f := newFake(t)
	const calls = 20
	var initializes atomic.Int32
	f.on("POST initialize", func(a *arrival) {
		a.set("Mcp-Session-Id", "session-"+string('0'+rune(initializes.Add(1))))
		a.json(`{"protocolVersion":"` + version + `","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`)
	})
	var refused sync.WaitGroup
	refused.Add(calls)
	f.on("POST work", func(a *arrival) {
		if a.got("Mcp-Session-Id") != "session-1" {
			a.json(`{}`)
			return
		}
		refused.Done()
		refused.Wait() // so that all of them are under way
		a.status(404)
	})
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, legacy)
	require.NoError(t, err)
	defer client.Close()
	var calling sync.WaitGroup
	for range calls {
		calling.Go(func() {
			_, err := client.Request(t.Context(), "work", nil)
			assert.NoError(t, err)
		})
	}
	calling.Wait()
	assert.Equal(t, int32(2), initializes.Load())
	assert.Equal(t, 2*calls, f.count("POST work"))
}

func TestALostSessionIsNotUsedAgain(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.status(404) })
	c := open(t, f)
	for range 2 {
		_, _, err := c.call(1, "work")
		require.ErrorIs(t, err, transport.ErrSessionExpired)
		assert.True(t, transport.SafeToRetry(err), "it was not executed")
	}
	assert.Equal(t, 1, f.count("POST work"), "what is known to be in vain is not sent")
	require.NoError(t, c.conn.Close())
	assert.Zero(t, f.count("DELETE"), "there is nothing to delete")
}

func TestALateNewsOfTheOldSessionLeavesTheNewOneAlone(t *testing.T) {
	f := newFake(t)
	slow := make(chan struct{})
	f.on("POST slow", func(a *arrival) {
		<-slow
		a.status(404)
	})
	f.on("POST fast", func(a *arrival) {
		if a.nth == 1 {
			a.status(404)
			return
		}
		a.json(`{}`)
	})
	c := open(t, f)
	done := make(chan error, 1)
	go func() {
		_, _, err := c.call(1, "slow")
		done <- err
	}()
	f.await("POST slow", 1)
	_, _, err := c.call(2, "fast")
	require.ErrorIs(t, err, transport.ErrSessionExpired)
	c.handshake()
	close(slow)
	err = within(t, done)
	require.ErrorIs(t, err, transport.ErrSessionExpired)
	assert.True(t, transport.SafeToRetry(err))
	_, _, err = c.call(3, "fast")
	assert.NoError(t, err)
}

func TestOtherWordsForALostSession(t *testing.T) {
	rpc := func(code, message string) string {
		return `{"jsonrpc":"2.0","id":1,"error":{"code":` + code + `,"message":"` + message + `"}}`
	}
	for name, test := range map[string]struct {
		status int
		header http.Header
		body   string
		lost   bool
	}{
		"404 empty":             {404, nil, "", true},
		"404 page":              {404, nil, "<html>not here</html>", true},
		"400 everything":        {400, nil, rpc("-32000", "Bad Request: No valid session ID provided"), true},
		"400 text":              {400, nil, "Invalid session ID", true},
		"400 other":             {400, nil, "bad request", false},
		"400 argument":          {400, nil, rpc("-32602", "session id: required"), false},
		"401 without challenge": {401, nil, "unknown session", true},
		"401 with challenge":    {401, http.Header{"Www-Authenticate": {"Bearer"}}, "session expired", false},
		"500":                   {500, nil, "no session", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("POST work", func(a *arrival) {
				for name := range test.header {
					a.set(name, test.header.Get(name))
				}
				a.text(test.status, "text/plain", test.body)
			})
			c := open(t, f)
			_, _, err := c.call(1, "work")
			if test.lost {
				assert.ErrorIs(t, err, transport.ErrSessionExpired)
				assert.True(t, transport.SafeToRetry(err))
			} else {
				assert.NotErrorIs(t, err, transport.ErrSessionExpired)
			}
		})
	}
}

func TestWithoutASessionNoneIsLost(t *testing.T) {
	f := newFake(t)
	f.on("POST initialize", func(a *arrival) { a.json(`{}`) })
	f.on("POST work", func(a *arrival) { a.status(404) })
	c := open(t, f)
	_, _, err := c.call(1, "work")
	var status *streamablehttp.StatusError
	require.ErrorAs(t, err, &status)
	assert.NotErrorIs(t, err, transport.ErrSessionExpired)
	require.NoError(t, c.conn.Close())
	assert.Zero(t, f.count("DELETE")) // field case 90
}

func TestOnlyInitializeNamesTheSession(t *testing.T) { // field case 62
	f := newFake(t)
	f.on("POST work", func(a *arrival) {
		a.set("Mcp-Session-Id", "another")
		a.json(`{}`)
	})
	c := open(t, f)
	for range 2 {
		_, _, err := c.call(1, "work")
		require.NoError(t, err)
	}
	require.NoError(t, c.conn.Close())
	assert.Equal(t, sessionID, f.await("POST work", 2).got("Mcp-Session-Id"))
	assert.Equal(t, sessionID, f.await("DELETE", 1).got("Mcp-Session-Id"))
}

func TestHeadersOfTheProtocol(t *testing.T) { // field cases 96, 97, 98
	f := newFake(t)
	f.on("POST initialize", func(a *arrival) {
		assert.NotContains(t, a.r.Header, "Mcp-Protocol-Version") // a server may refuse versions that it does not know
		a.set("Mcp-Session-Id", sessionID)
		a.json(`{}`)
	})
	f.on("GET", func(a *arrival) {
		a.stream()
		a.linger()
	})
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	c := connect(t, &streamablehttp.Transport{URL: f.url, Header: http.Header{
		"X-User": {"a", "b"}, "accept": {"text/html"}, "Mcp-Session-Id": {"forged"}, "Connection": {"close"},
	}})
	const old = "2025-03-26"
	_, _, err := c.send(t.Context(), request(0, "initialize"), old) // the client may have one from an earlier session
	require.NoError(t, err)
	_, _, err = c.send(t.Context(), notification("notifications/initialized"), old)
	require.NoError(t, err)
	f.await("GET", 1)
	err = c.conn.Send(t.Context(), transport.Outgoing{Message: request(1, "work"), Version: old, Header: map[string][]string{
		"x-user": {"mine"}, "X-Call": {"1"}, "mcp-protocol-version": {"forged"}, "content-type": {"text/plain"},
	}})
	require.NoError(t, err)
	require.NoError(t, c.conn.Close())

	assert.Equal(t, []string{"POST initialize", "POST notifications/initialized", "GET", "POST work", "DELETE"}, f.order())
	for _, key := range f.order() {
		a := f.await(key, 1)
		user := []string{"a", "b"}
		if key == "POST work" {
			user = []string{"mine"}
			assert.Equal(t, "1", a.got("X-Call"))
		} else {
			assert.NotContains(t, a.r.Header, "X-Call")
		}
		assert.Equal(t, user, a.r.Header["X-User"], key)
		assert.False(t, a.r.Close, key)
		switch {
		case strings.HasPrefix(key, "POST"):
			assert.Equal(t, []string{"application/json, text/event-stream"}, a.r.Header["Accept"], key)
			assert.Equal(t, []string{"application/json"}, a.r.Header["Content-Type"], key)
		case key == "GET":
			assert.Equal(t, []string{"text/event-stream"}, a.r.Header["Accept"], key)
		}
		if key == "POST initialize" {
			assert.NotContains(t, a.r.Header, "Mcp-Session-Id")
			continue
		}
		assert.Equal(t, []string{old}, a.r.Header["Mcp-Protocol-Version"], key)
		assert.Equal(t, []string{sessionID}, a.r.Header["Mcp-Session-Id"], key)
	}
}
