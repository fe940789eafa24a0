package mcptest

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// A strike is what befalls one message.
type strike struct {
	delay  time.Duration
	cut    bool
	drop   bool
	twice  bool
	mangle []func(text []byte) []byte
}

// A course counts the messages of one direction, to find what befalls them.
type course struct {
	faults []Fault
	stalls bool

	mu     sync.Mutex
	counts []int // of the messages that each fault has seen
}

func newCourse(d Direction, faults []Fault) *course {
	c := new(course)
	for _, f := range faults {
		if f.direction == d {
			c.faults = append(c.faults, f)
			c.stalls = c.stalls || f.stalls
		}
	}
	c.counts = make([]int, len(c.faults))
	return c
}

func (c *course) next(m *transport.Message) *strike {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := new(strike)
	for i, f := range c.faults {
		if f.where != nil && !f.where(m) {
			continue
		}
		c.counts[i]++
		if f.n == 0 || f.n == c.counts[i] {
			f.add(s)
		}
	}
	return s
}

// arriving returns what is left of a message. One that cannot be encoded has no text to mangle.
func (s *strike) arriving(m *transport.Message) []*transport.Message {
	if s.drop {
		return nil
	}
	arriving := []*transport.Message{m}
	if len(s.mangle) > 0 && m.Fault == nil {
		if text, err := m.Append(nil); err == nil {
			arriving = received(s.mangled(text))
		}
	}
	if s.twice {
		for _, m := range arriving {
			arriving = append(arriving, handedOver(m))
		}
	}
	return arriving
}

func (s *strike) mangled(text []byte) []byte {
	for _, mangle := range s.mangle {
		text = mangle(text)
	}
	return text
}

// received returns the messages that a stream of this text and the end of its line holds. The stream needs no Close: it
// holds nothing.
func received(text []byte) []*transport.Message {
	var all []*transport.Message
	line := io.MultiReader(bytes.NewReader(text), strings.NewReader("\n"))
	conn := transport.NewStream(textStream{line}, nil)
	for {
		m, err := conn.Receive(context.Background())
		if err != nil {
			return all
		}
		all = append(all, m)
	}
}

type textStream struct{ io.Reader }

func (textStream) Write(p []byte) (int, error) { return len(p), nil }
func (textStream) Close() error                { return nil }
