package mcp

import "errors"

// Code of the caller's may end its goroutine (runtime.Goexit, which is what FailNow of a test does) instead of
// returning. That counts as a panic does: what waits for the goroutine is told, and what else it was to do is done.

var errExited = errors.New("it ended its goroutine (runtime.Goexit) and did not return")

// persist calls step until it says that nothing is left to do. If step ends the goroutine, another one goes on.
func persist(step func() (more bool)) {
	returned := false
	defer func() {
		if !returned {
			go persist(step)
		}
	}()
	for step() {
	}
	returned = true
}
