// Package tail drains a program's stderr: it always reads on, keeps the end of what it read for error messages, and
// hands everything to a writer that may be slow or fail without ever stalling the program.
package tail

import (
	"io"
	"strings"
	"sync"
)

// Limits of a [Tail].
const (
	Size        = 64 << 10  // what is kept of the end
	ExcerptSize = 2 << 10   // what of that goes into the text of an error
	QueueSize   = 256 << 10 // what may wait for the writer; more is dropped, and the writer is told how much
)

// A Tail reads a stream to its end. Its methods may be called from any goroutine.
type Tail struct {
	mu    sync.Mutex
	ring  []byte // grows to Size, then next is where the oldest byte is
	next  int
	relay *relay
	ended chan struct{}
}

// Start reads r on a goroutine of its own until it fails, and hands what it reads to w, which may be nil.
func Start(r io.Reader, w io.Writer) *Tail {
	t := &Tail{ended: make(chan struct{}), relay: startRelay(w)}
	go t.drain(r)
	return t
}

// Ended is closed when the stream has ended.
func (t *Tail) Ended() <-chan struct{} { return t.ended }

// Flushed is closed when the stream has ended and the writer has everything, or failed, or there is none.
func (t *Tail) Flushed() <-chan struct{} { return t.relay.done }

func (t *Tail) drain(r io.Reader) {
	defer close(t.ended)
	defer t.relay.close()
	buf := make([]byte, 8<<10)
	for {
		n, err := r.Read(buf)
		t.keep(buf[:n])
		t.relay.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (t *Tail) keep(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if grow := min(Size-len(t.ring), len(p)); grow > 0 {
		t.ring = append(t.ring, p[:grow]...)
		p = p[grow:]
	}
	for len(p) > 0 {
		n := copy(t.ring[t.next:], p)
		t.next = (t.next + n) % Size
		p = p[n:]
	}
}

// Text returns what is kept: the last [Size] bytes, as UTF-8.
func (t *Tail) Text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.ring[t.next:]) + string(t.ring[:t.next])
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Excerpt returns the last lines of a text that fit into [ExcerptSize], without the blank around them. Of a single line
// that is longer it returns the end.
func Excerpt(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= ExcerptSize {
		return text
	}
	cut := text[len(text)-ExcerptSize:]
	if text[len(text)-ExcerptSize-1] == '\n' {
		return cut
	}
	if _, lines, ok := strings.Cut(cut, "\n"); ok {
		return lines
	}
	return strings.ToValidUTF8(cut, "") // the cut may have split a character
}
