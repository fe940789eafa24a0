package interop

import (
	"context"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp/transport"
)

// A wiretap writes down the methods of the requests that a client sends, and counts the processes that it starts.
type wiretap struct {
	transport.Transport

	mu       sync.Mutex
	requests []string
	started  int
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

type tapped struct {
	transport.Conn
	wire *wiretap
}

func (c *tapped) Send(ctx context.Context, out transport.Outgoing) error {
	if out.Message.IsRequest() {
		c.wire.mu.Lock()
		c.wire.requests = append(c.wire.requests, out.Message.Method)
		c.wire.mu.Unlock()
	}
	return c.Conn.Send(ctx, out)
}
