// Package nonblock reads and writes files and sockets with an eye on whether that would have to wait.
//
// Where a peer reads, which is nearly always, a short message fits into the buffer of the operating system, and whoever
// sends it need not hand it to another goroutine only because a write could block. And who waits for a message, mostly
// in vain, needs no buffer before there is one.
//
// That works on Linux, for files and sockets in non-blocking mode, which are those that the runtime polls. Elsewhere
// New returns nil, and the ordinary ways are to be used.
package nonblock

import (
	"errors"
	"io"
	"os"
	"reflect"
	"sync"
	"syscall"
	"time"
)

// ErrInterrupted is the error of a read that Interrupt ended. Nothing is lost, and the next read goes on.
var ErrInterrupted = errors.New("interrupted")

// A Stream is something that is read and written through other types.
type Stream interface {
	// Nonblocking returns the ways to read and to write it; nil for one that there is none of.
	Nonblocking() (LateReader, *Writer)
}

// New returns the ways to read and to write a stream; nil for one that there is none of.
func New(stream any) (LateReader, *Writer) {
	if s, ok := stream.(Stream); ok {
		return s.Nonblocking()
	}
	reader := NewReader(stream)
	if reader == nil {
		return nil, NewWriter(stream)
	}
	return reader, NewWriter(stream)
}

// polled gives access to a file or a socket, nil if it is none in non-blocking mode.
func polled(file any) syscall.RawConn {
	conn, ok := file.(syscall.Conn)
	if !ok || !isItself(file) {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	nonblocking := false
	if err := raw.Control(func(fd uintptr) { nonblocking = isNonblocking(fd) }); err != nil || !nonblocking {
		return nil
	}
	return raw
}

// isItself reports whether a file or a socket is of a type that reads and writes nothing but it. A type that embeds one
// has its methods as well, and may encrypt, record or count what passes through its own Read and Write. The types are
// known by name, so that programs that use no sockets need not link package net.
func isItself(file any) bool {
	t := reflect.TypeOf(file)
	if t.Kind() != reflect.Pointer {
		return false
	}
	switch t.Elem().PkgPath() + "." + t.Elem().Name() {
	case "os.File", "net.TCPConn", "net.UnixConn":
		return true
	}
	return false
}

// A Writer writes what can be written at once. It is for one goroutine at a time.
type Writer struct {
	raw syscall.RawConn
	buf []byte
	n   int
	try func(fd uintptr) (done bool) // attempt, kept as a value so that a write allocates nothing
}

// NewWriter returns a Writer to a file or a socket, nil if there is no such way.
func NewWriter(dst any) *Writer {
	raw := polled(dst)
	if raw == nil {
		return nil
	}
	w := &Writer{raw: raw}
	w.try = w.attempt
	return w
}

// Write writes as much of p as is taken at once, and returns how much that was. It reports no error: an ordinary write
// of the rest will meet it again. A nil Writer writes nothing.
func (w *Writer) Write(p []byte) (n int) {
	if w == nil {
		return 0
	}
	w.buf, w.n = p, 0
	_ = w.raw.Write(w.try)
	w.buf = nil
	return w.n
}

func (w *Writer) attempt(fd uintptr) (done bool) {
	n, _ := write(fd, w.buf)
	w.n = max(n, 0)
	return true // whatever came of it: nobody is to wait here
}

// A LateReader reads as an io.Reader does, but takes the buffer when there is something to read.
type LateReader interface {
	ReadLate(Room) (n int, err error)
	// Interrupt ends a read that waits, or else the next one that would have to wait, with ErrInterrupted. It may be
	// called from any goroutine. Reads may also be interrupted when nobody wanted that any more.
	Interrupt()
}

// A Room is where to read.
type Room interface {
	// Take returns the buffer.
	Take() []byte
	// Return takes it back: there was nothing to read after all.
	Return()
}

// A Reader is a LateReader of a file or a socket. It is for one goroutine at a time.
type Reader struct {
	raw  syscall.RawConn
	file interface{ SetReadDeadline(time.Time) error }
	room Room
	n    int
	err  error
	try  func(fd uintptr) (done bool)

	mu          sync.Mutex // guards interrupted, and the deadline that goes with it
	interrupted bool
}

// NewReader returns a Reader of a file or a socket, nil if there is no such way.
func NewReader(src any) *Reader {
	raw := polled(src)
	if raw == nil {
		return nil
	}
	r := &Reader{raw: raw, file: src.(interface{ SetReadDeadline(time.Time) error })}
	r.try = r.attempt
	return r
}

// ReadLate waits until there is something to read, or the file is closed or past its deadline.
func (r *Reader) ReadLate(room Room) (n int, err error) {
	r.room, r.n, r.err = room, 0, nil
	err = r.raw.Read(r.try)
	r.room = nil
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && r.resume():
		return 0, ErrInterrupted
	case err != nil:
		return 0, err
	case r.err != nil:
		return 0, os.NewSyscallError("read", r.err)
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// Interrupt sets a deadline that is over. Whoever sets deadlines for other reasons looks at those after ErrInterrupted,
// which takes any back.
func (r *Reader) Interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interrupted = true
	_ = r.file.SetReadDeadline(time.Unix(1, 0))
}

// resume makes the file ready for another read, if it was interrupted.
func (r *Reader) resume() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.interrupted {
		r.interrupted = false
		_ = r.file.SetReadDeadline(time.Time{})
		return true
	}
	return false
}

func (r *Reader) attempt(fd uintptr) (done bool) {
	r.n, r.err = read(fd, r.room.Take())
	if r.n > 0 {
		return true
	}
	r.room.Return()
	return r.err != syscall.EAGAIN
}
