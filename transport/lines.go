package transport

import (
	"bytes"
	"io"
	"sync"
)

const (
	// idleBytes is the buffer that a connection waits in while nothing arrives; hosts have hundreds of idle ones.
	idleBytes = 2 << 10
	// chunkBytes is the unit that longer lines are collected in.
	chunkBytes = 64 << 10
	// maxEmptyReads ends a stream whose Read keeps returning nothing.
	maxEmptyReads = 100
)

type chunk [chunkBytes]byte

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// A lineReader cuts a stream into lines. Each byte is searched once and copied a bounded number of times, however the
// stream is split into reads.
type lineReader struct {
	src   io.Reader
	limit int // of a line, in bytes
	err   error

	idle       [idleBytes]byte
	large      *chunk // taken from the pool only while data flows
	buf        []byte // idle or large
	start, end int    // of what was read into buf and not yet taken

	parts [][]byte // full chunks with the beginning of the line
}

// next returns the next line in memory of its own, without white space and byte order mark around it, or else what was
// kept of a line over the limit.
func (r *lineReader) next() (line []byte, over *excerpt, err error) {
	for searched := 0; ; {
		unread := r.buf[r.start:r.end]
		n := bytes.IndexByte(unread[searched:], '\n')
		found := n >= 0
		if n += searched; !found {
			n = len(unread)
		}
		switch held := len(r.parts)*chunkBytes + n; {
		case held > r.limit:
			return nil, r.skip(), nil
		case found:
			line = r.take(n)
			r.start++
			return line, nil, nil
		case r.err == nil:
			r.makeRoom()
			searched = r.end - r.start
			r.fill()
		case held > 0:
			return r.take(n), nil, nil // the last line may lack its newline
		default:
			r.release()
			return nil, nil, r.err
		}
	}
}

// take returns the line that ends n bytes on.
func (r *lineReader) take(n int) []byte {
	last := r.buf[r.start : r.start+n]
	r.start += n
	if len(r.parts) == 0 {
		return bytes.Clone(trim(last))
	}
	line := bytes.Join(append(r.parts, last), nil)
	r.dropParts()
	return trim(line)
}

func trim(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
}

// makeRoom makes room to read into. It moves what is unread at most once for each chunk.
func (r *lineReader) makeRoom() {
	switch {
	case r.start == r.end && len(r.parts) == 0:
		r.release() // the read may wait for long
	case r.end < len(r.buf):
	case r.large == nil:
		r.large = chunks.Get().(*chunk)
		r.end = copy(r.large[:], r.buf[r.start:r.end])
		r.buf, r.start = r.large[:], 0
	case r.start > 0:
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	default:
		r.parts = append(r.parts, r.buf)
		r.large = chunks.Get().(*chunk)
		r.buf, r.end = r.large[:], 0
	}
}

func (r *lineReader) fill() {
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if n > 0 || err != nil {
			r.err = err
			return
		}
	}
	r.err = io.ErrNoProgress
}

// release goes back to the small buffer.
func (r *lineReader) release() {
	if r.large != nil {
		chunks.Put(r.large)
	}
	r.large, r.buf, r.start, r.end = nil, r.idle[:], 0, 0
}

func (r *lineReader) dropParts() {
	for _, part := range r.parts {
		chunks.Put((*chunk)(part))
	}
	r.parts = nil
}

// skip passes the rest of a line over the limit, in constant memory.
func (r *lineReader) skip() *excerpt {
	kept := new(excerpt)
	for _, part := range r.parts {
		kept.add(part)
	}
	r.dropParts()
	for {
		unread := r.buf[r.start:r.end]
		if n := bytes.IndexByte(unread, '\n'); n >= 0 {
			kept.add(unread[:n])
			r.start += n + 1
			return kept
		}
		kept.add(unread)
		r.start, r.end = 0, 0
		if r.err != nil {
			return kept
		}
		r.fill()
	}
}
