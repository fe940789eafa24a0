// Package procgroup starts a command at the head of a process group of its own (Unix) or in a job object (Windows), and
// ends all of it: a launcher such as npx, and the server that it started.
//
// The leader is not reaped before the whole group was told to end. Until then its pid, which is the number of the
// group, cannot be given to another process, so a signal never reaches a stranger. How the end of the leader is noticed
// without reaping it, and who is left in the group, differs by system:
//
//	Linux    waitid(2) with WNOWAIT; /proc
//	macOS    kqueue; sysctl kern.proc.pgrp
//	BSD      kqueue; not known: once the leader is gone the rest is killed at once
//	Windows  the handle of the process; the accounting of the job
//
// A process that leaves the group (setsid, setpgid) escapes; one cannot leave the job on Windows.
package procgroup

import (
	"fmt"
	"os/exec"
	"time"
)

// lastWait is how long a killed group may take to be gone. Only a process inside the kernel takes any time.
const lastWait = time.Second

// Options of [Start].
type Options struct {
	// EndWithHost sends the leader SIGTERM when this process dies, unless cmd.SysProcAttr names another signal. Linux
	// has it; on Windows the job always ends with the host; elsewhere Start fails with errors.ErrUnsupported.
	EndWithHost bool
}

// A Group is a started command with all that it starts.
type Group struct {
	cmd     *exec.Cmd
	exited  chan struct{}
	reaped  chan struct{}
	waitErr error // of cmd.Wait, once reaped is closed
	system  system
}

// Start starts cmd, whose standard files must be nil or *os.File. The group must be ended with [Group.End], also after
// the leader ended by itself.
func Start(cmd *exec.Cmd, o Options) (*Group, error) {
	g := &Group{cmd: cmd, exited: make(chan struct{}), reaped: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		defer bindToThread(o)()
		err := g.start(o)
		started <- err
		if err == nil {
			g.awaitExit()
			close(g.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return g, nil
}

// Exited is closed when the leader has ended. Others may live on.
func (g *Group) Exited() <-chan struct{} { return g.exited }

// Reaped is closed when [Group.End] is through, or when a leader that could not be killed went after all.
func (g *Group) Reaped() <-chan struct{} { return g.reaped }

// WaitError is the error of [exec.Cmd.Wait]: nil after exit status 0. It is valid once Reaped is closed.
func (g *Group) WaitError() error { return g.waitErr }

// End ends the group: it waits for it to go by itself, for grace at most, then asks it to (SIGTERM; Windows has no
// such thing), waits again, for killGrace at most, and kills what is left. Then it reaps the leader. It takes at most a
// second more than both, and is called once.
func (g *Group) End(grace, killGrace time.Duration) error {
	gone := g.gone(grace)
	if !gone && g.terminate() == nil {
		gone = g.gone(killGrace)
	}
	g.kill() // also when all seem gone: one that was being started can be missed
	if !gone {
		gone = g.gone(lastWait)
	}
	select {
	case <-g.exited:
		g.reap()
	default:
		go func() { <-g.exited; g.reap() }()
	}
	if !gone {
		return fmt.Errorf("process group %d was killed and is not gone", g.cmd.Process.Pid)
	}
	return nil
}

// reap frees the leader's pid, and with it the number of the group.
func (g *Group) reap() {
	g.waitErr = g.cmd.Wait()
	g.release()
	close(g.reaped)
}

// gone waits until no member runs, for limit at most, and reports whether that is so.
func (g *Group) gone(limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	if !g.waitForLeader(limit) {
		return false
	}
	// Nothing tells when a process ends that is not a child of ours.
	for pause := time.Millisecond; g.othersAlive(); pause = min(2*pause, 50*time.Millisecond) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}

func (g *Group) waitForLeader(limit time.Duration) bool {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-g.exited:
		return true
	case <-timeout.C:
	}
	select {
	case <-g.exited: // both came at once
		return true
	default:
		return false
	}
}
