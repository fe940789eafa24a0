// Package procconn makes a connection of a process whose standard input and output carry messages, and explains the end
// of the connection by that of the process.
package procconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/seed62b61957/mcp/internal/nonblock"
	"github.com/seed62b61957/mcp/transport"
)

// exitWait is how long a server may take to exit after its stream has ended, for the error to say how.
const exitWait = 500 * time.Millisecond

// A Process is a running server. Read and Write are its output and its input.
type Process interface {
	// Close begins to end the process, does not wait for that, and unblocks Read and Write. It is called once.
	io.ReadWriteCloser

	// Exit tells how a process ended whose stream has ended. It waits for that, until ctx is done and for limit at
	// most, and returns nil if the process runs on, as far as is known by then.
	Exit(ctx context.Context, limit time.Duration) error

	// Wait waits after Close until the process is gone and everything is freed, in bounded time. It may be called more
	// than once, from any goroutine, and returns the same each time.
	Wait() error
}

// New returns a connection to p. Name is what its errors begin with.
func New(p Process, name string, maxMessageBytes int) transport.Conn {
	o := transport.StreamOptions{MaxMessageBytes: maxMessageBytes, Name: name}
	return &conn{stream: transport.NewStream(stream{p}, &o), process: p, name: name}
}

type conn struct {
	stream  transport.Conn
	process Process
	name    string
	waited  atomic.Bool // whether it is known that a failed write need not be the end of the process
}

func (c *conn) Traits() transport.Traits { return c.stream.Traits() }

func (c *conn) Send(ctx context.Context, out transport.Outgoing) error {
	err := c.stream.Send(ctx, out)
	if err == nil {
		return nil
	}
	if _, broken := errors.AsType[*writeError](err); !broken {
		return err
	}
	limit := exitWait
	if c.waited.Swap(true) {
		limit = 0
	}
	exit := c.process.Exit(ctx, limit)
	switch {
	case exit == nil:
		return err
	case transport.SafeToRetry(err):
		return transport.Unsent(exit)
	default:
		return exit
	}
}

func (c *conn) Receive(ctx context.Context) (*transport.Message, error) {
	m, err := c.stream.Receive(ctx)
	if err == nil || ctx.Err() != nil || errors.Is(err, transport.ErrClosed) {
		return m, err
	}
	switch exit := c.process.Exit(ctx, exitWait); {
	case exit != nil:
		return nil, exit
	case ctx.Err() != nil:
		return nil, ctx.Err() // the next Receive asks again
	}
	return nil, err
}

func (c *conn) Close() error {
	err := c.stream.Close()
	if waitErr := c.process.Wait(); waitErr != nil {
		return fmt.Errorf("%s: close: %w", c.name, waitErr)
	}
	return err
}

// stream marks the errors of writing, which tell that the process may have ended, among those of Send.
type stream struct{ Process }

func (s stream) Write(p []byte) (int, error) {
	n, err := s.Process.Write(p)
	if err != nil {
		err = &writeError{fmt.Errorf("the server does not take its input: %w", err)}
	}
	return n, err
}

// Nonblocking returns the ways of the process, which are not marked: they report no errors of writing.
func (s stream) Nonblocking() (nonblock.LateReader, *nonblock.Writer) {
	if p, ok := s.Process.(nonblock.Stream); ok {
		return p.Nonblocking()
	}
	return nil, nil
}

type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }
