// Package nonblock writes to files and sockets without waiting. Where a peer reads, which is nearly always, a short
// message fits into the buffer of the operating system, and whoever sends it need not hand it to another goroutine only
// because a write could block.
package nonblock

import "syscall"

// A Writer writes what can be written at once. It is for one goroutine at a time.
type Writer struct {
	raw syscall.RawConn
	buf []byte
	n   int
	try func(fd uintptr) (done bool) // attempt, kept as a value so that a write allocates nothing
}

// New returns a Writer to dst, nil if dst is not something that can be written to without waiting: a file or a socket
// in non-blocking mode, on Linux.
func New(dst any) *Writer {
	conn, ok := dst.(syscall.Conn)
	if !ok {
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
	w.n = max(write(fd, w.buf), 0)
	return true // whatever came of it: nobody is to wait here
}
