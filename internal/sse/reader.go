package sse

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/seed62b61957/mcp/internal/chunked"
	"github.com/seed62b61957/mcp/transport"
)

const (
	// DefaultMaxEventBytes is the limit of an event's data where none is set: 16 MiB.
	DefaultMaxEventBytes = transport.DefaultMaxMessageBytes
	// PrefixBytes is how much is kept at most of data over the limit.
	PrefixBytes = 4 << 10
)

// A Reader reads events. It is not safe for concurrent use.
type Reader struct {
	in    buffer
	limit int // of an event's data, in bytes
	begun bool

	event    Event  // what the lines since the last blank one say
	lastType string // shared by events of the same type, since types are few
	tooLarge bool   // the event's data is over the limit, which was reported
	skipping bool   // the rest of the line is of no interest
}

// NewReader returns a reader of the stream r. MaxEventBytes limits an event's data; 0 means [DefaultMaxEventBytes].
func NewReader(r io.Reader, maxEventBytes int) *Reader {
	if maxEventBytes <= 0 {
		maxEventBytes = DefaultMaxEventBytes
	}
	reader := &Reader{limit: maxEventBytes}
	reader.in.Src = r
	reader.in.release()
	return reader
}

// Next waits for the next event. Whatever ends the stream is returned as it is, [io.EOF] included, after the events
// that are complete, and again by every later call. Beside the first [io.EOF] are the type and the data of the event
// that the stream ended in, if its blank line was missing: the standard drops it, and so should whoever cannot tell
// that it is whole.
//
// Data over the limit is an error that wraps [transport.ErrMessageTooLarge]. It does not wait for the end of the event,
// which may never come. The event beside it has the first [PrefixBytes] of the data (or the limit, if that is less),
// and what else came before it. The next call skips the rest, in constant memory, and reads on; an ID or a retry time
// in the rest still counts.
func (r *Reader) Next() (Event, error) {
	if !r.begun {
		r.begun = true
		r.in.dropMark()
	}
	for from := r.in.Start; ; {
		at, found := r.in.lineEnd(from)
		switch {
		case r.isOver(at, found):
			return r.overflow(at)
		case found:
			if event, ok := r.take(at); ok {
				return event, nil
			}
			from = r.in.Start
		case r.in.Err != nil:
			return r.end()
		default:
			r.skipUseless()
			from = r.in.more()
		}
	}
}

// take takes the line that ends at the index at. It returns the event that the line completes, if it does.
func (r *Reader) take(at int) (event Event, ok bool) {
	last := r.in.Buf[r.in.Start:at]
	r.in.pass(at)
	return r.line(last)
}

// line takes a line, of which last is what follows the parts that were kept before.
func (r *Reader) line(last []byte) (event Event, ok bool) {
	switch {
	case r.skipping:
		r.skipping = false
	case len(r.in.Parts) > 0:
		_, value := cutField(r.in.Parts[0]) // data: nothing else is that long
		r.addData(slices.Concat([][]byte{value}, r.in.Parts[1:], [][]byte{last})...)
		r.in.DropParts()
	case len(last) > 0:
		r.setField(cutField(last))
	default:
		return r.dispatch()
	}
	return Event{}, false
}

func (r *Reader) setField(name, value []byte) {
	switch string(name) {
	case "data":
		if !r.tooLarge {
			r.addData(value)
		}
	case "event":
		r.setType(value)
	case "id":
		r.event.setID(value)
	case "retry":
		r.event.setRetry(value)
	}
}

// addData adds one line of data, in pieces. Memory of the right size takes the first one, which mostly is the only one.
func (r *Reader) addData(pieces ...[]byte) {
	size := 0
	for _, piece := range pieces {
		size += len(piece)
	}
	data := r.event.Data
	if data == nil {
		data = make([]byte, 0, size)
	} else {
		data = append(slices.Grow(data, 1+size), '\n')
	}
	for _, piece := range pieces {
		data = append(data, piece...)
	}
	r.event.Data = data
}

func (r *Reader) setType(value []byte) {
	switch string(value) {
	case "message":
		r.event.Type = ""
	case r.lastType:
		r.event.Type = r.lastType
	default:
		r.event.Type = string(value)
		r.lastType = r.event.Type
	}
}

// dispatch returns the event that a blank line has completed, if it has anything to say.
func (r *Reader) dispatch() (event Event, ok bool) {
	event = r.event
	r.event, r.tooLarge = Event{}, false
	if r.in.Start == r.in.End {
		r.in.release() // the caller may not come back
	}
	return event, event.Data != nil || event.HasID || event.HasRetry
}

// isOver reports whether the line, as far as it is there, takes the event's data over the limit.
func (r *Reader) isOver(at int, complete bool) bool {
	if r.tooLarge || r.skipping {
		return false
	}
	head := r.in.head(at)
	name, value := cutField(head)
	if string(name) != "data" || !complete && len(head) == len(name) {
		return false
	}
	size := len(value)
	if parts := len(r.in.Parts); parts > 0 {
		size += (parts-1)*chunked.ChunkBytes + at - r.in.Start
	}
	if r.event.Data != nil {
		size += len(r.event.Data) + 1
	}
	return size > r.limit
}

// overflow gives up the event's data. What is kept is within the limit, so that it does not depend on how the stream is
// split into reads.
func (r *Reader) overflow(at int) (Event, error) {
	most := min(PrefixBytes, r.limit)
	_, value := cutField(r.in.head(at))
	prefix := slices.Clone(r.event.Data[:min(len(r.event.Data), most)])
	if prefix != nil {
		prefix = append(prefix, '\n')
	}
	prefix = append(prefix, value[:min(len(value), most)]...)
	event := r.event
	event.Data = prefix[:min(len(prefix), most)]

	r.event, r.tooLarge, r.skipping = Event{}, true, true
	r.in.DropParts()
	return event, fmt.Errorf("sse: event: %w: the limit is %d bytes", transport.ErrMessageTooLarge, r.limit)
}

// skipUseless drops what is there of an incomplete line that nobody wants. Only data may be longer than a chunk.
func (r *Reader) skipUseless() {
	full := r.in.End-r.in.Start == chunked.ChunkBytes && len(r.in.Parts) == 0
	if full && (r.tooLarge || !bytes.HasPrefix(r.in.head(r.in.End), []byte("data:"))) {
		r.skipping = true
	}
	if r.skipping {
		r.in.Start = r.in.End
	}
}

// end reports how the stream ended. A retry time without its blank line counts, and comes as an event of its own.
func (r *Reader) end() (Event, error) {
	whole := r.in.Err == io.EOF
	if rest := r.in.head(r.in.End); whole && bytes.HasPrefix(rest, []byte("data:")) {
		r.line(r.in.Buf[r.in.Start:r.in.End])
	}
	r.in.Start = r.in.End
	r.in.DropParts()
	r.in.release()
	event := r.event
	if event.HasRetry {
		r.event.Retry, r.event.HasRetry = 0, false
		return Event{Retry: event.Retry, HasRetry: true}, nil
	}
	r.event = Event{}
	if whole {
		return Event{Type: event.Type, Data: event.Data}, r.in.Err
	}
	return Event{}, r.in.Err
}
