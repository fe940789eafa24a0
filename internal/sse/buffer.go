package sse

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	// idleBytes is the buffer that a stream waits in while nothing arrives.
	idleBytes = 2 << 10
	// chunkBytes is the unit that longer lines are collected in.
	chunkBytes = 64 << 10
	// maxEmptyReads ends a stream whose Read keeps returning nothing.
	maxEmptyReads = 100
)

type chunk [chunkBytes]byte

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// A buffer holds what was read and not yet taken: the rest of one chunk, and the full chunks that the line began in.
type buffer struct {
	src io.Reader
	err error // of src, which counts once everything before it is taken

	idle       [idleBytes]byte
	large      *chunk // taken from the pool only while data flows
	buf        []byte // idle or large
	start, end int    // of what is unread in buf

	parts   [][]byte // the full chunks
	lf      int      // no line feed is between start and here; one is here, or else it was the end
	afterCR bool     // a line feed that comes next belongs to the line end before it
}

// head returns the beginning of the line that goes on to the index at, a chunk of it at most.
func (b *buffer) head(at int) []byte {
	if len(b.parts) > 0 {
		return b.parts[0]
	}
	return b.buf[b.start:at]
}

// pass takes the line that ends at the index at. The line end may be a lone carriage return: that is known only when
// there is a next byte, and nobody waits for it.
func (b *buffer) pass(at int) {
	b.start = at + 1
	switch {
	case b.buf[at] == '\n':
	case b.start == b.end:
		b.afterCR = true
	case b.buf[b.start] == '\n':
		b.start++
	}
}

// dropMark drops the byte order mark at the beginning of the stream. It reads on only while there may be one.
func (b *buffer) dropMark() {
	const mark = "\ufeff"
	for b.err == nil && b.end < len(mark) && strings.HasPrefix(mark, string(b.buf[:b.end])) {
		b.more()
	}
	if bytes.HasPrefix(b.buf[:b.end], []byte(mark)) {
		b.start = len(mark)
	}
}

// lineEnd returns the index of the first line end, which is not before from. Line feeds are searched ahead of carriage
// returns and remembered, so that a stream with only one of the two is not searched again for the other at each line.
func (b *buffer) lineEnd(from int) (at int, found bool) {
	b.lf = max(b.lf, b.start)
	if b.lf < b.end && b.buf[b.lf] != '\n' {
		i := bytes.IndexByte(b.buf[b.lf:b.end], '\n')
		if i < 0 {
			i = b.end - b.lf
		}
		b.lf += i
	}
	if i := bytes.IndexByte(b.buf[from:b.lf], '\r'); i >= 0 {
		return from + i, true
	}
	return b.lf, b.lf < b.end
}

// more reads on and returns the index where new bytes begin.
func (b *buffer) more() (from int) {
	b.makeRoom()
	from = b.end
	b.lf = from
	b.fill()
	if b.afterCR && b.end > from {
		b.afterCR = false
		if b.buf[from] == '\n' {
			from++
			b.start = from
		}
	}
	return from
}

func (b *buffer) fill() {
	for range maxEmptyReads {
		n, err := b.src.Read(b.buf[b.end:])
		b.end += n
		if n > 0 || err != nil {
			b.err = err
			return
		}
	}
	b.err = io.ErrNoProgress
}

// makeRoom makes room to read into. It moves what is unread at most once for each chunk.
func (b *buffer) makeRoom() {
	switch {
	case b.start == b.end && len(b.parts) == 0:
		b.release() // the read may wait for long
	case b.end < len(b.buf):
	case b.large == nil:
		b.large = chunks.Get().(*chunk)
		b.end = copy(b.large[:], b.buf[b.start:b.end])
		b.buf, b.start = b.large[:], 0
	case b.start > 0:
		b.end = copy(b.buf, b.buf[b.start:b.end])
		b.start = 0
	default:
		b.parts = append(b.parts, b.buf)
		b.large = chunks.Get().(*chunk)
		b.buf, b.end = b.large[:], 0
	}
}

// release goes back to the small buffer.
func (b *buffer) release() {
	if b.large != nil {
		chunks.Put(b.large)
	}
	b.large, b.buf, b.start, b.end, b.lf = nil, b.idle[:], 0, 0, 0
}

func (b *buffer) dropParts() {
	for _, part := range b.parts {
		chunks.Put((*chunk)(part))
	}
	b.parts = nil
}
