//go:build freebsd || netbsd || openbsd || dragonfly

package procgroup

// othersAlive is not known here, so what the leader leaves behind is killed at once.
func (g *Group) othersAlive() bool { return false }
