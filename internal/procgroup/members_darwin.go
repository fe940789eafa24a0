package procgroup

import "golang.org/x/sys/unix"

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// othersAlive reports whether the group has a member that runs; zombies do not.
func (g *Group) othersAlive() bool {
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", g.cmd.Process.Pid)
	if err != nil {
		return false
	}
	for i := range members {
		if members[i].Proc.P_stat != zombie {
			return true
		}
	}
	return false
}
