package streamablehttp

import (
	"context"
	"sync"

	"github.com/seed62b61957/mcp/transport"
)

// stateful is what a connection has in a legacy revision, and does without in the stateless 2026-07-28: a session,
// streams that belong to no request, and what comes on those. It is made with the first message of such a revision, by
// Receive, or else by the end of the connection, which it keeps for those who come later.
type stateful struct {
	sessions sessions

	// life ends with the connection; its cause says why.
	life     context.Context
	end      context.CancelCauseFunc
	incoming chan *transport.Message // to Receive; nobody waits on it beyond life

	mu         sync.Mutex
	closed     bool
	background sync.WaitGroup
}

func newStateful() *stateful {
	s := &stateful{incoming: make(chan *transport.Message)}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s
}

// start runs f on a goroutine that close waits for, unless it is too late for that.
func (s *stateful) start(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.background.Go(f)
	}
	return !s.closed
}

// close lets nothing start any more. What it returns waits for what runs.
func (s *stateful) close() (wait func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.background.Wait
}
