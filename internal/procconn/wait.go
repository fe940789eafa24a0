package procconn

import (
	"context"
	"time"
)

// WaitFor waits until done is closed, for limit at most, and reports whether it is.
func WaitFor(done <-chan struct{}, limit time.Duration) bool {
	return WaitIn(context.Background(), done, limit)
}

// WaitIn waits as WaitFor does, and no longer than until ctx is done.
func WaitIn(ctx context.Context, done <-chan struct{}, limit time.Duration) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-done:
		return true
	case <-timeout.C:
	case <-ctx.Done():
	}
	return IsDone(done) // both may have come at once
}

// IsDone reports whether done is closed.
func IsDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
