package mcp

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// dispatch takes one message to whom it concerns. It never blocks.
func (c *Client) dispatch(m *transport.Message) {
	if m.Batch && c.version() != Version20250326 {
		c.log.Warn("took apart a batch, which only revision 2025-03-26 allows")
	}
	switch {
	case m.Fault != nil:
		c.fault(m)
	case m.IsRequest():
		c.serveRequest(m)
	case m.IsNotification():
		c.notified(m)
	case m.IsResponse():
		c.answered(m)
	default:
		c.log.Warn("skipped a message that is neither a request, a notification nor a response")
	}
}

// fault handles what arrived and cannot be used.
func (c *Client) fault(m *transport.Message) {
	if m.Method == "" {
		if p, id := c.takePending(m.ID); p != nil {
			err := m.Fault
			if !errors.Is(err, ErrMessageTooLarge) {
				err = fmt.Errorf("%w: %w", ErrNoResponse, err) // the answer came, and cannot be read
			}
			p.resolve(id, nil, err)
			return
		}
	}
	var noise *transport.FaultError
	if errors.As(m.Fault, &noise) {
		c.log.Warn("skipped what is not a message", slog.Any("reason", noise), slog.String("prefix", noise.Prefix))
	} else {
		c.log.Warn("something of the server's was lost", slog.Any("reason", m.Fault))
	}
	if m.Method != "" && m.ID.IsValid() {
		c.post(errorResponse(m.ID, CodeInvalidRequest, m.Fault.Error()))
	}
}

// answered wakes the call that a response belongs to. A response that matches none is late, doubled or invented.
func (c *Client) answered(m *transport.Message) {
	p, id := c.takePending(m.ID)
	if m.Error != nil && !m.ID.IsValid() {
		p, id = c.takeOpening()
	}
	switch {
	case p != nil:
		p.resolve(id, m, nil)
	case m.Error != nil && !m.ID.IsValid():
		c.log.Warn("the server reported an error about no request in particular", slog.Any("error", m.Error))
	default:
		c.log.Debug("dropped an answer that nobody waits for", slog.String("id", m.ID.String()))
	}
}

// takePending removes and returns the pending call with the id. Some servers answer with the id as a string.
func (c *Client) takePending(id transport.ID) (*pendingCall, int64) {
	n, ok := id.Int64()
	if !ok {
		return nil, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[n]
	delete(c.pending, n)
	return p, n
}

// takeOpening removes and returns the request that opens the connection, if it is all that is under way: a server that
// cannot make anything of it may answer with an error without an id.
func (c *Client) takeOpening() (*pendingCall, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.pending {
		if p.opening && len(c.pending) == 1 {
			delete(c.pending, id)
			return p, id
		}
	}
	return nil, 0
}

// progressed takes a progress notification to its call. The token is the id of the call.
func (c *Client) progressed(m *transport.Message) {
	d := jsonscan.New(m.Params)
	var token transport.ID
	for name := range d.Object() {
		if string(name) == "progressToken" {
			token, _ = transport.ParseID(d.Raw())
		}
	}
	n, ok := token.Int64()
	c.mu.Lock()
	p := c.pending[n]
	c.mu.Unlock()
	expected, dropped := false, false
	if d.End() == nil && ok && p != nil {
		expected, dropped = p.progressed(n, m.Params)
	}
	switch {
	case !expected:
		c.log.Debug("dropped progress that nobody waits for", slog.String("token", token.String()))
	case dropped:
		c.log.Warn("dropped progress, the handler is too slow", slog.String("token", token.String()))
	}
}
