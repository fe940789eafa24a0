package streamablehttp

import (
	"errors"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// exchanges are those of a connection that are under way.
type exchanges struct {
	mu   sync.Mutex
	all  map[*exchange]struct{} // nil while there is none, since hosts have many connections that are idle
	over error                  // why the connection has ended; nil while it lives
}

// enter makes the exchange end with the connection, at once if that has ended.
func (e *exchanges) enter(x *exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over != nil {
		x.cancel(e.over)
		return
	}
	if e.all == nil {
		e.all = make(map[*exchange]struct{})
	}
	e.all[x] = struct{}{}
}

func (e *exchanges) leave(x *exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if delete(e.all, x); len(e.all) == 0 {
		e.all = nil
	}
}

// end ends all exchanges, and those that enter later.
func (e *exchanges) end(cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over == nil {
		e.over = cause
	}
	for x := range e.all {
		x.cancel(e.over)
	}
}

// ended returns why the connection has ended, nil while it lives.
func (e *exchanges) ended() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.over
}

// errAnswered ends an exchange whose answer came on another stream, so that it does not wait for its own any longer.
var errAnswered = errors.New("answered on another stream")

// answeredGrace lets an exchange end by itself: mostly a 202 is under way, and to give up a request at that moment may
// cost another one its connection (net/http has given it back already).
const answeredGrace = 50 * time.Millisecond

// await says whether a request waits for an answer that may come on another stream.
func (e *exchanges) await(x *exchange, waits bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x.waits = waits && x.out.Message.IsRequest()
}

// isAnswered reports whether the answer that a request waited for came on another stream.
func (e *exchanges) isAnswered(x *exchange) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !x.waits
}

// answeredElsewhere ends the exchange that waits for m, if m is an answer that somebody waits for.
func (e *exchanges) answeredElsewhere(m *transport.Message) {
	if m.Method != "" || !m.ID.IsValid() {
		return
	}
	id := canonical(m.ID)
	e.mu.Lock()
	defer e.mu.Unlock()
	for x := range e.all { // it is a legacy server that answers so, and it seldom has many
		if x.waits && canonical(x.out.Message.ID) == id {
			x.waits = false
			time.AfterFunc(answeredGrace, func() { x.cancel(errAnswered) })
		}
	}
}

// canonical gives ids that are the same number the same value, since some servers answer with another spelling.
func canonical(id transport.ID) transport.ID {
	if n, ok := id.Int64(); ok {
		return transport.IntID(n)
	}
	return id
}
