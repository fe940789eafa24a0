package leakcheck

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary stand in for a child process that ends when its stdin does.
func TestMain(m *testing.M) {
	if os.Getenv("LEAKCHECK_CHILD") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	Main(m)
}

// tests plays the part of testing.M.
type tests func() int

func (f tests) Run() int { return f() }

// runLeaking runs the check over tests that do leak, and gives its status and report.
func runLeaking(leak func()) (int, string) {
	var report bytes.Buffer
	code := run(tests(func() int { leak(); return 0 }), &report, 50*time.Millisecond)
	return code, report.String()
}

func TestCleanRunPasses(t *testing.T) {
	code, report := runLeaking(func() {})
	assert.Equal(t, 0, code)
	assert.Empty(t, report)
}

func TestStatusOfTestsIsKept(t *testing.T) {
	assert.Equal(t, 3, run(tests(func() int { return 3 }), os.Stderr, 0))
}

func TestGoroutineIsCaught(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	code, report := runLeaking(func() { go leakedGoroutine(stop) })
	assert.Equal(t, 1, code)
	assert.Contains(t, report, "leakcheck.leakedGoroutine")
	assert.Equal(t, 1, strings.Count(report, "\ngoroutine "))
}

func leakedGoroutine(stop <-chan struct{}) { <-stop }

func TestGoroutineOnItsWayOutIsWaitedFor(t *testing.T) {
	check := checkAll()
	stop := make(chan struct{})
	go leakedGoroutine(stop)
	rounds := 0
	left := settled(Settle, func() []string {
		if rounds++; rounds == 3 {
			close(stop)
		}
		return check()
	})
	assert.Empty(t, left)
	assert.GreaterOrEqual(t, rounds, 3)
}

func TestRunningChildIsCaught(t *testing.T) {
	needsProc(t)
	cmd, end := child(t)
	code, report := runLeaking(func() { require.NoError(t, cmd.Start()) })
	assert.Equal(t, 1, code)
	assert.Contains(t, report, "child process ")
	end()
	require.NoError(t, cmd.Wait())
	assert.NotContains(t, children(), strconv.Itoa(cmd.Process.Pid))
}

func TestZombieIsCaught(t *testing.T) {
	needsProc(t)
	cmd, end := child(t)
	var left []string
	base := children()
	require.NoError(t, cmd.Start())
	end()
	require.Eventually(t, func() bool {
		left = newChildren(base)
		return len(left) == 1 && strings.HasSuffix(left[0], " Z")
	}, 10*time.Second, time.Millisecond, "no zombie seen")
	require.NoError(t, cmd.Wait())
	assert.Empty(t, newChildren(base))
}

// child returns a command that runs until end is called.
func child(t *testing.T) (cmd *exec.Cmd, end func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	// The race detector makes a process linger for a second when it exits, unless told not to.
	cmd.Env = append(os.Environ(), "LEAKCHECK_CHILD=1", "GORACE=atexit_sleep_ms=0")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	return cmd, func() { _ = stdin.Close() }
}

func TestFileIsCaught(t *testing.T) {
	needsProc(t)
	var file *os.File
	code, report := runLeaking(func() {
		var err error
		file, err = os.Open(os.Args[0])
		require.NoError(t, err)
	})
	assert.Equal(t, 1, code)
	assert.Contains(t, report, os.Args[0])
	require.NoError(t, file.Close())
}

func TestForgottenFileIsCaught(t *testing.T) {
	needsProc(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go allocate(stop, stopped)
	code := run(tests(func() int {
		_, err := os.Open(os.Args[0])
		require.NoError(t, err)
		return 0
	}), io.Discard, time.Second)
	close(stop)
	<-stopped
	assert.Equal(t, 1, code, "the check itself must not collect it")
	runtime.GC() // for the check of this package's own tests
}

// allocate would start the collector many times.
func allocate(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	for range 100 {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
			garbage = make([]byte, 1<<20)
		}
	}
}

var garbage []byte

func TestFileUnderAnOldNumberIsCaught(t *testing.T) {
	needsProc(t)
	old, err := os.Open(os.Args[0])
	require.NoError(t, err)
	base := files()
	require.NoError(t, old.Close())
	again, err := os.Open(os.DevNull)
	require.NoError(t, err)
	assert.Len(t, newFiles(base), 1)
	require.NoError(t, again.Close())
	assert.Empty(t, newFiles(base))
}

func TestPipeAndPollerAreToldApart(t *testing.T) {
	needsProc(t)
	base := files()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	assert.Len(t, newFiles(base), 2, "the two ends, and nothing of the poller")
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
}

func TestGoroutineOfOneTestIsCaught(t *testing.T) {
	spy := &spyTB{TB: t}
	watchGoroutines(spy, 50*time.Millisecond)
	stop := make(chan struct{})
	go leakedGoroutine(stop)
	spy.cleanup()
	assert.Contains(t, spy.failure, "leakcheck.leakedGoroutine")

	close(stop)
	spy = &spyTB{TB: t}
	Goroutines(spy)
	spy.cleanup()
	assert.Empty(t, spy.failure)
}

// spyTB keeps the cleanup for the test to call, and the failure to itself.
type spyTB struct {
	testing.TB
	cleanup func()
	failure string
}

func (s *spyTB) Cleanup(f func())                  { s.cleanup = f }
func (s *spyTB) Errorf(format string, args ...any) { s.failure = fmt.Sprintf(format, args...) }
func (s *spyTB) Helper()                           {}

// needsProc ends a test of the checks that Linux alone has.
func needsProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("no /proc on this system")
	}
}
