package pipe

import (
	"github.com/seed62b61957/mcp/internal/tail"
	"github.com/seed62b61957/mcp/transport"
)

// An ExitError says that the server has ended. It matches transport.ErrClosed.
type ExitError struct {
	// Err is what Wait returned, or else the error that reading Stdout ended with; nil if nothing went wrong.
	Err error
	// Stderr is the end of what the server wrote to its standard error, at most 64 KiB.
	Stderr string
}

// Error quotes the last lines of Stderr, at most 2 KiB.
func (e *ExitError) Error() string {
	text := "pipe: server ended"
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if lines := tail.Excerpt(e.Stderr); lines != "" {
		text += "; stderr: " + lines
	}
	return text
}

// Unwrap returns Err.
func (e *ExitError) Unwrap() error { return e.Err }

// Is reports that the connection is closed.
func (e *ExitError) Is(target error) bool { return target == transport.ErrClosed }
