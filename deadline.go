package mcp

import (
	"sync"
	"time"
)

// A deadline watches the two limits of a call. One timer serves both, and all the calls of a record: when it fires too
// early, because there was progress, it is set anew.
type deadline struct {
	call *pendingCall

	mu      sync.Mutex
	running bool
	method  string
	opening bool
	idle    time.Duration
	hard    time.Duration
	begun   time.Time
	ctx     *callContext // to be ended
	timer   *time.Timer
}

// start begins to watch, if the call has limits.
func (d *deadline) start(ctx *callContext, r *request, o *callOptions, now time.Time) {
	if o.timeout <= 0 && o.maxTimeout <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running, d.method, d.opening, d.begun = true, r.method, r.opening, now
	d.idle, d.hard, d.ctx = o.timeout, o.maxTimeout, ctx
	left := d.left(d.begun)
	if d.timer == nil {
		d.timer = time.AfterFunc(left, d.fire)
	} else {
		d.timer.Reset(left)
	}
}

// stop ends watching, before the record serves another call.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running {
		d.running, d.ctx = false, nil
		d.timer.Stop()
	}
}

// left is the time from now to the nearer limit.
func (d *deadline) left(now time.Time) time.Duration {
	left := time.Duration(1<<63 - 1)
	if d.hard > 0 {
		left = d.begun.Add(d.hard).Sub(now)
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
	if !d.opening { // nothing that a handler does can be about the opening of the connection
		var busy bool
		if busy, until = d.call.client.requests.peek().activity(); busy {
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

// fire ends the call if a limit is over. It may come late, when the call has just ended or the record serves another.
func (d *deadline) fire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.running {
		return
	}
	now := time.Now()
	if left := d.left(now); left > 0 {
		d.timer.Reset(left)
		return
	}
	limit := &TimeoutError{Method: d.method, Limit: d.idle}
	if d.hard > 0 && now.Sub(d.begun) >= d.hard {
		limit = &TimeoutError{Method: d.method, Limit: d.hard, Hard: true}
	}
	d.ctx.end(limit)
	d.call.signal()
	d.call.client.interrupt()
}
