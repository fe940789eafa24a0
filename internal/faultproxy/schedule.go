package faultproxy

import (
	"fmt"
	"strings"
	"time"
)

// An End is how an exchange comes to its end.
type End int

const (
	// Whole: as the server ends it.
	Whole End = iota
	// Cut: the body ends early and well-formed, if it is chunked, else by closing the connection.
	Cut
	// Truncate: the connection is closed in the middle of a chunk.
	Truncate
	// HalfClose: nothing comes any more, but the connection goes on reading until the client closes it.
	HalfClose
	// Reset: the connection is reset (TCP RST), and what was on its way may be lost with it.
	Reset
)

// String names the end.
func (e End) String() string {
	return [...]string{"whole", "cut", "truncate", "half-close", "reset"}[e]
}

// Places before the body where an exchange may end. A whole number is a place in the body.
const (
	// BeforeRequest: the server never sees the request.
	BeforeRequest = -2
	// BeforeHead: the server has answered.
	BeforeHead = -1
)

// DripPause is the time between two drips.
const DripPause = time.Millisecond

// A Schedule is what is done to one exchange; nothing if it is zero.
type Schedule struct {
	Delay     time.Duration // before the request is passed on
	Refuse    int           // the status of the proxy's own answer, in HTML, to a request that is not passed on
	Hold      time.Duration // before the head of the response is passed on
	Status    int           // in place of the server's
	Type      string        // in place of the server's Content-Type
	Duplicate int           // the number of the event that is sent twice, from 1
	Drip      int           // the body is passed on this many bytes at a time, DripPause apart
	End       End
	After     int // how many bytes of the body are passed on before the end, or else all; or a place before it
}

// String says it in words: "delay 3ms, reset after 17 bytes".
func (s Schedule) String() string {
	var all []string
	say := func(does bool, format string, args ...any) {
		if does {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	say(s.Delay > 0, "delay %v", s.Delay)
	say(s.Refuse != 0, "refuse with %d", s.Refuse)
	say(s.Hold > 0, "hold %v", s.Hold)
	say(s.Status != 0, "status %d", s.Status)
	say(s.Type != "", "type %s", s.Type)
	say(s.Duplicate > 0, "duplicate event %d", s.Duplicate)
	say(s.Drip > 0, "drip %d bytes", s.Drip)
	say(s.End != Whole, "%v %s", s.End, place(s.After))
	if all == nil {
		return "no fault"
	}
	return strings.Join(all, ", ")
}

func place(after int) string {
	switch after {
	case BeforeRequest:
		return "before the request"
	case BeforeHead:
		return "before the head"
	}
	return fmt.Sprintf("after %d bytes", after)
}
