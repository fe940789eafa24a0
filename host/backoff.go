package host

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/seed62b61957/mcp/streamablehttp"
)

const (
	minDelay    = 500 * time.Millisecond
	maxDelay    = 30 * time.Second
	maxFailures = 10
)

// A backoff counts the failures of an outage, and says how long to wait before the next attempt.
type backoff struct {
	failures int // in a row; a connection that did not last is one
	waits    int // how often there was a wait
}

// failed takes note of an attempt that failed.
func (b *backoff) failed() { b.failures++ }

// lost takes note of a connection that was lost. Only one that lasted begins a new outage, so that a server that
// crashes again and again soon after each start comes to an end as well.
func (b *backoff) lost(uptime time.Duration) {
	if uptime > maxDelay {
		*b = backoff{}
		return
	}
	b.failures++
}

// next returns the wait before the next attempt, and false when there is to be none. err is that of the last one: a
// server that says when to come back is not asked sooner, up to the longest wait.
func (b *backoff) next(err error) (time.Duration, bool) {
	if b.failures >= maxFailures {
		return 0, false
	}
	delay := jittered(min(minDelay<<b.waits, maxDelay))
	b.waits++
	if status, ok := errors.AsType[*streamablehttp.StatusError](err); ok {
		delay = max(delay, min(status.RetryAfter(), maxDelay))
	}
	return delay, true
}

// jittered adds or takes up to a fifth. That is enough to spread the servers of one host, and leaves the schedule
// recognizable: an outage of a server that fails at once lasts some two minutes.
func jittered(d time.Duration) time.Duration {
	return d*4/5 + rand.N(d*2/5+1)
}
