package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed62b61957/mcp/internal/procconn"
	"github.com/seed62b61957/mcp/transport"
)

// DefaultCloseTimeout is how long Close waits for the end of a server, where a [Transport] does not say.
const DefaultCloseTimeout = 2 * time.Second

// A Transport opens a process each time that it is connected. It may be used by several goroutines, if none changes it
// and Open allows it.
type Transport struct {
	// Open starts the server. ctx bounds that, and must not end the process afterwards. With an error it returns no
	// process and leaves nothing behind; a process that comes with an error is killed and released.
	Open func(ctx context.Context) (*Process, error)

	// CloseTimeout is how long Close waits between closing the server's input and Kill; 0 means [DefaultCloseTimeout].
	// Below 0 there is no wait.
	CloseTimeout time.Duration

	// MaxMessageBytes limits a received message; 0 means transport.DefaultMaxMessageBytes (16 MiB).
	MaxMessageBytes int

	// Stderr gets what comes from the Stderr of the process. It is written from one goroutine. A writer that is slow
	// holds up nobody: more than 256 KiB that wait for it are dropped, which it is told in a line. One that fails gets
	// no more. Close waits up to half a second for it to take the rest.
	Stderr io.Writer
}

// A Process is a running program. Its fields are not changed after Open, and its functions must be safe to call while
// its files are in use.
type Process struct {
	// Stdin and Stdout carry the messages. Both are needed. Close closes Stdin alone.
	Stdin  io.WriteCloser
	Stdout io.Reader
	// Stderr is read to its end and kept for errors; nil if there is none.
	Stderr io.Reader

	// Wait returns when the program has ended: with nil, or with an error that says how. It is called once, at once,
	// while the files are still read. Nil means that the end of Stdout is that of the program.
	Wait func() error

	// Kill ends the program. It must make Wait return and Stdout and Stderr end; readers that do not are abandoned. It
	// is called at most once, when the program does not end by itself. It is needed.
	Kill func() error

	// Release frees what the program was reached through, such as a connection; nil if there is nothing. It is called
	// once, when the program is gone or given up.
	Release func() error
}

var _ transport.Transport = (*Transport)(nil)

// Connect calls Open.
func (t *Transport) Connect(ctx context.Context) (transport.Conn, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("pipe: %w", context.Cause(ctx))
	}
	if t.Open == nil {
		return nil, errors.New("pipe: there is no function Open")
	}
	p, err := t.Open(ctx)
	if err == nil {
		err = p.check()
	}
	if err != nil {
		p.discard()
		return nil, fmt.Errorf("pipe: open: %w", err)
	}
	timeout := t.CloseTimeout
	if timeout == 0 {
		timeout = DefaultCloseTimeout
	}
	return procconn.New(start(p, t.Stderr, max(timeout, 0)), "pipe", t.MaxMessageBytes), nil
}

func (p *Process) check() error {
	if p == nil || p.Stdin == nil || p.Stdout == nil || p.Kill == nil {
		return errors.New("a process needs Stdin, Stdout and Kill")
	}
	return nil
}

// discard ends a process that is of no use.
func (p *Process) discard() {
	if p == nil {
		return
	}
	for _, end := range []func() error{p.Kill, p.Release} {
		if end != nil {
			_ = end() // what led here says more
		}
	}
}
