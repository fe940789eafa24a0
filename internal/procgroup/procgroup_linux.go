package procgroup

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// system is what the system needs to watch the leader: nothing.
type system struct{}

func (*system) open() error { return nil }
func (*system) close()      {}

// bindToThread keeps the goroutine that starts the leader and waits for it on one thread, which nothing else can end
// meanwhile. The signal of prctl(2) PR_SET_PDEATHSIG comes when the thread that forked is gone, not the process, and
// threads of a Go program come and go.
func bindToThread(o Options) (unbind func()) {
	if !o.EndWithHost {
		return func() {}
	}
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// setDeathSignal asks for SIGTERM, which launchers hand on to the server that they started; SIGKILL would orphan it.
func setDeathSignal(attr *syscall.SysProcAttr) error {
	if attr.Pdeathsig == 0 {
		attr.Pdeathsig = syscall.SIGTERM
	}
	return nil
}

// From waitid(2); package syscall has no such function.
const (
	idTypePid = 1
	siginfo   = 128 // bytes
)

// awaitExit blocks until the leader has ended and leaves it a zombie. An error can only mean that it is gone: the host
// ignores SIGCHLD, so that the kernel reaps for it.
func (g *Group) awaitExit() {
	var info [siginfo / 8]uint64
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idTypePid, uintptr(g.cmd.Process.Pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// othersAlive reports whether the group has a member that runs. The zombie of the leader does not count, nor do those
// of orphans: the first process of a container often does not reap them.
func (g *Group) othersAlive() bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	group := []byte(strconv.Itoa(g.cmd.Process.Pid))
	for _, name := range names {
		if '0' <= name[0] && name[0] <= '9' && runsInGroup(name, group) {
			return true
		}
	}
	return false
}

// runsInGroup reads proc_pid_stat(5): "pid (comm) state ppid pgrp ...", where comm may hold any character.
func runsInGroup(pid string, group []byte) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false // it is gone
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 || !bytes.Equal(fields[2], group) {
		return false
	}
	state := fields[0][0]
	return state != 'Z' && state != 'X'
}
