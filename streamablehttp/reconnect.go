package streamablehttp

import (
	"context"
	"math/rand/v2"
	"time"
)

// Reconnect says how streams that broke are taken up again. The delays double from Delay to MaxDelay, plus up to a
// quarter at random. A server that names a delay itself (the retry field) is obeyed instead the first time, and never
// asked sooner later on.
//
// What counts as a failure is a stream that brought no event with an ID, or no stream at all. An event with an ID
// starts the count anew, and so does the GET stream when it held for longer than MaxDelay.
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

// A budget counts the failures of one stream.
type budget struct {
	Reconnect
	failures int
	retry    time.Duration // as the server said; below 0 if it did not
}

// next gives the delay before the next try, and false if there is to be none.
func (b *budget) next() (delay time.Duration, ok bool) {
	if b.failures >= b.MaxRetries {
		return 0, false
	}
	b.failures++
	if b.retry >= 0 && b.failures == 1 {
		return max(b.retry, minDelay), true
	}
	delay = b.Delay
	for i := 1; i < b.failures && delay < b.MaxDelay; i++ {
		delay *= 2
	}
	delay = min(delay, b.MaxDelay)
	delay += rand.N(delay/4 + 1)
	return max(delay, b.retry, minDelay), true
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
