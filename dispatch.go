package mcp

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/seed62b61957/mcp/transport"
)

// dispatch takes one message to whom it concerns. It never blocks.
func (c *Client) dispatch(m *transport.Message) {
	c.heard.Add(1)
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
		err := m.Fault
		if !errors.Is(err, ErrMessageTooLarge) {
			err = fmt.Errorf("%w: %w", ErrNoResponse, err) // the answer came, and cannot be read
		}
		if c.resolve(m.ID, nil, err) {
			return
		}
	}
	var noise *transport.FaultError
	switch {
	case errors.As(m.Fault, &noise):
		c.log.Warn("skipped what is not a message", slog.Any("reason", noise), slog.String("prefix", noise.Prefix))
	case errors.Is(m.Fault, transport.ErrMissed):
		c.log.Info("everything that is listened to counts as changed", slog.Any("reason", m.Fault))
		c.missed(c.announced())
	case errors.Is(m.Fault, transport.ErrUnheard):
		go c.unheard(c.session.Load(), m.Fault)
	default:
		c.log.Warn("something of the server's was lost", slog.Any("reason", m.Fault))
	}
	if m.Method != "" && m.ID.IsValid() {
		c.post(errorResponse(m.ID, CodeInvalidRequest, m.Fault.Error()))
	}
}

// answered wakes the call that a response belongs to. A response that matches none is late, doubled or invented.
func (c *Client) answered(m *transport.Message) {
	general := m.Error != nil && !m.ID.IsValid()
	switch {
	case general && c.resolveOpening(m) || c.resolve(m.ID, m, nil):
	case general:
		c.log.Warn("the server reported an error about no request in particular", slog.String("error", m.Error.Error()))
	default:
		c.log.Debug("dropped an answer that nobody waits for", slog.String("id", clip(m.ID.String(), maxLoggedText)))
	}
}

// resolve ends the call with the id, with an answer or an error, and reports whether there was one. Some servers answer
// with the id as a string.
func (c *Client) resolve(id transport.ID, answer *transport.Message, err error) bool {
	n, ok := id.Int64()
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[n]
	if !ok || p == nil {
		return false
	}
	delete(c.pending, n)
	p.resolve(answer, err)
	return true
}

// resolveOpening ends the request that opens the connection, if it is all that is under way: a server that cannot make
// anything of it may answer with an error without an id.
func (c *Client) resolveOpening(answer *transport.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.pending {
		if p.opening && len(c.pending) == 1 {
			delete(c.pending, id)
			p.resolve(answer, nil)
			return true
		}
	}
	return false
}

// progressed takes a progress notification to its call. The token is the id of the call.
func (c *Client) progressed(m *transport.Message) {
	token, progress := decodeProgress(m.Params)
	n, ok := token.Int64()
	c.mu.Lock()
	p := c.pending[n]
	c.mu.Unlock()
	expected, dropped := false, false
	if ok && p != nil {
		expected, dropped = p.progressed(n, receivedProgress{progress, len(m.Params)})
	}
	switch {
	case !expected:
		c.log.Debug("dropped progress that nobody waits for", slog.String("token", clip(token.String(), maxLoggedText)))
	case dropped:
		c.log.Warn("dropped progress, the handler is too slow", slog.String("token", clip(token.String(), maxLoggedText)))
	}
}
