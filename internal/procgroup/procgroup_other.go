//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly && !windows

package procgroup

import (
	"errors"
	"fmt"
	"runtime"
)

type system struct{}

func bindToThread(Options) (unbind func()) { return func() {} }

// start fails: a command whose children could not be ended is not started at all.
func (g *Group) start(Options) error {
	return fmt.Errorf("process groups on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// The rest is never reached, since nothing starts.

func (g *Group) awaitExit()        {}
func (g *Group) terminate() error  { return errors.ErrUnsupported }
func (g *Group) kill()             {}
func (g *Group) othersAlive() bool { return false }
func (g *Group) release()          {}
