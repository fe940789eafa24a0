package host

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

var (
	// ErrClosed is matched by the errors of a host that was closed.
	ErrClosed = errors.New("host closed")
	// ErrScopeClosed is matched by the errors of calls whose [Scope] was closed.
	ErrScopeClosed = errors.New("scope closed")
	// ErrDenied is matched by the [*RefusedError] of a tool that [ServerOptions] do not let be used.
	ErrDenied = errors.New("the tool may not be used")
	// ErrChanged is matched by the [*RefusedError] of a call that was approved for another configuration of its server,
	// or for a tool of which the server now says something else.
	ErrChanged = errors.New("the server or the tool has changed since the call was approved")
)

// A StateError says that a server cannot be used as it is.
type StateError struct {
	Server  string
	State   State
	Attempt int       // of connecting again, from 1; 0 if there is none
	Next    time.Time // when that is; zero if it is under way, or none is planned
	Err     error     // why the server is in the state; may be nil
}

func (e *StateError) Error() string {
	text := "server " + strconv.Quote(e.Server) + " is " + string(e.State)
	if e.Attempt > 0 {
		text += " (attempt " + strconv.Itoa(e.Attempt) + ")"
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *StateError) Unwrap() error { return e.Err }

// A NotFoundError says that there is no such server or tool, or none any more.
type NotFoundError struct {
	Server string // "" for a name that no catalog has
	Tool   string // by the server's own name, or the model's name if Server is ""; "" if there is no such server
	// Generation is that of the catalog that the tool is not in.
	Generation uint64
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Tool == "" && e.Server == "":
		return "there is neither a tool nor a server without a name"
	case e.Tool == "":
		return "there is no server " + strconv.Quote(e.Server)
	case e.Server == "":
		return "there is no tool " + strconv.Quote(e.Tool)
	}
	return "server " + strconv.Quote(e.Server) + " has no tool " + strconv.Quote(e.Tool)
}

// A RefusedError says that a call was not made because it may not be.
type RefusedError struct {
	Server string
	Tool   string
	Err    error // what [Options].Approve returned, [ErrDenied] or [ErrChanged]
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("tool %q of server %q is refused: %v", e.Tool, e.Server, e.Err)
}

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }

// A ListError says why what a server lists was not taken. What it listed before, if it did, stays as it was.
type ListError struct {
	Reason string
}

func (e *ListError) Error() string { return e.Reason }

// ended says why ctx is over: its error, which also matches its cause.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
