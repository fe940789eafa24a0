//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package procgroup

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
)

// system is the queue that tells when the leader ends.
type system struct{ queue int }

// open takes the queue before the start, when a failure can still be reported. Without the lock a child that something
// else forks at this moment would keep it open.
func (s *system) open() (err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if s.queue, err = syscall.Kqueue(); err != nil {
		return fmt.Errorf("kqueue: %w", err)
	}
	syscall.CloseOnExec(s.queue)
	return nil
}

func (s *system) close() { _ = syscall.Close(s.queue) }

func bindToThread(Options) (unbind func()) { return func() {} }

func setDeathSignal(*syscall.SysProcAttr) error {
	return fmt.Errorf("a signal at the death of the host, on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// awaitExit blocks until the leader has ended and leaves it a zombie, by kqueue(2): waitid of macOS also returns for a
// process that was only stopped. An error means that it has ended: registering fails with ESRCH for a zombie.
func (g *Group) awaitExit() {
	var change syscall.Kevent_t
	syscall.SetKevent(&change, g.cmd.Process.Pid, syscall.EVFILT_PROC, syscall.EV_ADD|syscall.EV_ONESHOT)
	change.Fflags = syscall.NOTE_EXIT
	changes := []syscall.Kevent_t{change}
	for {
		_, err := syscall.Kevent(g.system.queue, changes, make([]syscall.Kevent_t, 1), nil)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
