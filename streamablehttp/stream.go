package streamablehttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

// A cursor is how far a stream was read, over all the responses that carried it.
type cursor struct {
	lastID  string // "" if the stream cannot be resumed
	skipped string // the type of the latest event that was the server's own
	rest    []byte // the data of the event that the last response ended in, if its blank line was missing
	budget  budget
}

func newCursor(r Reconnect) cursor { return cursor{budget: budget{Reconnect: r, retry: -1}} }

// read passes the messages of an event stream to take, in order, until take returns false. It returns nil then, and
// else what ended the stream.
func (c *cursor) read(events *sse.Reader, limit int, take func(*transport.Message) bool) error {
	begun := time.Now()
	defer func() {
		if time.Since(begun) > c.budget.MaxDelay {
			c.budget.renew() // a proxy cuts idle streams, say
		}
	}()
	for {
		event, err := events.Next()
		tooLarge := errors.Is(err, transport.ErrMessageTooLarge)
		if err != nil && !tooLarge {
			c.rest = event.Data
			return err
		}
		c.note(&event)
		switch {
		case len(bytes.TrimSpace(event.Data)) == 0:
			continue // it only has an ID
		case event.Type != "" && !isVersioned(event.Data):
			c.skipped = event.Type
			continue
		}
		more := true
		for m := range transport.Decode(event.Data) {
			if tooLarge {
				m = oversized(m, limit)
			}
			more = take(m) && more
		}
		if !more {
			return nil
		}
	}
}

// note takes what an event says about its stream.
func (c *cursor) note(event *sse.Event) {
	if event.HasRetry {
		c.budget.retry = event.Retry
	}
	if !event.HasID {
		return
	}
	c.lastID = ""
	if isHeaderValue(event.ID) {
		c.lastID = event.ID
	}
	if c.lastID != "" {
		c.budget.renew()
	}
}

// endedWithout is the end of a stream that should have had an answer. It may have been in an event that was skipped.
func (c *cursor) endedWithout() error {
	if c.skipped == "" {
		return errors.New("the stream ended without it")
	}
	const most = 64
	skipped := c.skipped[:min(len(c.skipped), most)]
	return fmt.Errorf("the stream ended without it; an event of type %q was no JSON-RPC message", skipped)
}

// isHeaderValue reports whether text can be sent as it is (RFC 9110, section 5.5).
func isHeaderValue(text string) bool {
	return strings.TrimSpace(text) == text && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' || r == 0x7f
	})
}

// oversized returns what is known of a message over the limit; m is what its beginning decodes to.
func oversized(m *transport.Message, limit int) *transport.Message {
	return &transport.Message{
		ID:     m.ID,
		Method: m.Method,
		Fault:  fmt.Errorf("%w: the limit is %d bytes", transport.ErrMessageTooLarge, limit),
	}
}

// errNoStream is a response with a good status that is no event stream.
var errNoStream = errors.New("GET answered without an event stream")

// openStream asks for an event stream: that of what the server sends unasked, or what is left of another one after the
// event lastID. Refresh says whether somebody may be asked for credentials.
func (c *conn) openStream(ctx context.Context, header http.Header, lastID string, refresh bool) (*reply, error) {
	header.Set("Accept", "text/event-stream")
	if lastID != "" {
		header.Set("Last-Event-Id", lastID)
	}
	r, err := c.do(ctx, outbound{method: http.MethodGet, target: c.url, header: header, refresh: refresh})
	switch {
	case err != nil:
		return nil, err
	case !r.ok():
		return nil, r.statusError()
	case !r.isEventStream():
		r.discard()
		return nil, errNoStream
	}
	return r, nil
}

// isFinal reports whether asking for a stream again is no use after err.
func isFinal(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		refused := status.StatusCode < http.StatusInternalServerError || status.StatusCode == http.StatusNotImplemented
		return refused && !isOutage(err)
	}
	var redirect *redirectError
	return errors.Is(err, errNoStream) || errors.As(err, &redirect)
}

// isOutage reports whether err is about the way to the server, and says nothing about the stream.
func isOutage(err error) bool {
	return errors.Is(err, transport.ErrUnavailable) || errors.Is(err, transport.ErrNoResponse) || neverConnected(err)
}
