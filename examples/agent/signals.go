package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

var errInterrupted = errors.New("interrupted")

// signals gives Ctrl-C its meaning: it ends the turn, and the program if there is none, or if the turn goes on.
type signals struct {
	ctx  context.Context // of the program
	stop func()

	end  context.CancelCauseFunc
	mu   sync.Mutex
	turn context.CancelCauseFunc // nil between turns, and once it was called
}

func watchSignals(ctx context.Context) *signals {
	ctx, end := context.WithCancelCause(ctx)
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	s := &signals{ctx: ctx, end: end}
	s.stop = func() {
		signal.Stop(received)
		end(nil)
	}
	go func() {
		for {
			select {
			case sig := <-received:
				s.interrupt(sig)
			case <-ctx.Done(): // signals that come later change nothing: closing the servers is bounded
				return
			}
		}
	}()
	return s
}

func (s *signals) interrupt(sig os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig == os.Interrupt && s.turn != nil {
		s.turn(errInterrupted)
		s.turn = nil
		return
	}
	s.end(errInterrupted)
}

// during runs a turn.
func (s *signals) during(turn func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	s.setTurn(cancel)
	defer s.setTurn(nil)
	return turn(ctx)
}

func (s *signals) setTurn(cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = cancel
}
