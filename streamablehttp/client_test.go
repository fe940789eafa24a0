package streamablehttp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
)

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "URL: not an absolute http or https URL",
		"/mcp":                   "URL: not an absolute http or https URL",
		"ftp://h/mcp":            "URL: not an absolute http or https URL",
		"http:///mcp":            "URL: not an absolute http or https URL",
		"http://h:x/?key=secret": `URL: invalid port ":x" after host`,
	} {
		_, err := (&streamablehttp.Transport{URL: text}).Connect(t.Context())
		assert.EqualError(t, err, "streamablehttp: "+want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&streamablehttp.Transport{URL: "http://h"}).Connect(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestTheTimeoutOfAClientDoesNotCutStreams(t *testing.T) { // field case 92
	f := newFake(t)
	const timeout = 50 * time.Millisecond
	f.on("POST work", func(a *arrival) {
		a.stream()
		time.Sleep(3 * timeout)
		a.event("data: " + a.answer(`{}`))
	})
	given := &http.Client{Transport: &http.Transport{}, Timeout: timeout}
	defer given.CloseIdleConnections()
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.Client = given })
	_, _, err := c.call(1, "work")
	assert.NoError(t, err)
	assert.Equal(t, timeout, given.Timeout, "the host's own is left alone")
}

func TestANilClientIsNone(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	var none *http.Client
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.Client = none })
	_, _, err := c.call(1, "work")
	assert.NoError(t, err)
}

func TestAUnixSocket(t *testing.T) {
	f := newBare(t)
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	f.server = httptest.NewUnstartedServer(f)
	f.server.Listener.Close()
	f.server.Listener = listener
	f.server.Start()
	defer f.server.Close()
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	below := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	defer below.CloseIdleConnections()
	f.url = "http://localhost/mcp"
	c := open(t, f, func(tr *streamablehttp.Transport) { tr.Client = &http.Client{Transport: below} })
	_, _, err = c.call(1, "work")
	require.NoError(t, err)
	assert.Equal(t, "localhost", f.await("POST work", 1).r.Host)
}

func TestAHostByAnotherName(t *testing.T) {
	for name, server := range map[string]func(testing.TB) *fake{"HTTP/1.1": newFake, "HTTP/2": newTLS} {
		t.Run(name, func(t *testing.T) {
			f := server(t)
			f.on("GET", func(a *arrival) { a.stream(); a.linger() })
			f.on("DELETE", func(a *arrival) {})
			f.on("POST work", func(a *arrival) {
				if a.nth == 1 {
					a.set("Location", "/elsewhere")
					a.status(307)
					return
				}
				a.json(`{}`)
			})
			c := open(t, f, func(tr *streamablehttp.Transport) {
				tr.Client, tr.Header = f.server.Client(), http.Header{"host": {"mcp.example"}}
			})
			_, _, err := c.call(1, "work")
			require.NoError(t, err)
			require.NoError(t, c.conn.Close())
			for i, key := range f.order() {
				a := f.log[i]
				assert.Equal(t, "mcp.example", a.r.Host, key)
				assert.Equal(t, name == "HTTP/2", a.r.ProtoMajor == 2)
			}
		})
	}
}

func TestAProxy(t *testing.T) {
	f := newFake(t)
	f.on("POST work", func(a *arrival) { a.json(`{}`) })
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied.Add(1)
		assert.Equal(t, "http://server.example/mcp", r.URL.String())
		f.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	below := &http.Transport{Proxy: http.ProxyURL(at)}
	defer below.CloseIdleConnections()
	f.url = "http://server.example/mcp"
	c := open(t, f, noGet, func(tr *streamablehttp.Transport) { tr.Client = &http.Client{Transport: below} })
	_, _, err = c.call(1, "work")
	require.NoError(t, err)
	assert.Equal(t, int32(3), proxied.Load())
}

// bodies is a RoundTripper that counts the bodies that are open.
type bodies struct {
	below http.RoundTripper
	open  atomic.Int32
}

type countedBody struct {
	io.ReadCloser
	close func()
}

func (b countedBody) Close() error {
	b.close()
	return b.ReadCloser.Close()
}

func (b *bodies) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.below.RoundTrip(req)
	if err == nil {
		b.open.Add(1)
		resp.Body = countedBody{resp.Body, sync.OnceFunc(func() { b.open.Add(-1) })}
	}
	return resp, err
}

func TestEveryBodyIsClosed(t *testing.T) { // field cases 69, 90
	f := newFake(t)
	below := &http.Transport{}
	defer below.CloseIdleConnections()
	counted := &bodies{below: below}
	f.on("GET", func(a *arrival) {
		switch {
		case a.got("Last-Event-ID") != "":
			a.text(405, "text/plain", "no")
		case a.nth == 1:
			a.stream()
			a.event(`data: {"jsonrpc":"2.0","method":"m"}`)
		default:
			a.text(404, "text/plain", "gone")
		}
	})
	for method, serve := range map[string]func(*arrival){
		"json":    func(a *arrival) { a.json(`{}`) },
		"html":    func(a *arrival) { a.text(200, "text/html", "<html>") },
		"refused": func(a *arrival) { a.text(500, "text/plain", "no") },
		"rpc": func(a *arrival) {
			a.text(400, "application/json", `{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}`)
		},
		"accepted": func(a *arrival) { a.status(202) },
		"stream":   func(a *arrival) { a.stream(); a.event("data: " + a.answer(`{}`)); a.linger() },
		"cut":      func(a *arrival) { a.stream(); a.event("id: 1", "retry: 1", "data:") },
		"moved":    func(a *arrival) { a.set("Location", "http://elsewhere.example"); a.status(307) },
		"around":   func(a *arrival) { a.set("Location", "/mcp"); a.status(308) },
		"large":    func(a *arrival) { a.json(`"` + string(make([]byte, 2000)) + `"`) },
	} {
		f.on("POST "+method, serve)
	}
	f.on("DELETE", func(a *arrival) { a.text(405, "text/plain", "no") })
	c := open(t, f, quick, func(tr *streamablehttp.Transport) {
		tr.Client = &http.Client{Transport: counted}
		tr.MaxMessageBytes = 1000
	})
	within(t, c.received)
	within(t, c.received) // the end of the stream
	for key := range f.rules {
		if method, ok := cutPost(key); ok {
			c.call(1, method)
			assert.Zero(t, counted.open.Load(), method)
		}
	}
	require.NoError(t, c.conn.Close())
	assert.Zero(t, counted.open.Load())
}

func cutPost(key string) (method string, ok bool) {
	_, err := fmt.Sscanf(key, "POST %s", &method)
	return method, err == nil && method != "initialize" && method != "notifications/initialized"
}

func TestAThousandConcurrentCalls(t *testing.T) {
	const callers, each = 1000, 3
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			f := newBare(t)
			f.server = httptest.NewUnstartedServer(f)
			connections := countConnections(f)
			if f.server.EnableHTTP2 = http2; http2 {
				f.server.StartTLS()
			} else {
				f.server.Start()
			}
			defer f.server.Close()
			f.url = f.server.URL
			f.on("POST work", func(a *arrival) {
				a.stream()
				a.event(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
				a.event("data: " + a.answer(fmt.Sprintf(`{"params":%s}`, a.msg.Params)))
			})
			tr := &streamablehttp.Transport{URL: f.url}
			if http2 {
				own := streamablehttp.OwnClient(f.server.Client().Transport.(*http.Transport).TLSClientConfig)
				defer own.CloseIdleConnections()
				tr.Client = own
			}
			client, err := mcp.Connect(t.Context(), tr, legacy)
			require.NoError(t, err)
			var calling sync.WaitGroup
			for caller := range callers {
				calling.Go(func() {
					for round := range each {
						want := fmt.Sprintf(`{"params":{"caller":%d,"round":%d}}`, caller, round)
						raw, err := client.Request(t.Context(), "work", map[string]int{"caller": caller, "round": round})
						assert.NoError(t, err)
						assert.JSONEq(t, want, string(raw))
					}
				})
			}
			calling.Wait()
			require.NoError(t, client.Close())
			most := 2 * callers // some are dialed while others become free
			if http2 {
				most = 100
			}
			assert.LessOrEqual(t, connections(), most)
			t.Logf("%d calls over %d connections", callers*each, connections())
		})
	}
}
