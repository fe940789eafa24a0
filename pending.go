package mcp

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// pendingCall is a request that waits for its answer. The reader of the connection fills it; the goroutine that called
// empties it.
type pendingCall struct {
	id     int64
	method string
	wake   chan struct{} // holds one token when there is something to take

	listener *listener // of a subscription
	opening  bool      // it opens the connection
	token    bool      // a progress token went out with it
	wanted   bool      // the caller wants to see progress

	mu            sync.Mutex
	progress      []json.RawMessage // params of progress notifications that the caller has not seen; only if it asked
	progressBytes int               // of them
	answer        *transport.Message
	err           error // in place of an answer
	active        time.Time
}

// maxProgress bounds the progress that waits for a slow handler.
const maxProgress = 4096

// resolve ends the call with an answer or an error. Whoever calls it has taken the call out of those that wait.
func (p *pendingCall) resolve(answer *transport.Message, err error) {
	p.mu.Lock()
	p.answer, p.err = answer, err
	p.mu.Unlock()
	p.signal()
}

// progressed renews the idle limit and keeps the notification for the caller. It reports whether an older one had to
// go.
func (p *pendingCall) progressed(params json.RawMessage) (dropped bool) {
	p.mu.Lock()
	p.active = time.Now()
	if p.wanted {
		p.progress = append(p.progress, params)
		p.progressBytes += len(params)
		for len(p.progress) > maxProgress || len(p.progress) > 1 && p.progressBytes > maxQueueBytes {
			p.progressBytes -= len(p.progress[0])
			p.progress = p.progress[1:]
			dropped = true
		}
	}
	p.mu.Unlock()
	if p.wanted {
		p.signal()
	}
	return dropped
}

func (p *pendingCall) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take returns what has come since the last time. Progress that comes with an answer came before it.
func (p *pendingCall) take() (progress []json.RawMessage, answer *transport.Message, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	progress, p.progress, p.progressBytes = p.progress, nil, 0
	return progress, p.answer, p.err
}

// A deadline watches the two limits of a call. One timer serves both: when it fires too early, because there was
// progress, it is set anew.
type deadline struct {
	call   *pendingCall
	client *Client
	idle   time.Duration
	hard   time.Duration
	start  time.Time
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
}

// newDeadline starts watching; nil if the call has no limits.
func (c *Client) newDeadline(p *pendingCall, o *callOptions, cancel context.CancelCauseFunc) *deadline {
	if o.timeout <= 0 && o.maxTimeout <= 0 {
		return nil
	}
	d := &deadline{
		call:   p,
		client: c,
		idle:   o.timeout,
		hard:   o.maxTimeout,
		start:  p.active,
		cancel: cancel,
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(d.left(d.start), d.fire)
	return d
}

func (d *deadline) stop() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer.Stop()
}

// left is the time from now to the nearer limit.
func (d *deadline) left(now time.Time) time.Duration {
	left := time.Duration(1<<63 - 1)
	if d.hard > 0 {
		left = d.start.Add(d.hard).Sub(now)
	}
	if d.idle > 0 {
		left = min(left, d.lastActive(now).Add(d.idle).Sub(now))
	}
	return left
}

// lastActive is when the call was last known to go on: at its latest progress, or as long as a handler of the client is
// answering the server, since it may be this call that waits for a human.
func (d *deadline) lastActive(now time.Time) time.Time {
	var until time.Time
	if !d.call.opening { // nothing that a handler does can be about the opening of the connection
		var busy bool
		if busy, until = d.client.requests.activity(); busy {
			return now
		}
	}
	d.call.mu.Lock()
	defer d.call.mu.Unlock()
	if d.call.active.After(until) {
		return d.call.active
	}
	return until
}

func (d *deadline) fire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if left := d.left(now); left > 0 {
		d.timer.Reset(left)
		return
	}
	if d.hard > 0 && now.Sub(d.start) >= d.hard {
		d.cancel(&TimeoutError{Method: d.call.method, Limit: d.hard, Hard: true})
		return
	}
	d.cancel(&TimeoutError{Method: d.call.method, Limit: d.idle})
}
