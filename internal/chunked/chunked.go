// Package chunked reads a stream for a parser that cuts it at bytes it searches for. A connection that waits holds 2
// KiB, or nothing where it can be waited for without a buffer; while data flows it takes chunks of 64 KiB from a pool,
// and what is longer than a chunk is collected in several, so that each byte is moved a bounded number of times however
// the stream is split into reads.
package chunked

import (
	"io"
	"sync"

	"github.com/seed62b61957/mcp/internal/nonblock"
)

const (
	// IdleBytes is the buffer that a stream waits in while nothing arrives; hosts have hundreds of idle ones.
	IdleBytes = 2 << 10
	// ChunkBytes is the unit that more is collected in.
	ChunkBytes = 64 << 10
	// maxEmptyReads ends a stream whose Read keeps returning nothing.
	maxEmptyReads = 100
)

// A Chunk is a buffer of the pool.
type Chunk [ChunkBytes]byte

var pool = sync.Pool{New: func() any { return new(Chunk) }}

// Get takes a chunk from the pool, and Put returns it.
func Get() *Chunk { return pool.Get().(*Chunk) }

// Put returns a chunk that nobody uses any more.
func Put(c *Chunk) { pool.Put(c) }

// A Buffer holds what was read and not yet taken: the rest of one chunk, and the full chunks before it that the same
// item began in. Release makes it ready.
type Buffer struct {
	Src  io.Reader
	Late nonblock.LateReader // of the same as Src; nil if there is none
	Err  error               // of reading, which counts once everything before it is taken

	Buf        []byte
	Start, End int      // of what is unread in Buf
	Parts      [][]byte // the full chunks

	idle  []byte // Buf while nothing arrives, unless there is Late
	large *Chunk // Buf, if it is from the pool
}

// MakeRoom makes room to read into. It moves what is unread at most once for each chunk, or appends it to Parts.
func (b *Buffer) MakeRoom() {
	switch {
	case b.Start == b.End && len(b.Parts) == 0:
		b.Release() // the read may wait for long
	case b.End < len(b.Buf):
	case b.large == nil:
		b.large = Get()
		b.End = copy(b.large[:], b.Buf[b.Start:b.End])
		b.Buf, b.Start = b.large[:], 0
	case b.Start > 0:
		b.End = copy(b.Buf, b.Buf[b.Start:b.End])
		b.Start = 0
	default:
		b.Parts = append(b.Parts, b.Buf)
		b.large = Get()
		b.Buf, b.End = b.large[:], 0
	}
}

// Fill reads once, into the room that there is.
func (b *Buffer) Fill() {
	for range maxEmptyReads {
		n, err := b.read()
		b.End += n
		if n > 0 || err != nil {
			b.Err = err
			return
		}
	}
	b.Err = io.ErrNoProgress
}

func (b *Buffer) read() (n int, err error) {
	if b.Late != nil {
		return b.Late.ReadLate(b)
	}
	return b.Src.Read(b.Buf[b.End:])
}

// Take returns the room that Late reads into, and makes a chunk the buffer if there is none.
func (b *Buffer) Take() []byte {
	if b.large == nil {
		b.large = Get()
		b.Buf = b.large[:]
	}
	return b.Buf[b.End:]
}

// Return takes back a chunk in which there is nothing.
func (b *Buffer) Return() {
	if b.Start == b.End && len(b.Parts) == 0 {
		b.Release()
	}
}

// Release gives up what is unread in Buf, and goes back to the small buffer or none.
func (b *Buffer) Release() {
	if b.large != nil {
		Put(b.large)
	}
	if b.idle == nil && b.Late == nil {
		b.idle = make([]byte, IdleBytes)
	}
	b.large, b.Buf, b.Start, b.End = nil, b.idle, 0, 0
}

// DropParts returns the full chunks to the pool.
func (b *Buffer) DropParts() {
	for _, part := range b.Parts {
		Put((*Chunk)(part))
	}
	b.Parts = nil
}

// Idle reports whether no chunk of the pool is in use.
func (b *Buffer) Idle() bool { return b.large == nil && len(b.Parts) == 0 }
