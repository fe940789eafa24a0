package transport

import (
	"context"
	"errors"
	"log"
)

// Logged returns a transport like t that writes down every message, for somebody who debugs a server: a line for each,
// with "->" before what is sent and "<-" before what is received, and the JSON-RPC as it goes over the wire. What
// arrives and is no message has a line that says so. A nil l is [log.Default].
//
//	t = transport.Logged(t, log.New(os.Stderr, "files ", log.Lmicroseconds))
//
// Messages are logged whole, with all the secrets that arguments and results hold: keep the log from those who may not
// see them. Nothing beside the messages is logged, such as HTTP headers with their tokens. A message that is sent is
// logged just before; that it arrives is another matter. The envelope of what is received is written anew, so that
// members which nobody knows are not there. Messages wait for l, so that a slow one slows the connection down.
func Logged(t Transport, l *log.Logger) Transport {
	if l == nil {
		l = log.Default()
	}
	return Func(func(ctx context.Context) (Conn, error) {
		conn, err := t.Connect(ctx)
		if err != nil {
			return nil, err
		}
		return &loggedConn{conn, l}, nil
	})
}

type loggedConn struct {
	Conn
	log *log.Logger
}

func (c *loggedConn) Send(ctx context.Context, out Outgoing) error {
	c.write("-> ", out.Message)
	if deliver := out.Deliver; deliver != nil {
		out.Deliver = func(m *Message) {
			c.write("<- ", m)
			deliver(m)
		}
	}
	return c.Conn.Send(ctx, out)
}

func (c *loggedConn) Receive(ctx context.Context) (*Message, error) {
	m, err := c.Conn.Receive(ctx)
	if err == nil {
		c.write("<- ", m)
	}
	return m, err
}

func (c *loggedConn) write(direction string, m *Message) {
	line := buffers.Get().(*buffer)
	defer line.free()
	line.b = append(line.b[:0], direction...)
	var err error
	if line.b, err = m.Append(line.b); m.Fault != nil {
		err = m.Fault
	}
	var noise *FaultError
	switch {
	case errors.As(err, &noise):
		c.log.Printf("%s(%v) %q", direction, err, noise.Prefix)
	case err != nil:
		c.log.Printf("%s(%v)", direction, err)
	default:
		c.log.Print(string(line.b))
	}
}
