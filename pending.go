package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// pendingCall is a request that waits for its answer. The reader of the connection fills it; the goroutine that called
// empties it. Its client uses it again for later calls, so whoever comes to fill it says for which id, and may be late.
type pendingCall struct {
	client  *Client
	wake    chan struct{}            // holds one token when there is something to take
	deliver func(*transport.Message) // delivered, kept as a value
	limits  deadline
	bounded bool // the limits end it in any case; under the client's lock

	mu       sync.Mutex
	id       int64
	listener *listener      // of a subscription
	opening  bool           // it opens the connection
	token    bool           // a progress token went out with it
	handle   func(Progress) // of a caller that wants to see progress

	progress      []receivedProgress // what the caller has not seen; only if it asked
	progressBytes int                // of it
	room          []receivedProgress // empty, for the next; only the caller has it
	answer        *transport.Message
	err           error // in place of an answer
	active        time.Time
}

// receivedProgress is the content of a progress notification of so many bytes.
type receivedProgress struct {
	Progress
	bytes int
}

const (
	// maxProgress bounds the progress that waits for a slow handler.
	maxProgress = 4096
	// maxSpare bounds the records that a client keeps for later calls.
	maxSpare = 64
	// maxRoom bounds the room for progress that a call keeps.
	maxRoom = 16
)

// addPending makes a call known, until it is retired.
func (c *Client) addPending(id int64, r *request, o *callOptions, now time.Time) (*pendingCall, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	if c.pending == nil {
		c.pending = make(map[int64]*pendingCall)
	}
	var p *pendingCall
	if last := len(c.spare) - 1; last >= 0 {
		p, c.spare = c.spare[last], c.spare[:last]
	} else {
		p = &pendingCall{client: c, wake: make(chan struct{}, 1)}
		p.deliver = p.delivered
		p.limits.call = p
	}
	p.begin(id, r, o, now)
	c.pending[id] = p
	return p, nil
}

// removePending forgets a call and reports whether it was still waiting on a living connection.
func (c *Client) removePending(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waiting := c.pending[id]
	delete(c.pending, id)
	return waiting
}

// retire ends a call for good, and keeps its record.
func (c *Client) retire(p *pendingCall, ctx *callContext) {
	ctx.end(context.Canceled)
	p.limits.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, p.id)
	p.clear()
	switch {
	case !c.hearing: // what else a request costs without a common stream is far more; so idle clients hold little
		if len(c.pending) == 0 {
			c.pending = nil
		}
	case len(c.spare) < maxSpare && !p.opening: // a connection that is opened may be idle for long
		c.spare = append(c.spare, p)
	}
}

func (p *pendingCall) begin(id int64, r *request, o *callOptions, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id, p.listener, p.opening, p.handle = id, r.listener, r.opening, o.progress
	p.token = r.renewable || o.progress != nil
	p.bounded = o.timeout > 0 || o.maxTimeout > 0
	p.active = now
}

// clear makes the record nobody's. From here on whoever still means the call is too late.
func (p *pendingCall) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id, p.listener, p.handle = 0, nil, nil
	p.progress, p.progressBytes, p.answer, p.err = nil, 0, nil, nil
	select {
	case <-p.wake:
	default:
	}
}

// resolve ends the call with an answer or an error. Whoever calls it takes the call out of those that wait, under the
// same lock: a call that no longer waits has its answer, or its client has ended.
func (p *pendingCall) resolve(answer *transport.Message, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer, p.err = answer, err
	p.signal()
}

// progressed renews the idle limit and keeps the notification for the caller. It reports whether the call expects
// progress at all, and whether an older notification had to go.
func (p *pendingCall) progressed(id int64, progress receivedProgress) (expected, dropped bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id != id || !p.token {
		return false, false
	}
	p.active = time.Now()
	if p.handle == nil {
		return true, false
	}
	p.progress = append(p.progress, progress)
	p.progressBytes += progress.bytes
	for len(p.progress) > maxProgress || len(p.progress) > 1 && p.progressBytes > maxQueueBytes {
		p.progressBytes -= p.progress[0].bytes
		p.progress = p.progress[1:]
		dropped = true
	}
	p.signal()
	return true, dropped
}

func (p *pendingCall) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// delivered takes a message that came on the call's own exchange, on the goroutine of the call.
func (p *pendingCall) delivered(m *transport.Message) {
	if p.listener != nil && m.IsNotification() {
		p.client.heard.Add(1)
		p.listener.notified(m) // whether or not it says which subscription it belongs to
		return
	}
	p.client.dispatch(m)
	p.report()
}

// hasReceived reports whether there is something to take.
func (p *pendingCall) hasReceived() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answer != nil || p.err != nil || len(p.progress) > 0
}

func (p *pendingCall) isAnswered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answer != nil || p.err != nil
}

// report hands progress to the caller, on its own goroutine, and then returns the answer if there is one.
func (p *pendingCall) report() (*transport.Message, error) {
	progress, answer, err := p.take()
	for i := range progress {
		p.handle(progress[i].Progress)
		progress[i] = receivedProgress{}
	}
	if cap(progress) <= maxRoom {
		p.room = progress[:0]
	}
	return answer, err
}

// take returns what has come since the last time. Progress that comes with an answer came before it.
func (p *pendingCall) take() (progress []receivedProgress, answer *transport.Message, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	progress, p.progress, p.progressBytes = p.progress, p.room, 0
	p.room = nil
	return progress, p.answer, p.err
}
