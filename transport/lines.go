package transport

import (
	"bytes"

	"github.com/seed62b61957/mcp/internal/chunked"
	"github.com/seed62b61957/mcp/internal/nonblock"
)

// A lineReader cuts a stream into lines. Each byte is searched once and copied a bounded number of times, however the
// stream is split into reads.
type lineReader struct {
	chunked.Buffer
	limit int // of a line, in bytes
	// over is what is kept of a line over the limit while the rest of it is skipped; nil if there is none.
	over *excerpt
}

// next returns the next line in memory of its own, without white space and byte order mark around it, or else what was
// kept of a line over the limit. After nonblock.ErrInterrupted it goes on where it was.
func (r *lineReader) next() (line []byte, over *excerpt, err error) {
	if r.over != nil {
		return r.skip()
	}
	for searched := 0; ; {
		unread := r.Buf[r.Start:r.End]
		n := bytes.IndexByte(unread[searched:], '\n')
		found := n >= 0
		if n += searched; !found {
			n = len(unread)
		}
		switch held := len(r.Parts)*chunked.ChunkBytes + n; {
		case held > r.limit:
			return r.begin()
		case found:
			line = r.take(n)
			r.Start++
			return line, nil, nil
		case r.Err == nil:
			r.MakeRoom()
			searched = r.End - r.Start
			r.Fill()
		case r.interrupted():
			return nil, nil, nonblock.ErrInterrupted
		case held > 0:
			return r.take(n), nil, nil // the last line may lack its newline
		default:
			r.Release()
			return nil, nil, r.Err
		}
	}
}

// take returns the line that ends n bytes on.
func (r *lineReader) take(n int) []byte {
	last := r.Buf[r.Start : r.Start+n]
	r.Start += n
	if len(r.Parts) == 0 {
		return bytes.Clone(trim(last))
	}
	line := bytes.Join(append(r.Parts, last), nil)
	r.DropParts()
	return trim(line)
}

func trim(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
}

// begin takes what is there of a line over the limit, and skips the rest.
func (r *lineReader) begin() (line []byte, over *excerpt, err error) {
	r.over = new(excerpt)
	for _, part := range r.Parts {
		r.over.add(part)
	}
	r.DropParts()
	return r.skip()
}

// skip passes the rest of a line over the limit, in constant memory.
func (r *lineReader) skip() (line []byte, over *excerpt, err error) {
	for {
		unread := r.Buf[r.Start:r.End]
		n := bytes.IndexByte(unread, '\n')
		if n >= 0 {
			unread = unread[:n]
			r.Start += n + 1
		} else {
			r.Start, r.End = 0, 0
		}
		r.over.add(unread)
		switch {
		case n < 0 && r.Err == nil:
			r.Fill()
		case n < 0 && r.interrupted():
			return nil, nil, nonblock.ErrInterrupted
		default:
			over, r.over = r.over, nil
			return nil, over, nil
		}
	}
}

// interrupted reports whether the last read was, which is no reason not to read again.
func (r *lineReader) interrupted() bool {
	if r.Err != nonblock.ErrInterrupted {
		return false
	}
	r.Err = nil
	return true
}
