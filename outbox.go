package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// outbox sends what nobody waits for: notices and requests of cancellation, and answers that need no handler. One goroutine does it,
// and only while there is something to send, so that neither the reader nor a caller ever waits for the server to take
// it.
type outbox struct {
	mu      sync.Mutex
	queue   []transport.Outgoing
	bytes   int // of what is queued, about
	sending bool
	closed  bool
}

const (
	// maxOutbox bounds what waits for a server that takes no bytes, and maxOutboxBytes its size: the ids are the
	// server's.
	maxOutbox      = 1 << 16
	maxOutboxBytes = 16 << 20
	// noticeTimeout bounds each message.
	noticeTimeout = 5 * time.Second
)

func (c *Client) post(m *transport.Message) { c.postOutgoing(transport.Outgoing{Message: m}) }

func (c *Client) postOutgoing(out transport.Outgoing) {
	b := &c.outbox
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
	b.queue = append(b.queue, out)
	b.bytes += size
	if !b.sending {
		b.sending = true
		c.background.Go(c.sendPosted)
	}
}

func (c *Client) sendPosted() {
	for out, ok := c.outbox.next(); ok; out, ok = c.outbox.next() {
		out.Version, out.Deliver = c.version(), c.dispatch
		ctx, cancel := context.WithTimeout(c.ctx, noticeTimeout)
		err := c.conn.Send(ctx, out)
		cancel()
		if err != nil && c.ctx.Err() == nil {
			c.log.Debug("a notice was not sent", slog.String("method", out.Message.Method), slog.Any("error", err))
		}
	}
}

func (b *outbox) next() (out transport.Outgoing, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.queue, b.bytes, b.sending = nil, 0, false
		return out, false
	}
	out = b.queue[0]
	b.queue = b.queue[1:]
	b.bytes -= outgoingBytes(&out)
	return out, true
}

// outgoingBytes is about how much a message in the outbox holds.
func outgoingBytes(out *transport.Outgoing) int {
	const fixed = 256
	return fixed + out.Message.ID.Size() + len(out.Message.Params) + len(out.Mirror.Name)
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
