package streamablehttp

import (
	"context"
	"errors"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// errAnswered ends an exchange whose answer came on another stream, so that it does not wait for its own any longer.
var errAnswered = errors.New("answered on another stream")

// answeredGrace lets an exchange end by itself: mostly a 202 is under way, and to give up a request at that moment may
// cost another one its connection (net/http has given it back already).
const answeredGrace = 50 * time.Millisecond

// enter makes the exchange of a message known, if it is a request, until the function that it returns is called.
func (c *conn) enter(m *transport.Message, cancel context.CancelCauseFunc) (leave func()) {
	if !m.IsRequest() {
		return func() {}
	}
	id := canonical(m.ID)
	c.inflightMu.Lock()
	defer c.inflightMu.Unlock()
	c.inflight[id] = cancel
	return func() {
		c.inflightMu.Lock()
		defer c.inflightMu.Unlock()
		delete(c.inflight, id)
	}
}

// answeredElsewhere ends the exchange that waits for m, if m is an answer that somebody waits for.
func (c *conn) answeredElsewhere(m *transport.Message) {
	if m.Method != "" || !m.ID.IsValid() {
		return
	}
	id := canonical(m.ID)
	c.inflightMu.Lock()
	defer c.inflightMu.Unlock()
	if cancel := c.inflight[id]; cancel != nil {
		delete(c.inflight, id)
		time.AfterFunc(answeredGrace, func() { cancel(errAnswered) })
	}
}

// canonical gives ids that are the same number the same value, since some servers answer with another spelling.
func canonical(id transport.ID) transport.ID {
	if n, ok := id.Int64(); ok {
		return transport.IntID(n)
	}
	return id
}
