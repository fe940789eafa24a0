package streamablehttp

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// conn is one connection: what the requests to one server have in common. The first group never changes.
type conn struct {
	url       *url.URL
	doer      Doer
	release   func()
	header    http.Header
	auth      Authorizer
	limit     int // of a message, in bytes
	noGet     bool
	reconnect Reconnect
	closing   time.Duration
	mode      LegacyMode

	exchanges exchanges
	patience  patience
	legacy    atomic.Pointer[url.URL]  // where messages go, once the server turned out to speak HTTP+SSE
	state     atomic.Pointer[stateful] // nil until it is needed

	closeOnce sync.Once
	closeErr  error
}

var _ transport.Conn = (*conn)(nil)

func (c *conn) Traits() transport.Traits {
	return transport.Traits{
		Name:           "http",
		RequestStreams: true,
		MirrorsParams:  true,
		SilentProbe:    c.mode == LegacyOnly, // there an answer is none of the request's exchange
	}
}

// Receive returns what the server sends on the GET stream, which starts after notifications/initialized, or on the one
// stream of a server that speaks HTTP+SSE. It returns when ctx is done.
func (c *conn) Receive(ctx context.Context) (*transport.Message, error) {
	s := c.stateful()
	if s.life.Err() != nil {
		return nil, wrap(context.Cause(s.life))
	}
	select {
	case m := <-s.incoming:
		return m, nil
	case <-s.life.Done():
		return nil, wrap(context.Cause(s.life))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// hand gives a message to Receive. It reports false if ctx, which ends with the connection, was over before.
func (c *conn) hand(ctx context.Context, m *transport.Message) bool {
	select {
	case c.stateful().incoming <- m:
		c.exchanges.answeredElsewhere(m)
		return true
	case <-ctx.Done():
		return false
	}
}

// stateful returns what a legacy revision needs. It is made on first use, since hosts have many connections that are
// idle, and those of 2026-07-28 do without.
func (c *conn) stateful() *stateful {
	if s := c.state.Load(); s != nil {
		return s
	}
	c.state.CompareAndSwap(nil, newStateful())
	return c.state.Load()
}

// hears reports whether messages that belong to no exchange can arrive.
func (c *conn) hears() bool {
	state := c.state.Load()
	return state != nil && state.sessions.hears()
}

// end ends the connection: what is under way on it, and what begins later.
func (c *conn) end(cause error) {
	c.exchanges.end(cause)
	c.stateful().end(cause)
}
