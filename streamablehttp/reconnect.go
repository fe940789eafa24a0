package streamablehttp

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Reconnect says how streams that broke are taken up again. The delays double from Delay to MaxDelay, plus up to a
// quarter at random. A server that names a delay itself (the retry field) is obeyed instead the first time, and never
// asked sooner later on; nor is one that refuses with Retry-After.
//
// What counts as a failure is a stream that brought no event with an ID, or no stream at all. An event with an ID
// starts the count anew, and so does a stream that held for longer than MaxDelay. Once there was a GET stream, an
// outage counts for nothing, however long it is: the server cannot be reached, or is unavailable (429, 502, 503, 504).
type Reconnect struct {
	// MaxRetries is how many failures in a row are followed by another try: 5 if zero, none if below. A response that
	// was cut off is always asked for once.
	MaxRetries int
	// Delay comes before the first try: 1 s if zero.
	Delay time.Duration
	// MaxDelay is the longest delay of our own: 30 s if zero.
	MaxDelay time.Duration
}

// minDelay keeps a server that says "retry: 0" from being asked in a tight loop.
const minDelay = 100 * time.Millisecond

func (r Reconnect) resolved() Reconnect {
	switch {
	case r.MaxRetries == 0:
		r.MaxRetries = 5
	case r.MaxRetries < 0:
		r.MaxRetries = 0
	}
	if r.Delay <= 0 {
		r.Delay = time.Second
	}
	if r.MaxDelay <= 0 {
		r.MaxDelay = 30 * time.Second
	}
	r.MaxDelay = max(r.MaxDelay, r.Delay)
	return r
}

// A budget counts the tries for one stream that came to nothing, in a row.
type budget struct {
	Reconnect
	tries    int
	failures int           // the tries that count
	retry    time.Duration // as the server said; below 0 if it did not
}

// renew starts the count anew.
func (b *budget) renew() { b.tries, b.failures = 0, 0 }

// next gives the delay before the next try, after one that ended with err, and false if there is to be none.
func (b *budget) next(err error, counts bool) (delay time.Duration, ok bool) {
	if b.failures >= b.MaxRetries {
		return 0, false
	}
	b.tries++
	if counts {
		b.failures++
	}
	least := minDelay
	if status, ok := errors.AsType[*StatusError](err); ok {
		least = max(least, status.RetryAfter())
	}
	if b.retry >= 0 && b.tries == 1 {
		return max(b.retry, least), true
	}
	delay = b.Delay
	for i := 1; i < b.tries && delay < b.MaxDelay; i++ {
		delay *= 2
	}
	delay = min(delay, b.MaxDelay)
	delay += rand.N(delay/4 + 1)
	return max(delay, b.retry, least), true
}

// sleep reports whether the time has passed while ctx was not done.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
