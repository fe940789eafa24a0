package mcptest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/seed62b61957/mcp/transport"
)

// Pipe returns the two ends of a connection in memory. It has no buffer and no goroutine: Send returns when the other
// end's Receive has taken the message, so that an end that nobody receives from is a peer that takes no bytes.
//
// Messages are handed over as they are, without being encoded. The receiver gets a Message of its own with a Result of
// its own, which a client writes to; the other raw parts are shared, and written to by nobody.
//
// Close ends both ends. The errors after it match [transport.ErrClosed], and at the other end [io.EOF] as well. Send
// and Receive return when their context is done, with its cause. An error of Send means that the other end did not get
// the message.
func Pipe() (a, b transport.Conn) {
	ab, ba := make(chan *transport.Message), make(chan *transport.Message)
	aClosed, bClosed := newLatch(), newLatch()
	return &pipeEnd{in: ba, out: ab, closed: aClosed, gone: bClosed},
		&pipeEnd{in: ab, out: ba, closed: bClosed, gone: aClosed}
}

type pipeEnd struct {
	in     <-chan *transport.Message
	out    chan<- *transport.Message
	closed *latch // by this end
	gone   *latch // closed by the other
}

func (p *pipeEnd) Traits() transport.Traits { return transport.Traits{Name: "memory"} }

func (p *pipeEnd) Send(ctx context.Context, out transport.Outgoing) error {
	if err := p.ended(ctx); err != nil {
		return transport.Unsent(err)
	}
	select {
	case p.out <- handedOver(out.Message):
		return nil
	case <-ctx.Done():
	case <-p.closed.done:
	case <-p.gone.done:
	}
	return transport.Unsent(p.ended(ctx))
}

func (p *pipeEnd) Receive(ctx context.Context) (*transport.Message, error) {
	if err := p.ended(ctx); err != nil {
		return nil, err
	}
	select {
	case m := <-p.in:
		return m, nil
	case <-ctx.Done():
	case <-p.closed.done:
	case <-p.gone.done:
	}
	return nil, p.ended(ctx)
}

func (p *pipeEnd) ended(ctx context.Context) error { return ended(ctx, p.closed, p.gone) }

func (p *pipeEnd) Close() error {
	p.closed.set()
	return nil
}

// handedOver is a copy, so that the two sides do not share what they may change.
func handedOver(m *transport.Message) *transport.Message {
	c := *m
	c.Result = bytes.Clone(m.Result)
	if m.Error != nil {
		e := *m.Error
		c.Error = &e
	}
	return &c
}

var (
	errClosed = fmt.Errorf("mcptest: %w", transport.ErrClosed)
	errGone   = fmt.Errorf("mcptest: %w by the peer: %w", transport.ErrClosed, io.EOF)
)

// ended says why there is nothing more to send or receive, nil if there is.
func ended(ctx context.Context, closed, gone *latch) error {
	switch {
	case closed.isSet():
		return errClosed
	case gone.isSet():
		return errGone
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// A latch is set once, and can be waited for.
type latch struct {
	once sync.Once
	done chan struct{}
}

func newLatch() *latch { return &latch{done: make(chan struct{})} }

func (l *latch) set() { l.once.Do(func() { close(l.done) }) }

func (l *latch) isSet() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}
