package streamablehttp

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

// listen opens the stream of what the server sends unasked ("Listening for Messages from the Server"), in the
// background: a server may withhold even the header of its response, and may not have such a stream at all.
//
// It returns when the server has begun to respond, so that the stream is there before whatever the caller sends next:
// there are servers that drop what they have to say while there is none. And it is known whether there is one at all.
// A server that withholds the response, as a proxy may, is not waited for.
func (c *conn) listen(caller context.Context, s *session, version string) {
	if c.noGet {
		return
	}
	state := c.stateful()
	ctx, stop := context.WithCancel(state.sessions.values(state.life))
	asked := make(chan struct{})
	tell := sync.OnceFunc(func() { close(asked) })
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { time.AfterFunc(headPatience, tell) },
	})
	started := state.sessions.listening(s, stop) && state.start(func() {
		defer stop()
		lost := goexit.Err
		defer func() {
			state.sessions.unheard(s)
			tell()
			if lost != nil {
				c.hand(ctx, &transport.Message{Fault: fmt.Errorf("%w: %w", errUnheard, lost)})
			}
		}()
		lost = c.keepListening(traced, s, version, tell)
	})
	if !started {
		stop()
		return
	}
	patience := time.NewTimer(askPatience)
	defer patience.Stop()
	select {
	case <-asked:
	case <-patience.C:
	case <-caller.Done():
	}
}

const (
	// askPatience bounds the wait for the request of the GET stream to be written, headPatience then that for the
	// beginning of the response.
	askPatience  = 100 * time.Millisecond
	headPatience = 20 * time.Millisecond
)

var (
	errUnheard = fmt.Errorf("the server's stream is lost, %w", transport.ErrUnheard)
	errMissed  = fmt.Errorf("the server's stream was away, %w", transport.ErrMissed)
)

// keepListening opens the stream again when it breaks, until the server refuses it or the budget is spent: an outage
// must not cost the stream, since nothing would ever open it again. If the server does not go on after an event that it
// has named, whatever it sent in between is lost.
//
// It calls begun whenever there is a stream, and returns why one that there was, or might have been, is lost.
func (c *conn) keepListening(ctx context.Context, s *session, version string, begun func()) (lost error) {
	cur := newCursor(c.reconnect)
	opened := false
	for first := true; ; first = false {
		whole := first || cur.lastID != ""
		r, err := c.openStream(ctx, c.headers(s, version, nil), cur.lastID, true)
		if err == nil {
			opened = true
			begun()
			if !whole {
				c.hand(ctx, &transport.Message{Fault: errMissed})
			}
			err = cur.read(sse.NewReader(r.Body, c.limit), c.limit, func(m *transport.Message) bool { return c.hand(ctx, m) })
			r.abandon()
		}
		if ctx.Err() != nil || isFinal(err) && !opened {
			return nil
		}
		delay, ok := cur.budget.next(err, !opened || !isOutage(err))
		if !ok || isFinal(err) {
			return err
		}
		if !sleep(ctx, delay) {
			return nil
		}
	}
}
