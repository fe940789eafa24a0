package streamablehttp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

// legacyFake is a server of the HTTP+SSE transport: it refuses a POST to its stream, and answers on that stream what is
// posted to its endpoint.
type legacyFake struct {
	t        *testing.T
	url      string
	status   int    // of a POST to the stream
	endpoint string // as the event names it
	first    string // what comes before it
	answers  chan string
	cut      chan struct{} // ends the stream
	posts    chan *http.Request
	early    bool // the answer comes before the 202
	held     bool // the 202 never comes
}

func newLegacyFake(t *testing.T) *legacyFake {
	f := &legacyFake{
		t: t, status: 405, endpoint: "messages?id=1",
		answers: make(chan string), cut: make(chan struct{}), posts: make(chan *http.Request, 100),
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL + "/legacy/sse"
	return f
}

func (f *legacyFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &arrival{w: w, r: r}
	switch r.Method + " " + r.URL.Path {
	case "POST /legacy/sse":
		a.text(f.status, "text/plain", "no POST here")
	case "GET /legacy/sse":
		a.stream()
		a.write(f.first)
		if f.endpoint != "" {
			a.event("event: endpoint", "data: "+f.endpoint)
		}
		for {
			select {
			case answer := <-f.answers:
				a.event("event: message", "data: "+answer)
			case <-f.cut:
				return
			case <-r.Context().Done():
				return
			}
		}
	case "POST /legacy/messages":
		assert.Equal(f.t, "id=1", r.URL.RawQuery)
		f.posts <- r
		body := make([]byte, r.ContentLength)
		r.Body.Read(body)
		for m := range transport.Decode(body) {
			a.msg = m
		}
		if !a.msg.IsRequest() {
			a.status(202)
			return
		}
		answer := a.answer(`{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"old","version":"1"}}`)
		if f.early {
			f.answers <- answer
			select {
			case <-r.Context().Done():
				f.t.Error("the POST was given up, which may stop the server's work")
			case <-time.After(20 * time.Millisecond):
			}
			if f.held {
				a.linger()
			}
			a.text(202, "text/plain", "Accepted")
			return
		}
		a.text(202, "text/plain", "Accepted")
		a.flush()
		f.answers <- answer
	default:
		f.t.Error("nobody expects", r.Method, r.URL)
	}
}

func TestFallBackToHTTPAndSSE(t *testing.T) {
	for name, change := range map[string]func(*legacyFake, *streamablehttp.Transport){
		"400": func(f *legacyFake, _ *streamablehttp.Transport) { f.status = 400 },
		"404": func(f *legacyFake, _ *streamablehttp.Transport) { f.status = 404 },
		"405": func(f *legacyFake, _ *streamablehttp.Transport) {},
		"only": func(f *legacyFake, tr *streamablehttp.Transport) {
			tr.LegacySSE = streamablehttp.LegacyOnly
			f.status = 500
		},
		"path":       func(f *legacyFake, _ *streamablehttp.Transport) { f.endpoint = "/legacy/messages?id=1" },
		"ping first": func(f *legacyFake, _ *streamablehttp.Transport) { f.first = ": hi\n\nevent: ping\ndata: 1\n\n" },
		"absolute": func(f *legacyFake, tr *streamablehttp.Transport) {
			f.endpoint = tr.URL[:len(tr.URL)-len("sse")] + "messages?id=1"
		},
		"answers before it accepts":   func(f *legacyFake, _ *streamablehttp.Transport) { f.early = true },
		"answers and does not accept": func(f *legacyFake, _ *streamablehttp.Transport) { f.early, f.held = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newLegacyFake(t)
			tr := &streamablehttp.Transport{URL: f.url, Header: http.Header{"X-User": {"me"}}}
			tr.Authorizer = streamablehttp.StaticToken("token")
			change(f, tr)
			client, err := mcp.Connect(t.Context(), tr, legacy)
			require.NoError(t, err)
			assert.Equal(t, "old", client.Server().Info.Name)
			for range 3 {
				_, err = client.Request(t.Context(), "work", nil)
				require.NoError(t, err)
			}
			require.NoError(t, client.Close())
			for range 5 {
				r := within(t, f.posts)
				assert.Equal(t, "me", r.Header.Get("X-User"))
				assert.Equal(t, "Bearer token", r.Header.Get("Authorization"))
			}
		})
	}
}

func TestTheEndOfTheLegacyStreamEndsTheConnection(t *testing.T) {
	f := newLegacyFake(t)
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, legacy)
	require.NoError(t, err)
	defer client.Close()
	close(f.cut)
	within(t, client.Done())
	assert.ErrorIs(t, client.Err(), mcp.ErrClosed)
	assert.ErrorContains(t, client.Err(), "the server's stream ended")
}

func TestAMessageOverTheLimitOnTheLegacyStream(t *testing.T) {
	f := newLegacyFake(t)
	methods := make(chan string, 2)
	o := *legacy
	o.On.Other = func(_ context.Context, method string, _ json.RawMessage) { methods <- method }
	client, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url, MaxMessageBytes: 1000}, &o)
	require.NoError(t, err)
	defer client.Close()
	f.answers <- `{"jsonrpc":"2.0","method":"large","params":{"x":"` + strings.Repeat("x", 2000) + `"}}`
	f.answers <- `{"jsonrpc":"2.0","method":"small"}`
	assert.Equal(t, "small", within(t, methods))
}

func TestNoFallBack(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*legacyFake, *streamablehttp.Transport)
		text   string
	}{
		"never": {
			func(_ *legacyFake, tr *streamablehttp.Transport) { tr.LegacySSE = streamablehttp.LegacyNever },
			"POST answered 405 Method Not Allowed: no POST here",
		},
		"another status": {
			func(f *legacyFake, _ *streamablehttp.Transport) { f.status = 403 },
			"POST answered 403 Forbidden: no POST here",
		},
		"another origin": {
			func(f *legacyFake, _ *streamablehttp.Transport) {
				f.endpoint = "http://127.0.0.2:1/messages?key=secret"
			},
			"POST answered 405 Method Not Allowed: no POST here; as HTTP+SSE: " +
				"the endpoint event names another origin: http://127.0.0.2:1/messages",
		},
		"no endpoint": {
			func(f *legacyFake, _ *streamablehttp.Transport) { f.endpoint = ""; close(f.cut) },
			"POST answered 405 Method Not Allowed: no POST here; as HTTP+SSE: the stream ended before its endpoint event",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newLegacyFake(t)
			tr := &streamablehttp.Transport{URL: f.url}
			test.change(f, tr)
			c := connect(t, tr)
			_, _, err := c.send(t.Context(), request(0, "initialize"), "")
			assert.EqualError(t, err, "streamablehttp: "+test.text)
			var status *streamablehttp.StatusError
			assert.ErrorAs(t, err, &status)
		})
	}
}

func TestAnErrorResponseIsNoSignOfHTTPAndSSE(t *testing.T) {
	f := newFake(t)
	f.on("POST initialize", func(a *arrival) {
		a.text(400, "application/json",
			`{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"Unsupported protocol version"}}`)
	})
	c := connect(t, &streamablehttp.Transport{URL: f.url})
	answer, _, err := c.send(t.Context(), request(0, "initialize"), "")
	require.NoError(t, err)
	assert.EqualError(t, answer.Error, "Unsupported protocol version (-32000)")
	assert.Zero(t, f.count("GET"))
}

func TestAnErrorResponseToNobodyIsNoSignEither(t *testing.T) {
	f := newFake(t)
	f.on("POST initialize", func(a *arrival) {
		a.text(400, "application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"bad"}}`)
	})
	c := connect(t, &streamablehttp.Transport{URL: f.url})
	_, _, err := c.send(t.Context(), request(0, "initialize"), "")
	assert.EqualError(t, err, "streamablehttp: POST answered 400 Bad Request: bad (-32600)")
	assert.Zero(t, f.count("GET"))
}

func TestNeitherOneNorTheOther(t *testing.T) {
	f := newFake(t)
	f.on("POST initialize", func(a *arrival) { a.status(404) })
	f.on("GET", func(a *arrival) { a.status(404) })
	_, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: f.url}, legacy)
	assert.ErrorContains(t, err, "streamablehttp: POST answered 404 Not Found; as HTTP+SSE: GET answered 404 Not Found")
	_, err = (&streamablehttp.Transport{URL: f.url, LegacySSE: streamablehttp.LegacyOnly}).Connect(t.Context())
	assert.EqualError(t, err, "streamablehttp: GET answered 404 Not Found")
}

func TestTheEndpointIsNotWaitedForAfterTheContext(t *testing.T) {
	f := newLegacyFake(t)
	f.endpoint = ""
	for _, mode := range []streamablehttp.LegacyMode{streamablehttp.LegacyOnly, streamablehttp.LegacyAuto} {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := mcp.Connect(ctx, &streamablehttp.Transport{URL: f.url, LegacySSE: mode}, legacy)
			done <- err
		}()
		cancel()
		assert.ErrorIs(t, within(t, done), context.Canceled)
	}
}
