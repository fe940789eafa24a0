package streamablehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

// LegacyMode says what to do about the HTTP+SSE transport of revision 2024-11-05, which has one stream for everything
// that the server says and an endpoint of its own for what it is told.
type LegacyMode int

const (
	// LegacyAuto falls back to HTTP+SSE if the server refuses the first initialize with 400, 404 or 405, and then opens
	// a stream that names an endpoint (2025-11-25, basic/transports, "Backwards Compatibility").
	LegacyAuto LegacyMode = iota
	// LegacyOnly expects HTTP+SSE.
	LegacyOnly
	// LegacyNever does not try it.
	LegacyNever
)

// endpointTimeout bounds the wait for the endpoint event.
const endpointTimeout = 10 * time.Second

var errNoEndpoint = fmt.Errorf("no endpoint event within %v", endpointTimeout)

// mayFallBack reports whether the server, which refused an initialize with err, may be one of HTTP+SSE. A JSON-RPC
// error proves that it is not: that server reads what is posted.
func (c *conn) mayFallBack(err error) bool {
	var e *StatusError
	if c.mode != LegacyAuto || !errors.As(err, &e) || e.answer != nil || c.stateful().sessions.everBegun() {
		return false
	}
	return e.StatusCode == http.StatusBadRequest || e.StatusCode == http.StatusNotFound ||
		e.StatusCode == http.StatusMethodNotAllowed
}

// fallBack sends the message, which was refused before, over HTTP+SSE.
func (x *exchange) fallBack(ctx context.Context, body []byte, refused error) error {
	if err := x.conn.openLegacy(ctx, x.headers()); err != nil {
		return fmt.Errorf("%w; as HTTP+SSE: %w", refused, transport.Sent(err))
	}
	return x.post(ctx, x.conn.legacy.Load(), body, x.accepted)
}

// A legacyStream is the one stream of a server that speaks HTTP+SSE.
type legacyStream struct {
	reply    *reply
	events   *sse.Reader
	endpoint *url.URL // where messages are posted
}

// openLegacy opens the stream, which lives as long as the connection, and waits for its endpoint.
func (c *conn) openLegacy(ctx context.Context, header http.Header) error {
	streaming, cancel := context.WithCancelCause(valued{c.stateful().life, ctx})
	timer := time.AfterFunc(endpointTimeout, func() { cancel(errNoEndpoint) })
	detach := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	s, err := c.awaitEndpoint(streaming, header)
	inTime := timer.Stop()
	if attached := detach(); !attached || !inTime {
		<-streaming.Done() // what runs already will cancel it
	}
	if streaming.Err() != nil {
		err = context.Cause(streaming)
	}
	if err == nil && !c.stateful().start(func() { c.pump(streaming, s) }) {
		err = errConnEnded
	}
	if err == nil {
		c.legacy.Store(s.endpoint)
		return nil
	}
	cancel(nil)
	if s != nil {
		s.reply.abandon()
	}
	return err
}

// awaitEndpoint reads the stream as far as its endpoint event. A stream that is not nil is to be freed by the caller,
// whatever the error.
func (c *conn) awaitEndpoint(ctx context.Context, header http.Header) (*legacyStream, error) {
	r, err := c.openStream(ctx, header, "", true)
	if err != nil {
		return nil, err
	}
	s := &legacyStream{reply: r, events: sse.NewReader(r.Body, c.limit)}
	for {
		event, err := s.events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return s, errors.New("the stream ended before its endpoint event")
		case err != nil:
			return s, err
		case event.Type == "endpoint":
			s.endpoint, err = legacyEndpoint(r.request.URL, string(event.Data))
			return s, err
		}
	}
}

// legacyEndpoint resolves what the endpoint event names. Credentials go there, so it must be where they belong.
func legacyEndpoint(stream *url.URL, text string) (*url.URL, error) {
	endpoint, err := stream.Parse(text)
	switch {
	case text == "" || err != nil:
		return nil, errors.New("the endpoint event names no URL")
	case !sameOrigin(stream, endpoint):
		return nil, fmt.Errorf("the endpoint event names another origin: %s", place(endpoint))
	}
	return endpoint, nil
}

// pump takes the messages of the stream to Receive. The end of the stream ends the connection.
func (c *conn) pump(ctx context.Context, s *legacyStream) {
	err := goexit.Err
	defer func() {
		s.reply.abandon()
		c.end(fmt.Errorf("%w: the server's stream ended: %w", errConnEnded, err))
	}()
	cur := newCursor(c.reconnect)
	err = cur.read(s.events, c.limit, func(m *transport.Message) bool { return c.hand(ctx, m) })
}
