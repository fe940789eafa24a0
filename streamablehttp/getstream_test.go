package streamablehttp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

// quick makes what is tried again be tried soon.
func quick(tr *streamablehttp.Transport) { tr.Reconnect.Delay = 1 }

func TestServersWithoutAGetStream(t *testing.T) { // field cases 63, 66
	serve := map[string]func(*arrival){
		"html": func(a *arrival) { a.text(200, "text/html", "<html>") },
		"json": func(a *arrival) { a.text(200, "application/json", "{}") },
		"204":  func(a *arrival) { a.status(204) },
		"302":  func(a *arrival) { a.set("Location", "https://elsewhere.example/"); a.status(302) },
	}
	for _, status := range []int{405, 404, 406, 400, 501, 401} {
		serve[fmt.Sprint(status)] = func(a *arrival) { a.text(status, "text/plain", "no") }
	}
	for name, serve := range serve {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("GET", serve)
			f.on("POST work", func(a *arrival) { a.json(`{}`) })
			c := open(t, f, quick)
			f.await("GET", 1)
			_, _, err := c.call(1, "work")
			assert.NoError(t, err)
			require.NoError(t, c.conn.Close()) // waits for what runs in the background
			assert.Equal(t, 1, f.count("GET"))
			assert.Empty(t, c.received)
		})
	}
}

func TestAGetThatIsNotAnswered(t *testing.T) { // field case 68
	f := newFake(t)
	f.on("GET", func(a *arrival) { a.linger() })
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	c := open(t, f)
	f.await("GET", 1)
	for id := range 3 {
		_, _, err := c.call(int64(id+1), "work")
		assert.NoError(t, err)
	}
	assert.NoError(t, c.conn.Close())
}

func TestNoGetStreamIfItIsDisabled(t *testing.T) {
	f := newFake(t)
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.DisableGetStream = true })
	require.NoError(t, c.conn.Close())
	assert.Zero(t, f.count("GET"))
}

func TestTheGetStreamIsTakenUpAgain(t *testing.T) {
	f := newFake(t)
	f.on("GET", func(a *arrival) {
		switch a.nth {
		case 1:
			a.stream()
			a.event("id: e1", "retry: 1", `data: {"jsonrpc":"2.0","method":"first"}`)
		case 2:
			a.status(503)
		default:
			a.stream()
			a.event("id: e2", `data: {"jsonrpc":"2.0","method":"second"}`)
			a.linger()
		}
	})
	c := open(t, f, quick)
	assert.Equal(t, "first", within(t, c.received).Method)
	assert.Equal(t, "second", within(t, c.received).Method)
	assert.Empty(t, f.await("GET", 1).got("Last-Event-ID"))
	assert.Equal(t, "e1", f.await("GET", 2).got("Last-Event-ID"))
	assert.Equal(t, "e1", f.await("GET", 3).got("Last-Event-ID"))
}

func TestAListenerThatIsNotKnownAnyMore(t *testing.T) { // field case 69
	f := newFake(t)
	f.on("GET", func(a *arrival) {
		if a.nth > 1 {
			a.text(404, "text/plain", "gone")
			return
		}
		a.stream()
		a.event("id: e1", "retry: 1", `data: {"jsonrpc":"2.0","method":"first"}`)
	})
	c := open(t, f, quick)
	within(t, c.received)
	lost := within(t, c.received)
	assert.ErrorIs(t, lost.Fault, transport.ErrUnheard)
	assert.EqualError(t, lost.Fault, "the server's stream is lost, nothing is received unasked any more: "+
		"GET answered 404 Not Found: gone")
	require.NoError(t, c.conn.Close())
	assert.Equal(t, 2, f.count("GET"))
}

func TestWhatWasSentWhileTheGetStreamWasAway(t *testing.T) {
	for name, first := range map[string]func(*arrival){
		"a stream without ids": func(a *arrival) { a.stream() },
		"an outage before it":  func(a *arrival) { a.status(503) },
		"an id taken back":     func(a *arrival) { a.stream(); a.event("id: 1", "data:"); a.event("id", "data:") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on("GET", func(a *arrival) {
				switch a.nth {
				case 1:
					first(a)
				case 2:
					a.status(503)
				default:
					a.stream()
					a.event("id: 2", `data: {"jsonrpc":"2.0","method":"m"}`)
					if a.nth > 3 {
						a.linger()
					}
				}
			})
			c := open(t, f, quick)
			assert.ErrorIs(t, within(t, c.received).Fault, transport.ErrMissed)
			assert.Equal(t, "m", within(t, c.received).Method)
			assert.Equal(t, "m", within(t, c.received).Method, "the server has told since the last event")
		})
	}
}

// watched is a client of a server with a resource, which listens for it.
func watched(
	t *testing.T, f *fake, change ...func(*streamablehttp.Transport),
) (c *mcp.Client, events chan mcp.Event, ended chan error) {
	f.on("POST initialize", func(a *arrival) {
		a.set("Mcp-Session-Id", fmt.Sprint("session-", a.nth))
		a.json(`{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true}},` +
			`"serverInfo":{"name":"fake","version":"1"}}`)
	})
	f.on("POST resources/subscribe", func(a *arrival) { a.json(`{}`) })
	tr := &streamablehttp.Transport{URL: f.url}
	for _, change := range append(change, quick) {
		change(tr)
	}
	c, err := mcp.Connect(t.Context(), tr, legacy)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	s, err := c.Listen(t.Context(), mcp.Filter{URIs: []string{"file:///a"}})
	require.NoError(t, err)
	events, ended = make(chan mcp.Event, 10), make(chan error, 1)
	go func() {
		for e, err := range s.Events(context.Background()) {
			if err != nil {
				ended <- err
				return
			}
			events <- e
		}
	}()
	return c, events, ended
}

func TestListenersOutlastAnOutage(t *testing.T) {
	f := newFake(t)
	cut := make(chan struct{})
	f.on("GET", func(a *arrival) {
		switch {
		case a.nth == 1:
			a.stream()
			<-cut
		case a.nth < 10: // longer than any budget
			a.status(503)
		default:
			a.stream()
			a.linger()
		}
	})
	c, events, _ := watched(t, f, func(tr *streamablehttp.Transport) { tr.Reconnect.MaxDelay = 1 })
	close(cut)
	assert.Equal(t, "file:///a", within(t, events).URI, "whatever it was")
	require.NoError(t, c.Err())
}

func TestListenersOutlastAServerThatStartsAgain(t *testing.T) {
	f := newFake(t)
	cut := make(chan struct{})
	gone := func(a *arrival) { a.text(404, "text/plain", "Session not found") }
	f.on("GET", func(a *arrival) {
		switch {
		case a.got("Mcp-Session-Id") == "session-2":
			a.stream()
			a.linger()
		case a.nth == 1:
			a.stream()
			<-cut
		default:
			gone(a)
		}
	})
	f.on("POST ping", func(a *arrival) {
		if a.got("Mcp-Session-Id") == "session-1" {
			gone(a)
			return
		}
		a.json(`{}`)
	})
	// The ping that found out may be under way when the test ends.
	f.rules["POST notifications/cancelled"] = &rule{serve: func(a *arrival) { a.status(202) }}
	_, events, _ := watched(t, f)
	close(cut)
	assert.Equal(t, "file:///a", within(t, events).URI)
	assert.Equal(t, "session-2", f.await("POST resources/subscribe", 2).got("Mcp-Session-Id"))
}

func TestListenersAreToldThatTheStreamIsRefused(t *testing.T) {
	f := newFake(t)
	cut := make(chan struct{})
	f.on("GET", func(a *arrival) {
		if a.nth > 1 {
			a.status(405)
			return
		}
		a.stream()
		<-cut
	})
	f.on("POST ping", func(a *arrival) { a.json(`{}`) })
	c, events, ended := watched(t, f)
	close(cut)
	assert.ErrorIs(t, within(t, ended), transport.ErrUnheard)
	assert.Empty(t, events)
	require.NoError(t, c.Err())
}

func TestGoAwayOnAnIdleStream(t *testing.T) { // field case 101
	f := newTLS(t)
	goAway := make(chan struct{})
	f.on("GET", func(a *arrival) {
		a.set("Connection", "close") // net/http says it with GOAWAY, NO_ERROR
		a.stream()
		a.event("id: "+fmt.Sprint(a.nth), `data: {"jsonrpc":"2.0","method":"m"}`)
		select {
		case <-goAway:
		case <-a.r.Context().Done():
		}
	})
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	c := open(t, f, quick, func(tr *streamablehttp.Transport) { tr.Client = f.server.Client() })
	within(t, c.received)
	_, _, err := c.call(1, "work")
	require.NoError(t, err)
	close(goAway)
	within(t, c.received)
	assert.Equal(t, "1", f.await("GET", 2).got("Last-Event-ID"))
	_, _, err = c.call(2, "work")
	assert.NoError(t, err)
}

func TestANewSessionHasItsOwnGetStream(t *testing.T) {
	f := newFake(t)
	left := make(chan string, 2)
	f.on("POST initialize", func(a *arrival) {
		a.set("Mcp-Session-Id", fmt.Sprint("session-", a.nth))
		a.json(`{}`)
	})
	f.on("GET", func(a *arrival) {
		a.stream()
		a.event(`data: {"jsonrpc":"2.0","method":"m"}`)
		a.linger()
		left <- a.got("Mcp-Session-Id")
	})
	f.on("POST work", func(a *arrival) { a.status(404) })
	c := open(t, f)
	within(t, c.received)
	_, _, err := c.call(1, "work")
	require.Error(t, err)
	assert.Equal(t, "session-1", within(t, left))
	c.handshake()
	within(t, c.received)
	require.NoError(t, c.conn.Close())
	assert.Equal(t, "session-2", within(t, left))
}

func TestAMessageOverTheLimitOnTheGetStream(t *testing.T) {
	f := newFake(t)
	f.on("GET", func(a *arrival) {
		a.stream()
		a.event(`data: {"jsonrpc":"2.0","id":7,"method":"large","params":"` + strings.Repeat("x", 2000) + `"}`)
		a.event(`data: {"jsonrpc":"2.0","method":"small"}`)
		a.linger()
	})
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.MaxMessageBytes = 1000 })
	large := within(t, c.received)
	assert.ErrorContains(t, large.Fault, "message too large: the limit is 1000 bytes")
	assert.Equal(t, "large", large.Method)
	assert.Equal(t, "small", within(t, c.received).Method)
}

func TestCloseDoesNotNeedAReceiver(t *testing.T) {
	f := newFake(t)
	f.on("GET", func(a *arrival) {
		a.stream()
		a.event(`data: {"jsonrpc":"2.0","method":"m"}`)
		a.linger()
	})
	conn, err := (&streamablehttp.Transport{URL: f.url}).Connect(t.Context())
	require.NoError(t, err)
	c := &client{t: t, conn: conn}
	c.handshake()
	f.await("GET", 1)
	require.NoError(t, conn.Close())
	_, err = conn.Receive(t.Context())
	assert.EqualError(t, err, "streamablehttp: connection closed")
}

// There are servers that drop what they have to say to a client without a stream.
func TestTheGetStreamIsAskedForBeforeAnythingElse(t *testing.T) {
	for range 50 {
		f := newFake(t)
		f.on("GET", func(a *arrival) { a.stream(); a.linger() })
		f.on("POST one", func(a *arrival) { a.json(`{}`) })
		client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, legacy)
		require.NoError(t, err)
		_, err = client.Request(t.Context(), "one", nil)
		require.NoError(t, err)
		order := f.order()
		get, one := slices.Index(order, "GET"), slices.Index(order, "POST one")
		require.GreaterOrEqual(t, get, 0)
		require.Less(t, get, one)
		require.NoError(t, client.Close())
	}
}
