package sse

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// An Event is what one block of lines says. Its memory is its own.
type Event struct {
	// Type is "" for the default, "message".
	Type string
	// ID is what to send as Last-Event-ID from now on, if HasID; "" then means to send none any more.
	ID    string
	HasID bool
	// Data is the data lines, joined by line feeds; nil without such a line, and empty if the only one is.
	Data []byte
	// Retry is how long to wait before the stream is asked for again, if HasRetry. It is as long as the server likes.
	Retry    time.Duration
	HasRetry bool
}

// maxRetry stands in for what a Duration cannot hold.
const maxRetry = math.MaxInt64 / time.Millisecond * time.Millisecond

// cutField splits a line into the name of its field and the value. It looks no further than a name that counts.
func cutField(line []byte) (name, value []byte) {
	colon := bytes.IndexByte(line[:min(len(line), len("event:"))], ':')
	if colon < 0 {
		return line, nil
	}
	return line[:colon], bytes.TrimPrefix(line[colon+1:], []byte(" "))
}

func (e *Event) setID(value []byte) {
	if bytes.IndexByte(value, 0) < 0 {
		e.ID, e.HasID = string(value), true
	}
}

func (e *Event) setRetry(value []byte) {
	notDigit := func(c rune) bool { return c < '0' || '9' < c }
	if len(value) == 0 || bytes.ContainsFunc(value, notDigit) {
		return
	}
	ms, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil || ms > uint64(maxRetry/time.Millisecond) {
		e.Retry, e.HasRetry = maxRetry, true // out of range
		return
	}
	e.Retry, e.HasRetry = time.Duration(ms)*time.Millisecond, true
}
