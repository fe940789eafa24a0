package leakcheck

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// Settle is how long what is left may take to go. A clean run waits for none of it.
const Settle = 5 * time.Second

// Main runs the tests of a package and exits: with their status, or with 1 and a report on stderr when they passed but
// left something behind. It does not return.
func Main(m *testing.M) { os.Exit(run(m, os.Stderr, Settle)) }

// Goroutines fails t when goroutines that were not there at the call are left at the end of the test, after [Settle] at
// most. Call it first, since cleanups run last in, first out. It cannot tell apart the goroutines of tests that run in
// parallel, so it is not for those.
func Goroutines(t testing.TB) {
	t.Helper()
	watchGoroutines(t, Settle)
}

func watchGoroutines(t testing.TB, settle time.Duration) {
	base := goroutines()
	t.Cleanup(func() {
		left := settled(settle, func() []string { return newGoroutines(base) })
		if len(left) > 0 {
			t.Errorf("leakcheck: %d goroutines left:\n\n%s", len(left), strings.Join(left, "\n\n"))
		}
	})
}

func run(m interface{ Run() int }, report io.Writer, settle time.Duration) int {
	check := checkAll()
	code := m.Run()
	// The checks allocate, and a collection would close the files that were forgotten.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if code != 0 {
		return code // a test that gave up halfway cannot be expected to have cleaned up
	}
	left := settled(settle, check)
	if len(left) == 0 {
		return 0
	}
	fmt.Fprintf(report, "leakcheck: left behind by the tests:\n\n%s\n", strings.Join(left, "\n\n"))
	return 1
}

// checkAll takes the baseline and returns the function that lists what came on top of it.
func checkAll() func() []string {
	baseGoroutines, baseChildren, baseFiles := goroutines(), children(), files()
	return func() []string {
		left := newGoroutines(baseGoroutines)
		left = append(left, newChildren(baseChildren)...)
		return append(left, newFiles(baseFiles)...)
	}
}

// settled calls check until it finds nothing or the time is over, and returns what it found last.
func settled(limit time.Duration, check func() []string) []string {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left := check()
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause)
	}
}
