package streamablehttp

import (
	"context"
	"fmt"
	"time"

	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

// listen opens the stream of what the server sends unasked ("Listening for Messages from the Server"), in the
// background: a server may withhold even the header of its response, and may not have such a stream at all.
func (c *conn) listen(s *session, version string) {
	if c.noGet {
		return
	}
	ctx, stop := context.WithCancel(c.life)
	started := c.sessions.listening(s, stop) && c.start(func() {
		defer stop()
		c.keepListening(ctx, s, version)
	})
	if !started {
		stop()
	}
}

// keepListening opens the stream again when it breaks, until the server refuses it or the budget is spent. The end of a
// stream that there was, which nothing else shows, is reported through Receive.
func (c *conn) keepListening(ctx context.Context, s *session, version string) {
	cur := newCursor(c.reconnect)
	opened := false
	for {
		begun := time.Now()
		r, err := c.openStream(ctx, c.headers(s, version, nil), cur.lastID)
		if err == nil {
			opened = true
			err = cur.read(sse.NewReader(r.Body, c.limit), c.limit, func(m *transport.Message) bool { return c.hand(ctx, m) })
			r.abandon()
			if time.Since(begun) > c.reconnect.MaxDelay {
				cur.budget.failures = 0 // a proxy that cuts idle streams, say
			}
		}
		if ctx.Err() != nil || isFinal(err) && !opened {
			return
		}
		delay, ok := cur.budget.next()
		if !ok || isFinal(err) {
			c.hand(ctx, &transport.Message{Fault: fmt.Errorf("the server's stream of messages is lost: %w", err)})
			return
		}
		if !sleep(ctx, delay) {
			return
		}
	}
}
