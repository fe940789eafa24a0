package procconn

import "time"

// WaitFor waits until done is closed, for limit at most, and reports whether it is.
func WaitFor(done <-chan struct{}, limit time.Duration) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-done:
		return true
	case <-timeout.C:
		return IsDone(done) // both may have come at once
	}
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
