package mcp

import (
	"context"
	"time"
)

// A turn is the right to receive from a connection that all requests share. It is with the goroutine of
// [Client.receive], which lends it to callers that come one after the other, as an agent's calls do: a caller that is
// alone receives its answer itself, and is not woken by a goroutine that had to be woken for that. A turn exists while
// it is lent; Client.mu guards what changes.
type turn struct {
	ctx   context.Context // of a caller's Receive
	end   context.CancelFunc
	taken bool          // a caller receives
	used  bool          // one did, since the receiver looked
	back  chan struct{} // closed when it is given back
}

const (
	// succession is how quickly messages have to follow each other for the turn to be lent.
	succession = time.Millisecond
	// lookAfter is how often the receiver looks whether callers still come. Nobody receives for as long after the last
	// one. A timer that is always near costs a lone caller more than all of its JSON.
	lookAfter = 20 * time.Millisecond
)

// receive receives what no exchange owns, or has callers do so, until the connection ends. Nothing that it calls waits
// for the server or runs code of the caller's, so nothing stops it.
func (c *Client) receive() {
	ctx := c.ctx()
	if c.lends {
		ctx = context.WithoutCancel(ctx) // Close ends it as well, and to watch a context takes memory while all is idle
	}
	c.awaitTurn()
	last := time.Now()
	for c.receiveOne(ctx) {
		if !c.lends {
			continue
		}
		if time.Since(last) < succession && c.lend() {
			c.awaitTurn()
		}
		last = time.Now()
	}
}

// receiveOne reports whether it has received a message.
func (c *Client) receiveOne(ctx context.Context) bool {
	m, err := c.conn.Receive(ctx)
	if err == nil {
		c.dispatch(m)
		return true
	}
	if ctx.Err() == nil {
		c.finish(&closedError{cause: err})
	}
	return false
}

func newTurn() *turn {
	t := &turn{back: make(chan struct{})}
	t.ctx, t.end = context.WithCancel(context.Background())
	return t
}

// lend has callers receive, unless one waits already for what the receiver is to receive.
func (c *Client) lend() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) > 0 || c.err != nil {
		return false
	}
	c.turn = newTurn()
	return true
}

// awaitTurn returns when the turn is the receiver's.
func (c *Client) awaitTurn() {
	c.mu.Lock()
	t := c.turn
	c.mu.Unlock()
	if t == nil {
		return
	}
	look := time.NewTicker(lookAfter)
	defer look.Stop()
	for {
		select {
		case <-t.back:
			return
		case <-look.C:
			if c.reclaim(t) {
				return
			}
		}
	}
}

// reclaim takes a turn back that nobody has used for a while, unless it was given back meanwhile. It reports whether the
// receiver has it.
func (c *Client) reclaim(t *turn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn != t {
		return true
	}
	unused := !t.taken && !t.used
	if t.used = false; unused {
		c.giveBack(t)
	}
	return unused
}

// giveBack makes the turn the receiver's. c.mu is held.
func (c *Client) giveBack(t *turn) {
	c.turn = nil
	t.end()
	close(t.back)
}

// receiveAnswer receives until a call has its answer, or nobody waits for that any more, if the turn is lent.
func (c *Client) receiveAnswer(ctx context.Context, p *pendingCall) {
	t := c.borrow(p)
	if t == nil {
		return
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, c.interrupt)
		defer stop()
	}
	for t != nil {
		received := false
		for !received && c.receiveOne(t.ctx) {
			received = p.hasReceived()
		}
		c.handOn(t, p, received)
		if answer, err := p.report(); !received || answer != nil || err != nil {
			return
		}
		t = c.borrow(p)
	}
}

// borrow returns the turn, nil if the call is not to receive: it is not to be had, or the receiver was quicker, and has
// received the answer already.
func (c *Client) borrow(p *pendingCall) *turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.turn
	if _, waits := c.pending[p.id]; !waits || t == nil || t.taken {
		return nil
	}
	t.taken, t.used = true, true
	return t
}

// handOn ends borrowing: the next caller may have the turn, or this one after its handler of progress, which takes what
// time it likes. It goes back if others wait now, or the connection is not what it was.
func (c *Client) handOn(t *turn, p *pendingCall, received bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	others := len(c.pending)
	if _, waits := c.pending[p.id]; waits {
		others--
	}
	if t.taken = false; !received || others > 0 || c.err != nil {
		c.giveBack(t)
	}
}

// interrupt has a caller that receives, or is about to, look at whether it still wants to. It may come late, and then
// disturbs another one, which does no harm: the receiver goes on.
func (c *Client) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recall()
}

// recall has a turn that is lent come back: at once, unless a caller receives. c.mu is held.
func (c *Client) recall() {
	switch {
	case c.turn == nil:
	case c.turn.taken:
		c.turn.end()
	default:
		c.giveBack(c.turn)
	}
}
