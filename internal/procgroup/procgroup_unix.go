//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package procgroup

import "syscall"

func (g *Group) start(o Options) error {
	attr := g.cmd.SysProcAttr
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	if !attr.Setsid { // the leader of a session leads a group already, and may not change that
		attr.Setpgid, attr.Pgid = true, 0
	}
	g.cmd.SysProcAttr = attr
	if o.EndWithHost {
		if err := setDeathSignal(attr); err != nil {
			return err
		}
	}
	if err := g.system.open(); err != nil {
		return err
	}
	if err := g.cmd.Start(); err != nil {
		g.system.close()
		return err
	}
	return nil
}

// signal reaches every member of the group. It is not called once the leader was reaped. Its error says that none is
// left that may be signalled, which End finds out anyway.
func (g *Group) signal(sig syscall.Signal) { _ = syscall.Kill(-g.cmd.Process.Pid, sig) }

func (g *Group) terminate() error {
	g.signal(syscall.SIGTERM)
	return nil
}

func (g *Group) kill() { g.signal(syscall.SIGKILL) }

func (g *Group) release() { g.system.close() }
