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

	// life ends with the connection; its cause says why.
	life     context.Context
	end      context.CancelCauseFunc
	incoming chan *transport.Message // to Receive; nobody waits on it beyond life

	sessions sessions
	legacy   atomic.Pointer[url.URL] // where messages go, once the server turned out to speak HTTP+SSE
	patience patience

	exchanges exchanges

	startMu    sync.Mutex
	closed     bool
	background sync.WaitGroup
	closeOnce  sync.Once
	closeErr   error
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
	if c.life.Err() != nil {
		return nil, wrap(context.Cause(c.life))
	}
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.life.Done():
		return nil, wrap(context.Cause(c.life))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// hand gives a message to Receive. It reports false if ctx, which ends with the connection, was over before.
func (c *conn) hand(ctx context.Context, m *transport.Message) bool {
	select {
	case c.incoming <- m:
		c.exchanges.answeredElsewhere(m)
		return true
	case <-ctx.Done():
		return false
	}
}

// start runs f on a goroutine that Close waits for, unless it is too late for that.
func (c *conn) start(f func()) bool {
	c.startMu.Lock()
	defer c.startMu.Unlock()
	if !c.closed {
		c.background.Go(f)
	}
	return !c.closed
}
