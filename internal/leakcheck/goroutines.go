package leakcheck

import (
	"runtime"
	"strings"
)

// goroutines returns the stacks of all goroutines by their ids, without the one that calls and without those that the
// runtime starts once for the whole process.
func goroutines() map[string]string {
	stacks := make(map[string]string)
	for i, stack := range strings.Split(strings.TrimSpace(allStacks()), "\n\n") {
		if i == 0 || isProcessWide(stack) {
			continue // the calling goroutine comes first
		}
		stacks[goroutineID(stack)] = stack
	}
	return stacks
}

// newGoroutines returns the stacks of those that are not in base. Ids are never used twice within a process.
func newGoroutines(base map[string]string) []string {
	var left []string
	for id, stack := range goroutines() {
		if _, ok := base[id]; !ok {
			left = append(left, stack)
		}
	}
	return left
}

func allStacks() string {
	for buf := make([]byte, 64<<10); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return string(buf[:n])
		}
	}
}

// goroutineID cuts "goroutine 12" out of the first line of a stack: "goroutine 12 [chan receive]:".
func goroutineID(stack string) string {
	id, _, _ := strings.Cut(stack, " [")
	return id
}

// isProcessWide knows the goroutines that the first signal.Notify starts and that nothing ever ends.
func isProcessWide(stack string) bool {
	return strings.Contains(stack, "os/signal.loop") || strings.Contains(stack, "runtime.ensureSigM")
}
