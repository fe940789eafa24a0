package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/transport"
)

// outbox sends what nobody waits for: notices and requests to cancel something, and answers that need no handler. One
// goroutine does it, and only while there is something to send, so that neither the reader nor a caller ever waits for
// the server to take it.
type outbox struct {
	mu      sync.Mutex
	queue   []posted
	bytes   int // of what is queued, about
	sending bool
	closed  bool
	empty   chan struct{} // closed when nothing is sent any more; nil if nobody waits for that
}

// posted is a message in the outbox, with the ctx that it is sent under.
type posted struct {
	transport.Outgoing
	ctx context.Context
}

const (
	// maxOutbox bounds what waits for a server that takes no bytes, and maxOutboxBytes its size: the ids are the
	// server's.
	maxOutbox      = 1 << 16
	maxOutboxBytes = 16 << 20
	// noticeTimeout bounds each message.
	noticeTimeout = 5 * time.Second
	// partTimeout bounds how long Close waits for the last ones.
	partTimeout = 500 * time.Millisecond
)

func (c *Client) post(m *transport.Message) { c.postOutgoing(c.ctx(), transport.Outgoing{Message: m}) }

// postOutgoing sends what comes of something that had a ctx, which may be over.
func (c *Client) postOutgoing(ctx context.Context, out transport.Outgoing) {
	ctx = c.onBehalf(ctx)
	b := c.outbox.get()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	size := outgoingBytes(&out)
	if len(b.queue) >= maxOutbox || b.bytes+size > maxOutboxBytes {
		c.log.Warn("dropped a message, the server does not read", slog.String("method", out.Message.Method))
		return
	}
	b.queue = append(b.queue, posted{out, ctx})
	b.bytes += size
	switch {
	case b.sending:
		return
	case len(c.opts.Interceptors) > 0: // which are code of the caller's: Close does not wait for that
		go c.sendPosted()
	default:
		c.background.Go(c.sendPosted)
	}
	b.sending = true
}

func (c *Client) sendPosted() { goexit.Persist(c.sendNext) }

// sendNext sends the next message, and reports whether there was one.
func (c *Client) sendNext() bool {
	p, ok := c.outbox.get().next()
	if !ok {
		return false
	}
	err := goexit.Err
	defer func() {
		if err != nil && c.ctx().Err() == nil {
			c.log.Debug("a notice was not sent", slog.String("method", p.Message.Method), slog.Any("error", err))
		}
	}()
	err = c.sendOne(p.ctx, p.Outgoing)
	return true
}

// sendOne sends a message, between the interceptors unless it is an answer.
func (c *Client) sendOne(ctx context.Context, out transport.Outgoing) error {
	m := out.Message
	if len(c.opts.Interceptors) == 0 || m.IsResponse() {
		return c.sendBounded(ctx, out)
	}
	r, o := &request{method: m.Method, params: m.Params}, &callOptions{}
	if err := r.adoptMeta(o); err != nil {
		return err
	}
	x := c.newExchange(&transport.Message{ID: m.ID, Method: r.method, Params: r.params}, c.session.Load())
	_, err := c.interceptSending(ctx, x, o, func(ctx context.Context, o *callOptions) (*transport.Message, error) {
		params, err := r.withMeta(0, "", o)
		if err != nil {
			return nil, err
		}
		out.Message = &transport.Message{ID: m.ID, Method: r.method, Params: params}
		return nil, c.sendBounded(ctx, out)
	})
	return err
}

func (c *Client) sendBounded(ctx context.Context, out transport.Outgoing) error {
	ctx, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	out.Version, out.Deliver = c.version(), c.dispatch
	return c.conn.Send(ctx, out)
}

func (b *outbox) next() (p posted, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.queue, b.bytes, b.sending = nil, 0, false
		if b.empty != nil {
			close(b.empty)
			b.empty = nil
		}
		return p, false
	}
	p = b.queue[0]
	b.queue = b.queue[1:]
	b.bytes -= outgoingBytes(&p.Outgoing)
	return p, true
}

// outgoingBytes is about how much a message in the outbox holds.
func outgoingBytes(out *transport.Outgoing) int {
	const fixed = 256
	return fixed + out.Message.ID.Size() + len(out.Message.Params) + len(out.Mirror.Name)
}

// part gets out, before the connection is closed, what the server is to know: what waits in the outbox, such as the
// notice of a call whose ctx has just ended, and which calls are abandoned with the connection.
func (c *Client) part(abandoned []int64) {
	if !c.closesStreams() {
		for _, id := range abandoned {
			c.postOutgoing(c.ctx(), transport.Outgoing{Message: cancelNotice(id), Unattended: true})
		}
	}
	select {
	case <-c.outbox.get().sent():
	case <-time.After(partTimeout):
	}
}

// sent is closed when nothing waits to be sent.
func (b *outbox) sent() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.sending:
		empty := make(chan struct{})
		close(empty)
		return empty
	case b.empty == nil:
		b.empty = make(chan struct{})
	}
	return b.empty
}

func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue, b.closed = nil, true
}

// cancelNotice tells the server that nobody waits for the answer to a request any longer. It gives no reason: the
// reasons are the caller's own.
func cancelNotice(id int64) *transport.Message {
	params := append(transport.IntID(id).Append([]byte(`{"requestId":`)), '}')
	return &transport.Message{Method: "notifications/cancelled", Params: json.RawMessage(params)}
}
