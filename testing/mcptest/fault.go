package mcptest

import (
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// A Direction is one of the two that messages travel in.
type Direction int

// The directions.
const (
	ToServer Direction = iota
	ToClient
)

// A Fault is something that goes wrong with messages on their way: see [Faulty]. Each is about one direction, and
// strikes the nth message in it, counted from 1 on each connection; with n 0 it strikes every one.
//
// What a client does to connect counts. One that finds out what the server speaks sends server/discover first, and the
// first message to it is the answer. Where it agrees on a legacy revision, the next messages to the server are the
// initialize request and the notification that the client is initialized, and the next one to the client the answer to
// initialize. With [Fault.Where] only some messages count.
type Fault struct {
	direction Direction
	n         int
	where     func(*transport.Message) bool
	stalls    bool // it takes time, in which others might overtake
	add       func(*strike)
}

// Where returns a fault that takes only messages into account for which match returns true.
func (f Fault) Where(match func(*transport.Message) bool) Fault {
	f.where = match
	return f
}

// Drop loses a message.
func Drop(d Direction, n int) Fault {
	return Fault{direction: d, n: n, add: func(s *strike) { s.drop = true }}
}

// Delay holds a message up, and with it all that come behind it: messages never overtake each other. A delay ends early
// when the connection is closed. To the server, it ends with the ctx of Send as well, and the message is then not sent.
func Delay(d Direction, n int, by time.Duration) Fault {
	return Fault{direction: d, n: n, stalls: true, add: func(s *strike) { s.delay += by }}
}

// Duplicate has a message arrive twice.
func Duplicate(d Direction, n int) Fault {
	return Fault{direction: d, n: n, add: func(s *strike) { s.twice = true }}
}

// Truncate cuts the text of a message after so many bytes. What is left arrives as a line: see [Corrupt].
func Truncate(d Direction, n, bytes int) Fault {
	return Corrupt(d, n, func(text []byte) []byte { return text[:min(bytes, len(text))] })
}

// Corrupt changes the text of a message, which is one line of JSON without its end; mangle owns it. What arrives is
// what [transport.NewStream] makes of the text that mangle returns: a message, several if it has line breaks, nothing
// if it is blank, a Message with a Fault for what is not one.
//
// Only a server in memory can be sent what is not a message. To any other it is lost, as it is to servers that skip
// such lines.
func Corrupt(d Direction, n int, mangle func(text []byte) []byte) Fault {
	return Fault{direction: d, n: n, add: func(s *strike) { s.mangle = append(s.mangle, mangle) }}
}

// Disconnect ends the connection when a message is due, which is lost: the client sees the server go.
func Disconnect(d Direction, n int) Fault {
	return Fault{direction: d, n: n, add: func(s *strike) { s.cut = true }}
}
