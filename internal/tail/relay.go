package tail

import (
	"fmt"
	"io"
	"sync"
)

// relay writes to a writer from a goroutine of its own, so that whoever adds never waits. A nil writer, or one that
// failed, takes nothing.
type relay struct {
	w    io.Writer
	wake chan struct{} // holds one token while there is something to do
	done chan struct{}

	mu      sync.Mutex
	queue   []byte
	dropped int  // bytes that came while the queue was full, after it
	over    bool // nothing more is added, or taken
}

func startRelay(w io.Writer) *relay {
	r := &relay{w: w, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if w == nil {
		r.over = true
		close(r.done)
		return r
	}
	go r.run()
	return r
}

func (r *relay) add(p []byte) {
	r.mu.Lock()
	if !r.over {
		n := min(QueueSize-len(r.queue), len(p))
		r.queue = append(r.queue, p[:n]...)
		r.dropped += len(p) - n
	}
	r.mu.Unlock()
	r.signal()
}

// close lets the goroutine end once the queue is written.
func (r *relay) close() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.signal()
}

func (r *relay) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *relay) run() {
	defer close(r.done)
	defer r.close()
	var batch []byte
	for {
		var over bool
		batch, over = r.take(batch)
		if len(batch) > 0 {
			if _, err := r.w.Write(batch); err != nil {
				return
			}
			continue
		}
		if over {
			return
		}
		<-r.wake
	}
}

// take swaps the queue for an empty one that uses the memory of the batch that was written.
func (r *relay) take(written []byte) (batch []byte, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, r.queue = r.queue, written[:0]
	if r.dropped > 0 {
		batch = fmt.Appendf(batch, "\n[%d bytes of stderr dropped]\n", r.dropped)
		r.dropped = 0
	}
	return batch, r.over
}
