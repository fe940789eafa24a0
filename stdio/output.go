package stdio

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed62b61957/mcp/internal/nonblock"
	"github.com/seed62b61957/mcp/internal/procconn"
)

const (
	// silences times silence is how long the output of a server that has exited may be silent before it is over. All
	// that the server wrote is in the pipe by then; more than one attempt is for a host that is busy.
	silences = 4
	silence  = 25 * time.Millisecond
	// remainder is how much may still come, more than a pipe holds: the rest is from a descendant that escaped.
	remainder = 1 << 20
)

// output reads a server's standard output on the goroutine of the caller, until the end of the file, or of the server
// while a descendant holds on to the file.
type output struct {
	file   *os.File
	late   *nonblock.Reader // of file; nil if there is none
	exited <-chan struct{}  // of the server

	mu       sync.Mutex  // held while reading
	released atomic.Bool // nothing is returned any more

	// Used once the server has exited.
	silences  int
	remainder int
}

func (o *output) Read(p []byte) (int, error) {
	return o.read(func() (int, error) { return o.file.Read(p) })
}

// Interrupt ends a ReadLate that waits. What else ends it is looked at again afterwards.
func (o *output) Interrupt() { o.late.Interrupt() }

// ReadLate is Read with a buffer that is taken when there is something to read.
func (o *output) ReadLate(room nonblock.Room) (int, error) {
	return o.read(func() (int, error) { return o.late.ReadLate(room) })
}

func (o *output) read(once func() (int, error)) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.released.Load() {
		return 0, os.ErrClosed
	}
	if !procconn.IsDone(o.exited) {
		n, err := once()
		if !errors.Is(err, os.ErrDeadlineExceeded) || o.released.Load() {
			return n, err
		}
	}
	return o.readRemainder(once)
}

// readRemainder reads what the server left in the pipe.
func (o *output) readRemainder(once func() (int, error)) (int, error) {
	for o.silences < silences && o.remainder < remainder && !o.released.Load() {
		// Windows has no deadline here, and needs none: with the server its job ended, and so the pipe did.
		_ = o.file.SetReadDeadline(time.Now().Add(silence))
		n, err := once()
		o.remainder += n
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		o.silences++
	}
	return 0, io.EOF
}

// interrupt ends a Read that waits, so that it sees what has changed.
func (o *output) interrupt() { _ = o.file.SetReadDeadline(time.Unix(1, 0)) }

// release ends reading: a Read that waits returns, and so does every other from now on.
func (o *output) release() {
	o.released.Store(true)
	o.interrupt()
}

// discard reads on after release until the file ends or is closed, so that a server that writes its last words does not
// wait for ever.
func (o *output) discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for err := os.ErrDeadlineExceeded; errors.Is(err, os.ErrDeadlineExceeded); {
		_ = o.file.SetReadDeadline(time.Time{})
		_, err = io.Copy(io.Discard, o.file)
	}
}
