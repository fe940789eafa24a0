//go:build linux || darwin

package stdio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/transport"
)

func init() {
	maps.Copy(plays, map[string]func(){
		"descendant":          func() { signal.Ignore(syscall.SIGTERM); hello(); forever() },
		"obedient descendant": func() { hello(); forever() },
		"descendant at eof":   func() { spawn("descendant", nil); waitForEOF() },
		"escaped descendant": func() {
			spawn("descendant", func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
			waitForEOF()
		},
		"crash with descendant": func() {
			spawn("descendant", nil)
			eachLine(func(string) {
				fmt.Fprintln(os.Stderr, "boom")
				os.Exit(3)
			})
		},
		"crash with escaped descendant": func() {
			spawn("descendant", func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
			eachLine(func(string) {
				fmt.Fprintln(os.Stderr, "boom")
				os.Exit(3)
			})
		},
		"killed": func() {
			eachLine(func(string) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); forever() })
		},
	})
}

// runs reports whether a process runs; a zombie does not.
func runs(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return stat[bytes.LastIndexByte(stat, ')')+2] != 'Z'
	}
	return runtime.GOOS != "linux" && syscall.Kill(pid, 0) == nil
}

// A server that ignores the end of its input costs half a second, and not the period after SIGTERM.
func TestCloseOfServerThatIgnoresEOF(t *testing.T) {
	tr := server("ignore eof")
	tr.CloseGrace, tr.KillGrace = 0, 0
	conn := connect(t, tr)
	pid := pidOf(t, conn)
	started := time.Now()
	require.NoError(t, conn.Close())
	took := time.Since(started)
	assert.GreaterOrEqual(t, took, stdio.DefaultCloseGrace)
	assert.Less(t, took, stdio.DefaultKillGrace)
	assert.False(t, runs(pid))
}

// A Receive that waits returns when Close begins, not when the server has ended.
func TestCloseUnblocksReceive(t *testing.T) {
	conn := connect(t, server("ignore eof")) // it does not end before the test ends it
	pid := pidOf(t, conn)
	result := make(chan error, 1)
	go func() {
		_, err := conn.Receive(t.Context())
		result <- err
	}()
	waitForReader(t)
	var closing sync.WaitGroup
	closing.Go(func() { assert.NoError(t, conn.Close()) })
	within(t, 10*time.Second, func() {
		err := <-result
		assert.ErrorIs(t, err, transport.ErrClosed)
		assert.EqualError(t, err, "stdio: connection closed")
	})
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	closing.Wait()
}

func TestCloseOfServerThatIgnoresEOFAndSIGTERM(t *testing.T) {
	tr := server("ignore eof and term")
	tr.CloseGrace, tr.KillGrace = short, short
	var stderr log
	tr.Stderr = &stderr
	conn := connect(t, tr)
	pid := pidOf(t, conn)
	started := time.Now()
	within(t, 10*time.Second, func() { require.NoError(t, conn.Close()) })
	assert.GreaterOrEqual(t, time.Since(started), 2*short)
	assert.False(t, runs(pid))
	assert.Equal(t, "asked to end\n", stderr.String(), "SIGTERM comes before SIGKILL")
}

// npx and uvx start the server as a child and wait for it.
func TestCloseEndsTheWholeGroup(t *testing.T) {
	tr := server("descendant")
	tr.Args = []string{"-c", `exec 3<&0; "$0" <&3 & wait`, tr.Command}
	tr.Command = "sh"
	tr.CloseGrace, tr.KillGrace = short, short
	conn := connect(t, tr)
	pid := pidOf(t, conn)
	within(t, 10*time.Second, func() { require.NoError(t, conn.Close()) })
	assert.False(t, runs(pid))
}

func TestCloseEndsDescendantThatOutlivesTheServer(t *testing.T) {
	tr := server("descendant at eof")
	tr.CloseGrace, tr.KillGrace = short, short
	conn := connect(t, tr)
	pid := pidOf(t, conn)
	within(t, 10*time.Second, func() { require.NoError(t, conn.Close()) })
	assert.False(t, runs(pid))
}

// One that left the group cannot be ended. It must not hold up Close either, though it holds on to the pipes.
func TestCloseIsBoundedWithDescendantThatEscaped(t *testing.T) {
	conn := connect(t, server("escaped descendant"))
	pid := pidOf(t, conn)
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	within(t, 10*time.Second, func() { assert.NoError(t, conn.Close()) })
	assert.True(t, runs(pid))
}

func TestNegativePeriodsAreNone(t *testing.T) {
	tr := server("ignore eof and term")
	tr.CloseGrace, tr.KillGrace = -1, -1
	conn := connect(t, tr)
	pid := pidOf(t, conn)
	within(t, 10*time.Second, func() { require.NoError(t, conn.Close()) })
	assert.False(t, runs(pid))
}

// A crash is reported at once, with a descendant that ignores SIGTERM and holds the output.
func TestCrashWithDescendantThatHoldsTheOutput(t *testing.T) {
	for _, play := range []string{"crash with descendant", "crash with escaped descendant"} {
		t.Run(play, func(t *testing.T) {
			conn := connect(t, server(play))
			pid := pidOf(t, conn)
			defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
			send(t, conn, 1, "")
			started := time.Now()
			err := receive(t, conn).err
			assert.Less(t, time.Since(started), 3*time.Second)
			assert.EqualError(t, err, "stdio: server exited with status 3; stderr: boom")
			if play == "crash with descendant" {
				assert.False(t, runs(pid), "it goes with the server, before anybody calls Close")
			}
			assert.NoError(t, conn.Close())
		})
	}
}

func TestServerEndedBySignal(t *testing.T) {
	conn := connect(t, server("killed"))
	send(t, conn, 1, "")
	err := receive(t, conn).err
	assert.EqualError(t, err, "stdio: server ended: signal: killed")
	var exit *stdio.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, -1, exit.Code)
	var system *exec.ExitError
	require.ErrorAs(t, err, &system)
	assert.Equal(t, syscall.SIGKILL, system.Sys().(syscall.WaitStatus).Signal())
}

func TestConnectFailsWithoutATrace(t *testing.T) {
	notExecutable := t.TempDir() + "/server"
	require.NoError(t, os.WriteFile(notExecutable, nil, 0o600))
	tr := server("echo")
	tr.Command = notExecutable
	_, err := tr.Connect(t.Context())
	assert.ErrorIs(t, err, os.ErrPermission)
	assert.EqualError(t, err, fmt.Sprintf("stdio: command %q is not executable: permission denied", notExecutable))

	require.NoError(t, os.Chmod(notExecutable, 0o700))
	tr.Prepare = func(cmd *exec.Cmd) error { cmd.Path += " gone"; return nil }
	_, err = tr.Connect(t.Context())
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "stdio: start ")
}

func TestPrepareMayMakeASessionAndKeepsTheGroup(t *testing.T) {
	tr := server("ignore eof")
	tr.CloseGrace = short
	tr.Prepare = func(cmd *exec.Cmd) error {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return nil
	}
	conn := connect(t, tr)
	pid := pidOf(t, conn)
	group, err := syscall.Getpgid(pid)
	require.NoError(t, err)
	assert.Equal(t, pid, group)
	require.NoError(t, conn.Close())
	assert.False(t, runs(pid))
}

func TestPidIsNotReusedBeforeTheEnd(t *testing.T) {
	conn := connect(t, server("exit 3"))
	send(t, conn, 1, "")
	var exit *exec.ExitError
	require.ErrorAs(t, receive(t, conn).err, &exit)
	assert.True(t, errors.Is(syscall.Kill(exit.Pid(), 0), syscall.ESRCH), "it is reaped before Close")
}

// spawn starts another play with the standard files of this one.
func spawn(name string, change func(*exec.Cmd)) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playVar+"="+name)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if change != nil {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// waitForEOF reads stdin to its end.
func waitForEOF() { _, _ = io.Copy(io.Discard, os.Stdin) }

// A caller does not wait for the end of what the server started, which may ignore SIGTERM, if its ctx ends before.
func TestReceiveIsInterruptedWhileDescendantsEnd(t *testing.T) {
	for range 5 { // on a machine that is busy they may have ended before
		conn := connect(t, server("crash with descendant"))
		pid := pidOf(t, conn)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		send(t, conn, 1, "")
		time.AfterFunc(300*time.Millisecond, cancel)
		_, err := conn.Receive(ctx)
		alive := runs(pid)
		assert.ErrorAs(t, exitOf(t, conn), new(*stdio.ExitError))
		assert.ErrorAs(t, receive(t, conn).err, new(*stdio.ExitError))
		if alive {
			assert.ErrorIs(t, err, context.Canceled)
			return
		}
	}
	t.Error("it always waits for them")
}
