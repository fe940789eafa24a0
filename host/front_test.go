package host_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A front serves a server of mcptest over HTTP, in revision 2026-07-28: each POST is a session of its own.
type front struct {
	server *mcptest.Server

	mu       sync.Mutex
	status   int           // that refuses everything; 0: none does
	later    string        // the Retry-After that goes with it
	hang     chan struct{} // that every request waits for; nil: none
	away     bool          // nobody listens
	drop     bool          // connections are accepted, and closed
	fail     error         // what every request fails with
	requests int           // that came, or tried to
	attempts int           // to connect
}

func (f *front) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *front) counts() (attempts, requests int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attempts, f.requests
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	status, later, hang := f.status, f.later, f.hang
	f.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case status != 0:
		w.Header().Set("Retry-After", later)
		w.WriteHeader(status)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		f.serve(w, r)
	}
}

func (f *front) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	conn, err := f.server.Transport().Connect(r.Context())
	if err != nil {
		return
	}
	defer conn.Close()
	for m := range transport.Decode(body) {
		if conn.Send(r.Context(), transport.Outgoing{Message: m}) != nil || m.IsNotification() {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		for {
			got, err := conn.Receive(r.Context())
			if err != nil {
				return
			}
			text, _ := got.Append([]byte("data: "))
			_, _ = w.Write(append(text, "\n\n"...))
			http.NewResponseController(w).Flush()
			if got.IsResponse() && got.ID == m.ID {
				return
			}
		}
	}
}

// Do makes a front a client of itself, without a socket, so that it can live in a bubble.
func (f *front) Do(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.requests++
	away, drop, fail := f.away, f.drop, f.fail
	f.mu.Unlock()
	if fail != nil {
		return nil, fail
	}
	if away {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	if drop {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
	}
	ctx, cancel := context.WithCancel(r.Context())
	read, write := io.Pipe()
	w := &response{header: http.Header{}, body: write, begun: make(chan struct{})}
	go func() {
		f.ServeHTTP(w, r.WithContext(ctx))
		w.WriteHeader(http.StatusOK)
		write.Close()
	}()
	select {
	case <-w.begun:
		return &http.Response{
			StatusCode: w.status, Status: http.StatusText(w.status), Header: w.header, Request: r,
			Body: body{read, cancel},
		}, nil
	case <-ctx.Done():
		cancel()
		read.Close()
		return nil, ctx.Err()
	}
}

type response struct {
	header http.Header
	body   io.Writer
	once   sync.Once
	status int
	begun  chan struct{}
}

func (w *response) Header() http.Header { return w.header }
func (w *response) Flush()              { w.WriteHeader(http.StatusOK) }

func (w *response) WriteHeader(status int) {
	w.once.Do(func() {
		w.status = status
		close(w.begun)
	})
}

func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

type body struct {
	*io.PipeReader
	cancel func()
}

func (b body) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// inMemory has the host reach the front without a socket.
func (f *front) inMemory(o *host.Options) {
	o.Transport = func(_ config.Server, t transport.Transport) (transport.Transport, error) {
		f.mu.Lock()
		f.attempts++
		f.mu.Unlock()
		t.(*streamablehttp.Transport).Client = f
		return t, nil
	}
}

// A slow transport has connections that take a second to close, and counts those that are open.
type slow struct {
	transport.Transport
	open *atomic.Int32
	most *atomic.Int32 // that there were at once
}

func (s slow) Connect(ctx context.Context) (transport.Conn, error) {
	conn, err := s.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if open := s.open.Add(1); open > s.most.Load() {
		s.most.Store(open)
	}
	return &slowConn{Conn: conn, open: s.open}, nil
}

type slowConn struct {
	transport.Conn
	open *atomic.Int32
	once sync.Once
}

func (c *slowConn) Close() error {
	err := c.Conn.Close()
	time.Sleep(time.Second)
	c.once.Do(func() { c.open.Add(-1) })
	return err
}

// slowly has the connections that there are otherwise close slowly.
func slowly(open, most *atomic.Int32) func(*host.Options) {
	return func(o *host.Options) {
		theirs := o.Transport
		o.Transport = func(s config.Server, t transport.Transport) (transport.Transport, error) {
			t, err := theirs(s, t)
			return slow{t, open, most}, err
		}
	}
}

func remote(url string) []config.Server {
	return []config.Server{{Name: "a", Type: config.HTTP, URL: url}}
}
