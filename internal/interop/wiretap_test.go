package interop

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp/transport"
)

// A wiretap writes down the methods of what a client sends, and counts the processes that it starts.
type wiretap struct {
	transport.Transport

	mu            sync.Mutex
	requests      []string
	notifications []string
	started       int
}

func (w *wiretap) Connect(ctx context.Context) (transport.Conn, error) {
	conn, err := w.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started++
	return &tapped{conn, w}, nil
}

// heard returns the requests so far, and the number of processes.
func (w *wiretap) heard() (requests []string, processes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests), w.started
}

// notices returns how many notifications of a method there were so far.
func (w *wiretap) notices(method string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, notification := range w.notifications {
		if notification == method {
			n++
		}
	}
	return n
}

type tapped struct {
	transport.Conn
	wire *wiretap
}

func (c *tapped) Send(ctx context.Context, out transport.Outgoing) error {
	c.wire.mu.Lock()
	switch m := out.Message; {
	case m.IsRequest():
		c.wire.requests = append(c.wire.requests, m.Method)
	case m.Method != "":
		c.wire.notifications = append(c.wire.notifications, m.Method)
	}
	c.wire.mu.Unlock()
	return c.Conn.Send(ctx, out)
}

// A httpTap writes down the requests that a client sends over HTTP.
type httpTap struct {
	below http.RoundTripper

	mu       sync.Mutex
	requests []httpRequest
}

type httpRequest struct {
	method string // of HTTP
	rpc    string // method of the message
	header http.Header
}

func (w *httpTap) RoundTrip(req *http.Request) (*http.Response, error) {
	seen := httpRequest{method: req.Method, header: req.Header.Clone()}
	if req.Body != nil {
		data, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body.Close()
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(data))
		var message struct{ Method string }
		_ = json.Unmarshal(data, &message)
		seen.rpc = message.Method
	}
	w.mu.Lock()
	w.requests = append(w.requests, seen)
	w.mu.Unlock()
	return w.below.RoundTrip(req)
}

// opening returns what was waited for so far, up to the end of the handshake.
func (w *httpTap) opening() (trips []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		if r.rpc == "notifications/initialized" {
			break
		}
		trips = append(trips, cmp.Or(r.rpc, r.method))
	}
	return trips
}

// seen returns the requests so far that are like this.
func (w *httpTap) seen(like func(httpRequest) bool) []httpRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.requests), func(r httpRequest) bool { return !like(r) })
}

func (w *httpTap) byMethod(method string) []httpRequest {
	return w.seen(func(r httpRequest) bool { return r.method == method })
}

func (w *httpTap) byMessage(method string) []httpRequest {
	return w.seen(func(r httpRequest) bool { return r.rpc == method })
}
