package transport

import (
	"bytes"
	"fmt"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// salvageBytes is how much is looked at, at either end, of a text that cannot be decoded.
const salvageBytes = 4 << 10

// salvage reads the id and the method of a message from the beginning and the end of its text, as far as they are
// there, so that the call it answers can fail at once. Only a text that calls itself JSON-RPC counts.
func salvage(head, tail []byte) (ID, string) {
	if len(head) == 0 || head[0] != '{' {
		return ID{}, ""
	}
	var e envelope
	head = head[:min(len(head), salvageBytes)]
	// Behind a comma is no token that the cut could have shortened, as it would make 1 of 12.
	d := jsonscan.New(head[:bytes.LastIndexByte(head, ',')+1])
	e.read(&d)
	if e.id == nil {
		e.readLast(tail[max(0, len(tail)-salvageBytes):])
	}
	if e.version == nil {
		return ID{}, ""
	}
	id, method, _ := e.head()
	return id, method
}

// readLast reads the last members of an object, from the id on. The quote is the beginning of a name: inside a string
// it would have a backslash before it. If the rest is an object when a brace is put in front, its last brace closes the
// object that the id is in, and it is the last brace of all.
func (e *envelope) readLast(tail []byte) {
	i := bytes.LastIndex(tail, []byte(`"id"`))
	if i < 0 || !bytes.HasSuffix(bytes.TrimRight(tail[:i], " \t"), []byte(",")) {
		return
	}
	var last envelope
	d := jsonscan.New(append([]byte("{"), tail[i:]...))
	if last.read(&d); d.End() != nil {
		return
	}
	e.id = last.id
	if e.version == nil {
		e.version = last.version
	}
}

// excerpt is what is kept of a line over the limit.
type excerpt struct {
	size       int    // of the line, in bytes
	head, tail []byte // at most salvageBytes each
}

func (e *excerpt) add(b []byte) {
	e.size += len(b)
	e.head = append(e.head, b[:min(len(b), salvageBytes-len(e.head))]...)
	e.tail = append(e.tail, b[max(0, len(b)-salvageBytes):]...)
	e.tail = append(e.tail[:0], e.tail[max(0, len(e.tail)-salvageBytes):]...)
}

// message stands in for the line.
func (e *excerpt) message(limit int) *Message {
	id, method := salvage(trim(e.head), trim(e.tail))
	return &Message{
		ID: id, Method: method,
		Fault: fmt.Errorf("%w: %d bytes, the limit is %d", ErrMessageTooLarge, e.size, limit),
	}
}
