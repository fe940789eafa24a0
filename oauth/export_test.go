package oauth

import "time"

// AwaitUnclaimed returns when there is an answer that nobody waits for.
func AwaitUnclaimed(l *Loopback) {
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		l.mu.Lock()
		n := len(l.unclaimed)
		l.mu.Unlock()
		if n > 0 {
			tick.Stop()
			return
		}
	}
}
