package transport

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/seed62b61957/mcp/internal/chunked"
	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/nonblock"
)

// A writer writes lines in the order in which they are queued, one Write at a time. What the peer takes at once, the
// sender writes itself. Else a goroutine does, which runs only while there is something to write, and no lock is held
// during a Write: a peer that takes no bytes holds up nobody but the senders, and those only until their context is
// done.
type writer struct {
	dst    io.Writer
	direct *nonblock.Writer  // to dst; nil if there is no such way
	wrap   func(error) error // says which stream an error comes from
	closed chan struct{}
	loop   func() // run, kept as a value so that starting it allocates nothing

	mu      sync.Mutex
	queue   []pending
	running bool  // somebody writes
	err     error // why nothing is written any more
}

// pending is a line whose sender waits. The buffer belongs to the writer once it is queued.
type pending struct {
	line    *buffer
	written int        // how much of the line the sender has written
	done    chan error // buffered: the sender may have left
}

func newWriter(dst io.Writer, direct *nonblock.Writer, wrap func(error) error) *writer {
	w := &writer{dst: dst, direct: direct, wrap: wrap, closed: make(chan struct{})}
	w.loop = w.run
	return w
}

// rest is what is still to be written.
func (p pending) rest() []byte { return p.line.b[p.written:] }

// failed is what the sender is told when the rest is not written any more, because of err.
func (p pending) failed(err error) error {
	if p.written > 0 {
		return err
	}
	return Unsent(err)
}

// send writes the line at once, or queues it and waits until it is written.
func (w *writer) send(ctx context.Context, line *buffer) error {
	p, err := w.begin(line)
	if p.done == nil {
		line.free()
		return err
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

// begin writes what the peer takes at once, if nobody else writes. If anything is left, it queues the line.
func (w *writer) begin(line *buffer) (p pending, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.line = line
	place := len(w.queue)
	if w.err == nil && w.direct != nil && !w.running {
		w.running = true
		w.mu.Unlock()
		p.written = w.direct.Write(line.b)
		w.mu.Lock()
		w.running = false
		place = 0 // before those that came meanwhile
	}
	switch {
	case p.written == len(line.b):
	case w.err != nil:
		return p, p.failed(w.err)
	default:
		p.done = make(chan error, 1)
		w.queue = slices.Insert(w.queue, place, p)
	}
	if len(w.queue) > 0 && !w.running {
		w.running = true
		go w.loop()
	}
	return p, nil
}

// leave ends the wait of a sender. A line that was begun is finished without it: half a line would spoil the
// stream for the messages behind it.
func (w *writer) leave(p pending, cause error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case err := <-p.done:
		return err
	default:
	}
	if i := slices.Index(w.queue, p); i >= 0 && p.written == 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
		p.line.free()
		return Unsent(cause)
	}
	return cause
}

// run writes until the queue is empty.
func (w *writer) run() {
	for batch := w.take(); len(batch) > 0; batch = w.take() {
		w.writeBatch(batch)
	}
}

// writeBatch writes lines. If that ends the goroutine, nobody knows how much was written, and nothing more is.
func (w *writer) writeBatch(batch []pending) {
	n, err := -1, goexit.Err
	defer func() { w.report(batch, n, err) }()
	n, err = write(w.dst, batch)
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
	n, size := 1, len(w.queue[0].rest())
	for n < len(w.queue) && size+len(w.queue[n].line.b) <= chunked.ChunkBytes {
		size += len(w.queue[n].line.b)
		n++
	}
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	return batch
}

func write(dst io.Writer, batch []pending) (n int, err error) {
	line := batch[0].rest()
	if len(batch) > 1 {
		joined := chunked.Get()
		defer chunked.Put(joined)
		line = joined[:0]
		for _, p := range batch {
			line = append(line, p.rest()...)
		}
	}
	if n, err = dst.Write(line); err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	return n, err
}

// report tells each sender what became of its line, given that n bytes of the batch were written, or an unknown number
// if n is below 0.
func (w *writer) report(batch []pending, n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.fail(w.wrap(err))
	}
	unknown := n < 0
	for _, p := range batch {
		size := len(p.rest())
		if unknown {
			p.written += size // it may be, so that nobody takes it for unsent
		} else {
			p.written += min(max(n, 0), size)
		}
		p.line.free()
		if n -= size; n >= 0 {
			p.done <- nil
		} else {
			p.done <- p.failed(w.err)
		}
	}
}

// fail ends writing: the first error is the one that stays, so that nobody takes its consequences for it.
func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	for _, p := range w.queue {
		p.line.free()
		p.done <- p.failed(w.err)
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
