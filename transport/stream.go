package transport

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/internal/nonblock"
)

const (
	// DefaultMaxMessageBytes is the limit of a received message where none is set: 16 MiB.
	DefaultMaxMessageBytes = 16 << 20

	// closeTimeout bounds the wait for the Close of what is below a stream.
	closeTimeout = 5 * time.Second
)

// StreamOptions change what [NewStream] does.
type StreamOptions struct {
	// MaxMessageBytes limits a received line, without its newline; 0 means [DefaultMaxMessageBytes]. What is sent is
	// the caller's own, and has no limit.
	MaxMessageBytes int
	// Name is the name of the binding in [Traits], and what its errors begin with; "" means "stream".
	Name string
}

// NewStream returns a connection that sends each message as a line of its own over rwc, and receives them likewise
// (MCP, "Transports", stdio). It owns rwc from now on. Options may be nil.
//
// Closing rwc must unblock its Read and Write; apart from that, one Read and one Write are made at a time.
//
// Send returns once its line is written, in the order of the calls. When its context is done, its error is
// [context.Cause]: a line whose Write has not begun is taken back, and the error is [SafeToRetry]; else the Write goes
// on without the caller, since half a line would spoil the stream. After a failed Write nothing more is sent, but the
// messages that still arrive are received.
//
// Receive reads on the goroutine of its caller. It looks at its context where rwc is one of the types below. The error
// at the end of the stream wraps [io.EOF].
//
// An idle connection has no goroutine of its own, and holds less than 1 kB where rwc is an *os.File, a *net.TCPConn or
// a *net.UnixConn on Linux, and less than 4 kB elsewhere. Those types, and none that embeds one, are read and written
// past their Read and Write.
//
// Close gives up what is not yet written, and returns when rwc is closed, or after 5 s if its Close takes longer.
func NewStream(rwc io.ReadWriteCloser, o *StreamOptions) Conn {
	if o == nil {
		o = new(StreamOptions)
	}
	s := &stream{rwc: rwc, name: o.Name}
	if s.name == "" {
		s.name = "stream"
	}
	late, direct := nonblock.New(rwc)
	s.in.Src, s.in.Late, s.in.limit = rwc, late, o.MaxMessageBytes
	if s.in.limit <= 0 {
		s.in.limit = DefaultMaxMessageBytes
	}
	s.out = newWriter(rwc, direct, s.wrap)
	return s
}

type stream struct {
	rwc  io.ReadWriteCloser
	name string
	out  *writer

	in    lineReader
	batch batch // what is still to be handed out of the last line

	watched <-chan struct{} // the Done of the context whose end interrupts reading
	unwatch func() bool

	closing  sync.Once
	closeErr error
}

func (s *stream) Traits() Traits {
	return Traits{Name: s.name, SilentProbe: true, Interruptible: s.in.Late != nil}
}

func (s *stream) wrap(err error) error { return fmt.Errorf("%s: %w", s.name, err) }

func (s *stream) Send(ctx context.Context, out Outgoing) error {
	if ctx.Err() != nil {
		return Unsent(context.Cause(ctx))
	}
	line := buffers.Get().(*buffer)
	text, err := out.Message.Append(line.b[:0])
	line.b = append(text, '\n')
	if err != nil {
		line.free()
		return Unsent(s.wrap(err))
	}
	return s.out.send(ctx, line)
}

func (s *stream) Receive(ctx context.Context) (*Message, error) {
	s.watch(ctx)
	for {
		if s.isClosed() {
			return nil, s.wrap(ErrClosed)
		}
		if s.in.Late != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if m := s.batch.next(); m != nil {
			return m, nil
		}
		line, over, err := s.in.next()
		switch {
		case err != nil && s.isClosed():
			return nil, s.wrap(ErrClosed)
		case err == nonblock.ErrInterrupted: // by the end of ctx, or of that of an earlier Receive
		case err == io.EOF:
			return nil, s.wrap(fmt.Errorf("the peer ended the stream: %w", err))
		case err != nil:
			return nil, s.wrap(err)
		case over != nil:
			return over.message(s.in.limit), nil
		case len(line) > 0:
			m, rest := decodeText(line)
			if m.Fault != nil && s.in.Err != nil {
				m.ID, m.Method = ID{}, "" // it was cut off: what ended the stream says more to who waits for it
			}
			s.batch = rest
			return m, nil
		}
	}
}

// watch has the end of ctx interrupt reading, where that is possible. Few contexts receive in turn, so it is kept up
// from one call to the next.
func (s *stream) watch(ctx context.Context) {
	done := ctx.Done()
	if done == s.watched || s.in.Late == nil {
		return
	}
	if s.unwatch != nil {
		s.unwatch()
	}
	s.watched, s.unwatch = done, nil
	if done != nil {
		s.unwatch = context.AfterFunc(ctx, s.in.Late.Interrupt)
	}
}

func (s *stream) isClosed() bool {
	select {
	case <-s.out.closed:
		return true
	default:
		return false
	}
}

func (s *stream) Close() error {
	s.closing.Do(func() {
		s.out.close()
		s.closeErr = s.closeBelow()
	})
	return s.closeErr
}

// closeBelow closes rwc from a goroutine of its own, as there are types whose Close waits for a Write that is stuck.
func (s *stream) closeBelow() error {
	result := make(chan error, 1)
	go func() { result <- s.rwc.Close() }()
	timeout := time.NewTimer(closeTimeout)
	defer timeout.Stop()
	select {
	case err := <-result:
		if err != nil {
			return s.wrap(err)
		}
		return nil
	case <-timeout.C:
		return fmt.Errorf("%s: close takes longer than %v", s.name, closeTimeout)
	}
}
