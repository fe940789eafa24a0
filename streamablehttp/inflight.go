package streamablehttp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// exchanges are those of a connection that are under way.
type exchanges struct {
	life context.Context // of the connection

	mu      sync.Mutex
	all     map[*exchange]struct{}
	waiting map[transport.ID]*exchange // those whose request may be answered on another stream
}

func newExchanges(life context.Context) exchanges {
	return exchanges{life: life, all: make(map[*exchange]struct{}), waiting: make(map[transport.ID]*exchange)}
}

// enter makes the exchange end with the connection, at once if that has ended.
func (e *exchanges) enter(x *exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.life.Err() != nil {
		x.cancel(context.Cause(e.life))
		return
	}
	e.all[x] = struct{}{}
}

func (e *exchanges) leave(x *exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.all, x)
}

// end ends all exchanges, after the life of the connection.
func (e *exchanges) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for x := range e.all {
		x.cancel(context.Cause(e.life))
	}
}

// errAnswered ends an exchange whose answer came on another stream, so that it does not wait for its own any longer.
var errAnswered = errors.New("answered on another stream")

// answeredGrace lets an exchange end by itself: mostly a 202 is under way, and to give up a request at that moment may
// cost another one its connection (net/http has given it back already).
const answeredGrace = 50 * time.Millisecond

// await makes known that a request waits for its answer, until settle is called.
func (e *exchanges) await(x *exchange) {
	if m := x.out.Message; m.IsRequest() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.waiting[canonical(m.ID)] = x
	}
}

func (e *exchanges) settle(x *exchange) {
	if m := x.out.Message; m.IsRequest() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.waiting, canonical(m.ID))
	}
}

// answeredElsewhere ends the exchange that waits for m, if m is an answer that somebody waits for.
func (e *exchanges) answeredElsewhere(m *transport.Message) {
	if m.Method != "" || !m.ID.IsValid() {
		return
	}
	id := canonical(m.ID)
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.waiting[id]; x != nil {
		delete(e.waiting, id)
		time.AfterFunc(answeredGrace, func() { x.cancel(errAnswered) })
	}
}

// canonical gives ids that are the same number the same value, since some servers answer with another spelling.
func canonical(id transport.ID) transport.ID {
	if n, ok := id.Int64(); ok {
		return transport.IntID(n)
	}
	return id
}
