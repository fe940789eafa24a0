package sse

import (
	"bytes"
	"strings"

	"github.com/seed62b61957/mcp/internal/chunked"
)

// A buffer finds the ends of lines in what was read.
type buffer struct {
	chunked.Buffer
	lf      int  // no line feed is between Start and here; one is here, or else it was the end
	afterCR bool // a line feed that comes next belongs to the line end before it
}

// head returns the beginning of the line that goes on to the index at, a chunk of it at most.
func (b *buffer) head(at int) []byte {
	if len(b.Parts) > 0 {
		return b.Parts[0]
	}
	return b.Buf[b.Start:at]
}

// pass takes the line that ends at the index at. The line end may be a lone carriage return: that is known only when
// there is a next byte, and nobody waits for it.
func (b *buffer) pass(at int) {
	b.Start = at + 1
	switch {
	case b.Buf[at] == '\n':
	case b.Start == b.End:
		b.afterCR = true
	case b.Buf[b.Start] == '\n':
		b.Start++
	}
}

// dropMark drops the byte order mark at the beginning of the stream. It reads on only while there may be one.
func (b *buffer) dropMark() {
	const mark = "\ufeff"
	for b.Err == nil && b.End < len(mark) && strings.HasPrefix(mark, string(b.Buf[:b.End])) {
		b.more()
	}
	if bytes.HasPrefix(b.Buf[:b.End], []byte(mark)) {
		b.Start = len(mark)
	}
}

// lineEnd returns the index of the first line end, which is not before from. Line feeds are searched ahead of carriage
// returns and remembered, so that a stream with only one of the two is not searched again for the other at each line.
func (b *buffer) lineEnd(from int) (at int, found bool) {
	b.lf = max(b.lf, b.Start)
	if b.lf < b.End && b.Buf[b.lf] != '\n' {
		i := bytes.IndexByte(b.Buf[b.lf:b.End], '\n')
		if i < 0 {
			i = b.End - b.lf
		}
		b.lf += i
	}
	if i := bytes.IndexByte(b.Buf[from:b.lf], '\r'); i >= 0 {
		return from + i, true
	}
	return b.lf, b.lf < b.End
}

// more reads on and returns the index where new bytes begin.
func (b *buffer) more() (from int) {
	b.MakeRoom()
	from = b.End
	b.lf = from
	b.Fill()
	if b.afterCR && b.End > from {
		b.afterCR = false
		if b.Buf[from] == '\n' {
			from++
			b.Start = from
		}
	}
	return from
}

// release goes back to the small buffer.
func (b *buffer) release() {
	b.Release()
	b.lf = 0
}
