package mcp

import (
	"context"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// A turn is the right to receive from a connection that all requests share. It is with the goroutine of
// [Client.receive], which lends it to callers that come one after the other, as an agent's calls do: a caller that is
// alone receives its answer itself, and is not woken by a goroutine that had to be woken for that. A turn exists while
// it is lent; Client.mu guards what changes.
type turn struct {
	ctx   context.Context // of a caller's Receive
	end   context.CancelFunc
	taken bool          // a caller receives
	used  bool          // a call came for it, since the receiver looked
	due   bool          // it goes back when the caller that receives is done
	back  chan struct{} // closed when it is given back
}

const (
	// succession is how quickly answers have to follow each other for the turn to be lent.
	succession = time.Millisecond
	// lookAfter is how often the receiver looks whether callers still come. Nobody receives for up to twice as long
	// after the last one. A timer that is always near costs a lone caller more than all of its JSON.
	lookAfter = 20 * time.Millisecond
)

// receive receives what no exchange owns, or has callers do so, until the connection ends. Nothing that it calls waits
// for the server or runs code of the caller's, so nothing stops it.
func (c *Client) receive() {
	defer c.endReceive()
	ctx := c.ctx()
	if c.lends {
		ctx = context.WithoutCancel(ctx) // Close ends it as well, and to watch a context takes memory while all is idle
	}
	c.awaitTurn()
	var last time.Time // when an answer came
	var calls int64    // that had begun when the turn was lent: more must have, or nobody comes for it
	for m := c.receiveOne(ctx); m != nil; m = c.receiveOne(ctx) {
		if !c.lends || !m.IsResponse() {
			continue
		}
		if begun := c.nextID.Load(); begun > calls && time.Since(last) < succession && c.lend() {
			calls = begun
			c.awaitTurn()
		}
		last = time.Now()
	}
}

func (c *Client) endReceive() {
	c.lost(errReceiveExited) // unless it is the end of the client that has ended it
	c.background.Done()
}

// receiveOne returns the message that it has received, nil if there is none.
func (c *Client) receiveOne(ctx context.Context) *transport.Message {
	m, err := c.conn.Receive(ctx)
	if err == nil {
		c.dispatch(m)
		return m
	}
	if ctx.Err() == nil {
		c.lost(err)
	}
	return nil
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
			c.reclaim(t, look)
		}
	}
}

// reclaim takes a turn back that nobody has used for a while. A caller that has had it for a while gives it back in the
// end, and there is no need to look until then: that may be hours, or the life of a subscription.
func (c *Client) reclaim(t *turn, look *time.Ticker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.turn != t: // it is back
	case t.used:
		t.used = false
	case t.taken:
		t.due = true
		look.Stop()
	default:
		c.giveBack(t)
	}
}

// giveBack makes the turn the receiver's. c.mu is held.
func (c *Client) giveBack(t *turn) {
	c.turn = nil
	t.end()
	close(t.back)
}

// receiveAnswer receives until a call has its answer, or nobody waits for that any more, if the turn is lent.
func (c *Client) receiveAnswer(ctx context.Context, p *pendingCall) {
	t := c.borrow(p, true)
	if t == nil {
		return
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, c.interrupt)
		defer stop()
	}
	for t != nil {
		received := c.receiveFor(t, p)
		if answer, err := p.report(); !received || answer != nil || err != nil {
			return
		}
		t = c.borrow(p, false)
	}
}

// receiveFor receives until there is something for a call, and reports whether there is. It hands the turn on whatever
// happens: a transport may panic, and whoever called may go on after that.
func (c *Client) receiveFor(t *turn, p *pendingCall) (received bool) {
	defer func() { c.handOn(t, p, received) }()
	for !received && c.receiveOne(t.ctx) != nil {
		received = p.hasReceived()
	}
	return received
}

// borrow returns the turn, nil if the call is not to receive: it is not to be had, or the receiver was quicker, and has
// received the answer already. Whoever comes again, from a handler of progress, does not keep the receiver from taking
// the turn back: what is behind a lot of progress is not to wait for a lot of handlers.
func (c *Client) borrow(p *pendingCall, first bool) *turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.turn
	if _, waits := c.pending[p.id]; !waits || t == nil || t.taken {
		return nil
	}
	t.taken, t.used = true, t.used || first
	return t
}

// handOn ends borrowing: the next caller may have the turn, or this one after its handler of progress, which takes what
// time it likes. It goes back if others wait now, the receiver expects it, or the connection is not what it was.
func (c *Client) handOn(t *turn, p *pendingCall, received bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	others := len(c.pending)
	if _, waits := c.pending[p.id]; waits {
		others--
	}
	if t.taken = false; !received || t.due || others > 0 || c.err != nil {
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
