//go:build linux || darwin

package procgroup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

// long is a period that no test lets pass.
const long = 30 * time.Second

// TestMain lets the test binary play the members of a group. Each says "ready" once it is what its name says.
func TestMain(m *testing.M) {
	play, ok := map[string]func(){
		"obedient": func() { ready(); wait() },
		"stubborn": func() { signal.Ignore(syscall.SIGTERM); ready(); forever() },
		"passing":  func() { ready() },
		// A leader that starts a member, which says ready for both, and leaves.
		"leaves obedient": func() { spawn("obedient") },
		"leaves stubborn": func() { spawn("stubborn") },
		"keeps stubborn":  func() { spawn("stubborn"); wait() },
	}[os.Getenv("PROCGROUP_PLAY")]
	if ok {
		play()
		os.Exit(0)
	}
	leakcheck.Main(m)
}

func ready() { fmt.Println("ready", os.Getpid()) }

// wait returns when stdin ends.
func wait() { _, _ = io.Copy(io.Discard, os.Stdin) }

func forever() { time.Sleep(time.Hour) }

func player(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	// The race detector lets a process linger for a second at its exit, unless told not to.
	cmd.Env = append(os.Environ(), "PROCGROUP_PLAY="+name, "GORACE=atexit_sleep_ms=0")
	return cmd
}

func spawn(name string) {
	cmd := player(name)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// troupe is a group under test.
type troupe struct {
	*Group
	stdin *os.File
	pid   int // of the one that said ready
}

func start(t *testing.T, name string, o Options) *troupe {
	t.Helper()
	theirStdin, stdin, err := os.Pipe()
	require.NoError(t, err)
	stdout, theirStdout, err := os.Pipe()
	require.NoError(t, err)
	cmd := player(name)
	cmd.Stdin, cmd.Stdout = theirStdin, theirStdout
	g, err := Start(cmd, o)
	require.NoError(t, theirStdin.Close())
	require.NoError(t, theirStdout.Close())
	require.NoError(t, err)
	tr := &troupe{Group: g, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	_, err = fmt.Sscanf(line, "ready %d", &tr.pid)
	require.NoError(t, err)
	require.NoError(t, stdout.Close())
	t.Cleanup(func() { _ = stdin.Close() })
	return tr
}

// runs reports whether a process runs; a zombie does not.
func runs(pid int) bool {
	s := state(pid)
	return s != 0 && s != 'Z'
}

// state is the letter that ps(1) shows, 0 if there is no such process.
func state(pid int) byte {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return stat[bytes.LastIndexByte(stat, ')')+2]
	}
	if runtime.GOOS == "linux" {
		return 0
	}
	out, _ := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return append(bytes.TrimSpace(out), 0)[0]
}

func TestGroupThatGoesByItself(t *testing.T) {
	g := start(t, "obedient", Options{})
	require.NoError(t, g.stdin.Close())
	require.NoError(t, g.End(long, long))
	assert.NoError(t, g.WaitError())
}

func TestGroupThatNeedsToBeAsked(t *testing.T) {
	g := start(t, "obedient", Options{})
	require.NoError(t, g.End(0, long))
	assert.Equal(t, syscall.SIGTERM, signalOf(t, g))
}

func TestGroupThatNeedsToBeKilled(t *testing.T) {
	g := start(t, "stubborn", Options{})
	require.NoError(t, g.End(0, 20*time.Millisecond))
	assert.Equal(t, syscall.SIGKILL, signalOf(t, g))
}

func signalOf(t *testing.T, g *troupe) syscall.Signal {
	t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(t, g.WaitError(), &exit)
	return exit.Sys().(syscall.WaitStatus).Signal()
}

func TestMemberOutlivesTheLeader(t *testing.T) {
	for _, test := range []struct {
		play      string
		killGrace time.Duration
	}{
		{"leaves obedient", long}, // SIGTERM must do, and its end must be noticed
		{"leaves stubborn", 20 * time.Millisecond},
		{"keeps stubborn", 20 * time.Millisecond},
	} {
		t.Run(test.play, func(t *testing.T) {
			g := start(t, test.play, Options{})
			assert.True(t, runs(g.pid))
			require.NoError(t, g.End(20*time.Millisecond, test.killGrace))
			assert.False(t, runs(g.pid))
		})
	}
}

func TestMembersWithoutTheLeaderHaveTheirGrace(t *testing.T) {
	g := start(t, "leaves obedient", Options{})
	<-g.Exited()
	require.NoError(t, g.stdin.Close())
	require.NoError(t, g.End(long, long), "it went by itself, long before the end of the period")
}

func TestLeaderKeepsItsNumberUntilTheGroupIsGone(t *testing.T) {
	g := start(t, "leaves stubborn", Options{})
	<-g.Exited()
	ended := make(chan error)
	go func() { ended <- g.End(0, 300*time.Millisecond) }()
	select {
	case <-g.Reaped():
		assert.False(t, runs(g.pid), "the leader was reaped while the group lived")
	case <-time.After(100 * time.Millisecond):
		assert.NoError(t, syscall.Kill(g.cmd.Process.Pid, 0), "the leader's number is free")
	}
	require.NoError(t, <-ended)
	<-g.Reaped()
	assert.ErrorIs(t, syscall.Kill(g.cmd.Process.Pid, 0), syscall.ESRCH)
}

func TestLeaderThatStopsHasNotExited(t *testing.T) {
	g := start(t, "stubborn", Options{})
	require.NoError(t, syscall.Kill(g.pid, syscall.SIGSTOP))
	require.Eventually(t, func() bool { return state(g.pid) == 'T' }, long, 5*time.Millisecond)
	select {
	case <-g.Exited():
		assert.Fail(t, "taken for one that exited")
	default:
	}
	require.NoError(t, g.End(0, 0), "a stopped process can be killed")
}

func TestSessionLeaderKeepsItsSession(t *testing.T) {
	cmd := player("passing")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	g, err := Start(cmd, Options{})
	require.NoError(t, err)
	require.NoError(t, g.End(long, 0))
	assert.NoError(t, g.WaitError())
}

func TestStartThatFailsLeavesNothing(t *testing.T) {
	_, err := Start(exec.Command("/does/not/exist"), Options{})
	assert.True(t, errors.Is(err, os.ErrNotExist))
}
