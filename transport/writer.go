package transport

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp/internal/chunked"
)

// A writer writes lines in the order in which they are queued, one Write at a time. Its goroutine runs only while
// there is something to write, and no lock is held during a Write: a peer that takes no bytes holds up nobody but the
// senders, and those only until their context is done.
type writer struct {
	dst    io.Writer
	wrap   func(error) error // says which stream an error comes from
	closed chan struct{}
	loop   func() // run, kept as a value so that starting it allocates nothing

	mu      sync.Mutex
	queue   []pending
	running bool
	err     error // why nothing is written any more
}

// pending is a line whose sender waits. The buffer belongs to the writer once it is queued.
type pending struct {
	line *buffer
	done chan error // buffered: the sender may have left
}

func newWriter(dst io.Writer, wrap func(error) error) *writer {
	w := &writer{dst: dst, wrap: wrap, closed: make(chan struct{})}
	w.loop = w.run
	return w
}

// send queues the line and waits until it is written.
func (w *writer) send(ctx context.Context, line *buffer) error {
	p := pending{line, make(chan error, 1)}
	if err := w.enqueue(p); err != nil {
		line.free()
		return Unsent(err)
	}
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		return w.leave(p, context.Cause(ctx))
	case <-w.closed:
		return w.leave(p, w.wrap(ErrClosed))
	}
}

func (w *writer) enqueue(p pending) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.queue = append(w.queue, p)
	if !w.running {
		w.running = true
		go w.loop()
	}
	return nil
}

// leave ends the wait of a sender. A line whose Write has begun is finished without it: half a line would spoil the
// stream for the messages behind it.
func (w *writer) leave(p pending, cause error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case err := <-p.done:
		return err
	default:
	}
	if i := slices.Index(w.queue, p); i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
		p.line.free()
		return Unsent(cause)
	}
	return cause
}

// run writes until the queue is empty.
func (w *writer) run() {
	for batch := w.take(); len(batch) > 0; batch = w.take() {
		n, err := write(w.dst, batch)
		w.report(batch, n, err)
	}
}

// take returns the lines of the next Write: one of any length, or several that fit into a chunk. From here on they are
// under way.
func (w *writer) take() []pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.queue, w.running = nil, false
		return nil
	}
	n, size := 1, len(w.queue[0].line.b)
	for n < len(w.queue) && size+len(w.queue[n].line.b) <= chunked.ChunkBytes {
		size += len(w.queue[n].line.b)
		n++
	}
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	return batch
}

func write(dst io.Writer, batch []pending) (n int, err error) {
	line := batch[0].line.b
	if len(batch) > 1 {
		joined := chunked.Get()
		defer chunked.Put(joined)
		line = joined[:0]
		for _, p := range batch {
			line = append(line, p.line.b...)
		}
	}
	if n, err = dst.Write(line); err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	return n, err
}

// report tells each sender what became of its line, given that n bytes of the batch were written.
func (w *writer) report(batch []pending, n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.fail(w.wrap(err))
	}
	for _, p := range batch {
		size := len(p.line.b)
		p.line.free()
		switch {
		case n >= size:
			p.done <- nil
		case n > 0:
			p.done <- w.err
		default:
			p.done <- Unsent(w.err)
		}
		n -= size
	}
}

// fail ends writing: the first error is the one that stays, so that nobody takes its consequences for it.
func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	for _, p := range w.queue {
		p.line.free()
		p.done <- Unsent(w.err)
	}
	w.queue = nil
}

// close ends writing and wakes every sender.
func (w *writer) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = w.wrap(ErrClosed)
	w.fail(w.err)
	close(w.closed)
}

// maxPooled keeps the buffer of a rare large message out of the pool.
const maxPooled = 64 << 10

// buffer is a line on its way out.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func (b *buffer) free() {
	if cap(b.b) <= maxPooled {
		buffers.Put(b)
	}
}
