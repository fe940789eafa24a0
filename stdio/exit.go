package stdio

import (
	"errors"
	"fmt"
	"os/exec"

	"github.com/seed62b61957/mcp/internal/tail"
	"github.com/seed62b61957/mcp/transport"
)

// An ExitError says that the server has ended, and how. It matches transport.ErrClosed, and wraps an [*exec.ExitError]
// unless the exit status was 0.
type ExitError struct {
	// Code is the exit status, -1 if a signal ended the server.
	Code int
	// Stderr is the end of what the server wrote to its standard error, at most 64 KiB.
	Stderr string

	err error
}

// Error quotes the last lines of Stderr, at most 2 KiB.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("stdio: server exited with status %d", e.Code)
	if e.Code < 0 {
		text = fmt.Sprintf("stdio: server ended: %v", e.err)
	}
	if lines := tail.Excerpt(e.Stderr); lines != "" {
		text += "; stderr: " + lines
	}
	return text
}

// Unwrap returns what the system said.
func (e *ExitError) Unwrap() error { return e.err }

// Is reports that the connection is closed.
func (e *ExitError) Is(target error) bool { return target == transport.ErrClosed }

// newExitError makes an ExitError of the error of [exec.Cmd.Wait].
func newExitError(err error, stderr string) *ExitError {
	e := &ExitError{Stderr: stderr, err: err}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		e.Code = exit.ExitCode()
	case err != nil:
		e.Code = -1 // something else reaped it
	}
	return e
}
