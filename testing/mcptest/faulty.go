package mcptest

import (
	"context"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// Faulty returns a transport like t on whose connections things go wrong. Several faults may strike one message. The
// connections count their messages each on its own.
//
// A delay holds up the calls of Send that come after it, so as to keep their order. Where a request has an exchange of
// its own, a delay to the server therefore lets one exchange through at a time.
func Faulty(t transport.Transport, faults ...Fault) transport.Transport {
	return &faultyTransport{t, faults}
}

type faultyTransport struct {
	transport.Transport
	faults []Fault
}

func (t *faultyTransport) Connect(ctx context.Context) (transport.Conn, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &faultyConn{
		Conn:     conn,
		toServer: newCourse(ToServer, t.faults),
		toClient: newCourse(ToClient, t.faults),
		turn:     make(chan struct{}, 1),
		closed:   newLatch(),
		cut:      newLatch(),
	}
	_, c.inMemory = conn.(*pipeEnd)
	return c, nil
}

type faultyConn struct {
	transport.Conn
	inMemory           bool
	toServer, toClient *course
	turn               chan struct{} // taken while a message is on its way to the server, if that may take time

	arrivals []arrival // what Receive has in store

	closed *latch // by the client
	cut    *latch // by a fault
}

// An arrival is a message, or the end of the connection if there is none, and when it is due.
type arrival struct {
	message *transport.Message
	due     time.Time
}

func (c *faultyConn) Send(ctx context.Context, out transport.Outgoing) error {
	if c.toServer.stalls {
		select {
		case c.turn <- struct{}{}:
			defer func() { <-c.turn }()
		case <-ctx.Done():
		case <-c.closed.done:
		case <-c.cut.done:
		}
	}
	if err := c.ended(ctx); err != nil {
		return transport.Unsent(err)
	}
	s := c.toServer.next(out.Message)
	if err := c.pause(ctx, s.delay); err != nil {
		return transport.Unsent(err)
	}
	if s.cut {
		c.disconnect()
		return transport.Unsent(c.ended(ctx))
	}
	if out.Deliver != nil {
		out.Deliver = c.delivering(ctx, out.Deliver)
	}
	return c.sendAll(ctx, out, s.arriving(out.Message))
}

// sendAll fails if nothing got through. What is no message can go through memory only.
func (c *faultyConn) sendAll(ctx context.Context, out transport.Outgoing, messages []*transport.Message) error {
	for i, m := range messages {
		if m.Fault != nil && !c.inMemory {
			continue
		}
		out.Message = m
		if err := c.Conn.Send(ctx, out); err != nil && i == 0 {
			return err
		}
	}
	return nil
}

// delivering applies the faults to what arrives on a request's own exchange.
func (c *faultyConn) delivering(ctx context.Context, deliver func(*transport.Message)) func(*transport.Message) {
	return func(m *transport.Message) {
		s := c.toClient.next(m)
		if c.pause(ctx, s.delay) != nil {
			return
		}
		if s.cut {
			c.disconnect()
			return
		}
		for _, m := range s.arriving(m) {
			deliver(m)
		}
	}
}

func (c *faultyConn) Receive(ctx context.Context) (*transport.Message, error) {
	for len(c.arrivals) == 0 {
		m, err := c.Conn.Receive(ctx)
		if err != nil {
			if c.cut.isSet() {
				err = c.ended(ctx) // rather than that this side closed it
			}
			return nil, err
		}
		c.arrive(m)
	}
	next := c.arrivals[0]
	if err := c.pause(ctx, time.Until(next.due)); err != nil {
		return nil, err // the message stays
	}
	if next.message == nil {
		c.disconnect()
		return nil, c.ended(ctx)
	}
	c.arrivals = c.arrivals[1:]
	return next.message, nil
}

// arrive stores what the faults make of a message.
func (c *faultyConn) arrive(m *transport.Message) {
	s := c.toClient.next(m)
	due := time.Now().Add(s.delay)
	if s.cut {
		c.arrivals = append(c.arrivals, arrival{nil, due})
		return
	}
	for _, m := range s.arriving(m) {
		c.arrivals = append(c.arrivals, arrival{m, due})
	}
}

// pause waits, as long as the connection lives.
func (c *faultyConn) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return c.ended(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-c.closed.done:
	case <-c.cut.done:
	}
	return c.ended(ctx)
}

// disconnect lets the server go without the client's doing. It does not wait: that is for Close.
func (c *faultyConn) disconnect() {
	c.cut.set()
	go c.Conn.Close()
}

func (c *faultyConn) ended(ctx context.Context) error { return ended(ctx, c.closed, c.cut) }

func (c *faultyConn) Close() error {
	c.closed.set()
	return c.Conn.Close()
}
