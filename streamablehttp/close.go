package streamablehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/transport"
)

// Close ends the streams and every Send, and tells the server that its session is over. That is bounded by
// [Transport].CloseTimeout. Servers that do not know the session or have no such request are fine; another refusal, or
// none at all in that time, is an error that says that the session may live on.
func (c *conn) Close() error {
	c.closeOnce.Do(func() {
		if err := c.close(); err != nil {
			c.closeErr = wrap(err)
		}
	})
	return c.closeErr
}

func (c *conn) close() error {
	c.end(errConnEnded)
	state := c.stateful()
	s, version := state.sessions.take()
	wait := state.close()

	ctx, cancel := context.WithTimeout(state.sessions.values(context.Background()), c.closing)
	result := make(chan error, 1)
	go func() {
		defer cancel()
		err := goexit.Err
		defer func() {
			c.release()
			result <- err
		}()
		// First, since net/http may close a connection that a cancelled request has just given back.
		wait()
		err = c.endSession(ctx, s, version)
	}()
	// A Doer or an Authorizer of the user's may not let go when ctx is done.
	late := time.NewTimer(c.closing + closeMargin)
	defer late.Stop()
	select {
	case err := <-result:
		return err
	case <-late.C:
		err := fmt.Errorf("close takes longer than %v", c.closing)
		if s.hasID() {
			err = fmt.Errorf("the session may live on: %w", err)
		}
		return err
	}
}

// closeMargin lets what ends at the timeout end by itself.
const closeMargin = 100 * time.Millisecond

// endSession asks the server to forget the session ("Session Management", point 5).
func (c *conn) endSession(ctx context.Context, s *session, version string) error {
	if !s.hasID() {
		return nil
	}
	o := outbound{method: http.MethodDelete, target: c.url, header: c.headers(s, version, nil)}
	r, err := c.do(ctx, o)
	if errors.Is(err, transport.ErrNoResponse) && ctx.Err() == nil {
		r, err = c.do(ctx, o) // a second one does no harm
	}
	if err != nil {
		return fmt.Errorf("the session may live on: %w", transport.Sent(err))
	}
	switch {
	case r.ok():
	case r.StatusCode == http.StatusBadRequest, r.StatusCode == http.StatusNotFound,
		r.StatusCode == http.StatusMethodNotAllowed, r.StatusCode == http.StatusNotImplemented:
	default:
		return fmt.Errorf("the session may live on: %w", r.statusError())
	}
	r.discard()
	return nil
}
