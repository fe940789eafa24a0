// Package growth tests how the cost of something grows with its size.
package growth

import (
	"testing"
	"time"
)

const (
	factor = 16
	// most is between what so many times the size costs if the cost is in proportion to it (16), and caches are no
	// longer large enough, and if it is in the square (256).
	most = 90
	// rounds of both sizes are made, and the fastest of each counts, so that a busy machine does not.
	rounds = 5
)

// Linear fails t if do takes much more than 16 times as long for 16n as for n, which is to be large enough to take
// about a millisecond. What prepare does for each of both sizes is not counted.
func Linear(t testing.TB, n int, prepare func(n int) (do func())) {
	t.Helper()
	do := [2]func(){prepare(n), prepare(factor * n)}
	var best [2]time.Duration
	for range rounds {
		for i := range do {
			start := time.Now()
			do[i]()
			if took := time.Since(start); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
		if best[1] < most*best[0] {
			return
		}
	}
	t.Errorf("%d takes %v, and %d times as much %v", n, best[0], factor, best[1])
}
