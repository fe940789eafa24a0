package otelmcp

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// Transport returns a transport that measures how long the sessions on its connections last, and is t otherwise. A
// session begins when the client says that it has initialized it, and ends with the connection, or when the server has
// forgotten it and the next one begins: with session_expired as its error.type then. A connection that is lost has the
// reason as error.type, one that is closed has none.
func Transport(t transport.Transport, opts ...Option) transport.Transport {
	return &measured{t, newInstruments(opts)}
}

type measured struct {
	transport.Transport
	instruments *instruments
}

func (t *measured) Connect(ctx context.Context) (transport.Conn, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &sessionConn{Conn: conn, instruments: t.instruments}, nil
}

// A sessionConn is a connection whose sessions are measured.
type sessionConn struct {
	transport.Conn
	instruments *instruments

	mu      sync.Mutex
	begun   time.Time // zero if there is no session
	version string
}

func (c *sessionConn) Send(ctx context.Context, out transport.Outgoing) error {
	if out.Message.Method == "notifications/initialized" {
		c.end(mcp.ErrSessionExpired) // the one before, if any
		c.begin(out.Version)
	}
	return c.Conn.Send(ctx, out)
}

func (c *sessionConn) Receive(ctx context.Context) (*transport.Message, error) {
	m, err := c.Conn.Receive(ctx)
	if err != nil && ctx.Err() == nil { // else it is the client that ends it
		c.end(err)
	}
	return m, err
}

func (c *sessionConn) Close() error {
	c.end(nil)
	return c.Conn.Close()
}

func (c *sessionConn) begin(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun, c.version = time.Now(), version
}

// end records the session, if there is one.
func (c *sessionConn) end(err error) {
	c.mu.Lock()
	begun, version := c.begun, c.version
	c.begun = time.Time{}
	c.mu.Unlock()
	if begun.IsZero() {
		return
	}
	attributes := slices.Concat(c.instruments.attributes, network[c.Traits().Name])
	attributes = append(attributes, semconv.McpProtocolVersion(version))
	if err != nil {
		attributes = append(attributes, semconv.ErrorTypeKey.String(errorType(err)))
	}
	set := attribute.NewSet(attributes...)
	c.instruments.session.RecordSet(context.Background(), time.Since(begun).Seconds(), set)
}
