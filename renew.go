package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/transport"
)

// renewal makes a new session after the server has forgotten the old one: once, however many calls find out.
type renewal struct {
	mu      sync.Mutex
	current *successor // nil while none is under way
}

// successor is a session that is being made.
type successor struct {
	done chan struct{}
	err  error // set before done is closed
}

// forgotten reports whether err says that the server no longer knows the session, so that it cannot have executed
// anything.
func forgotten(err error) bool {
	return errors.Is(err, transport.ErrSessionExpired) && transport.SafeToRetry(err)
}

// replace makes a new session in place of one that the server has forgotten.
func (c *Client) replace(ctx context.Context, forgotten *session) error {
	if err := c.renew(ctx, forgotten); err != nil {
		return transport.Unsent(fmt.Errorf("%w, and there is no new one: %w", ErrSessionExpired, err))
	}
	return nil
}

// renew returns when there is another session than the one given. The handshake does not depend on ctx, since other
// callers wait for it as well.
func (c *Client) renew(ctx context.Context, old *session) error {
	a := c.joinRenewal(old)
	if a == nil {
		return nil // there is a new session already
	}
	select {
	case <-a.done:
		return a.err
	case <-ctx.Done():
		return ended(ctx)
	case <-c.Done():
		return c.cause()
	}
}

// joinRenewal returns the successor that is under way, or a new one; nil if the session is no longer the old one.
func (c *Client) joinRenewal(old *session) *successor {
	r := c.renewal.get()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.current != nil: // its session may be known already, and is not ready before the end of the handshake
	case c.session.Load() != old:
		return nil
	default:
		r.current = &successor{done: make(chan struct{})}
		go c.makeSession(r.current)
	}
	return r.current
}

// end lets those go on who wait for a successor.
func (r *renewal) end(a *successor) {
	r.mu.Lock()
	r.current = nil
	r.mu.Unlock()
	close(a.done)
}

// beginAnew shakes hands for a successor, and lets go those who wait for it, whatever happens.
func (c *Client) beginAnew(a *successor) {
	defer c.renewal.get().end(a)
	a.err = goexit.Err
	a.err = c.handshake(c.ctx())
}

func (c *Client) makeSession(a *successor) {
	c.beginAnew(a)
	if a.err != nil {
		c.log.Warn("the session expired, and there is no new one", slog.Any("error", a.err))
		return
	}
	c.log.Info("the session expired; there is a new one")
	// What the old session was told is lost with it, and the new one may offer something else.
	uris := c.legacy.get().uris()
	defer c.missed(Filter{Tools: true, Prompts: true, Resources: true, URIs: uris})
	if err := c.askForLevelAgain(c.ctx()); err != nil {
		c.log.Warn("the level of log messages is lost", slog.Any("error", err))
	}
	for _, uri := range uris {
		if err := c.subscription(c.ctx(), "resources/subscribe", uri, nil); err != nil {
			c.log.Warn("a resource is no longer subscribed to", slog.Any("error", err))
		}
	}
}

// unheard ends the subscriptions, since nothing of what they are about arrives any more. Mostly it is that the server
// has forgotten the session: that only shows when it is asked for something, and a new one can be heard again.
func (c *Client) unheard(session *session, why error) {
	_ = c.Ping(c.ctx())
	if c.session.Load() != session || c.cause() != nil {
		return
	}
	c.log.Warn("changes will not be noticed", slog.Any("reason", why))
	c.legacy.get().end(fmt.Errorf("mcp: %w", why))
}
