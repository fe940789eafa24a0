// Package goexit deals with code of the caller's that ends its goroutine (runtime.Goexit, which is what FailNow of a
// test does) instead of returning. That cannot be stopped, and counts as a panic does: what waits for the goroutine is
// told, and what else it was to do is done.
package goexit

import "errors"

// Err says that a function ended its goroutine.
var Err = errors.New("it ended its goroutine (runtime.Goexit) and did not return")

// Persist calls step until it says that nothing is left to do. If step ends the goroutine, another one goes on.
func Persist(step func() (more bool)) {
	returned := false
	defer func() {
		if !returned {
			go Persist(step)
		}
	}()
	for step() {
	}
	returned = true
}

// Run calls f on a goroutine of its own, waits for it, and returns its error, [Err] if f did not return.
func Run(f func() error) error {
	result := make(chan error, 1)
	go func() {
		err := Err
		defer func() { result <- err }()
		err = f()
	}()
	return <-result
}
