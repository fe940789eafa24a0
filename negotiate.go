package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

// errProbeKilled says that the server ended when it was asked for the revisions that it speaks.
var errProbeKilled = errors.New("the server ended when it was probed")

// negotiate agrees with the server on a revision (2026-07-28, basic/versioning). Which era a server belongs to cannot
// be told in advance; if the caller accepts both, it is asked.
func (c *Client) negotiate(ctx context.Context) error {
	modern, legacy := modernVersions(c.opts.Versions), legacyVersions(c.opts.Versions)
	switch {
	case len(modern) == 0:
		return c.handshake(ctx)
	case len(legacy) == 0:
		server, err := c.discover(ctx)
		if err != nil {
			return err
		}
		return c.adopt(server)
	case c.conn.Traits().SilentProbe:
		return c.detect(ctx)
	default:
		return c.detectInTurn(ctx)
	}
}

// detectInTurn asks a server that is known to answer. What does not make it modern makes it legacy, but for errors that
// say that it was never reached.
func (c *Client) detectInTurn(ctx context.Context) error {
	server, err := c.discover(ctx)
	switch {
	case err == nil:
		return c.adopt(server)
	case ctx.Err() != nil || c.Err() != nil || transport.SafeToRetry(err):
		return err
	}
	c.log.Debug("the server is none of a modern revision", slog.Any("error", err))
	return c.handshake(ctx)
}

// An offer is what a server answered to one of the two ways to begin.
type offer struct {
	server *ServerInfo
	err    error
}

// detect asks a server that may belong to either era, and may not even answer: some legacy servers ignore what they do
// not know, and some servers take long to start. So silence means nothing; after a while the handshake is begun as
// well, and the first decisive answer wins. A server that has accepted one way to begin is never asked to change.
func (c *Client) detect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx) // ends what is still waited for
	defer cancel()
	probe := c.begin(ctx, c.discover)
	var initialize <-chan offer
	patience := time.NewTimer(c.opts.ProbeTimeout)
	defer patience.Stop()
	for {
		select {
		case <-patience.C:
			if initialize == nil {
				initialize = c.begin(ctx, c.agree)
			}
		case o := <-probe:
			switch {
			case o.err == nil:
				return c.adopt(o.server)
			case c.ended():
				return fmt.Errorf("%w: %w", errProbeKilled, c.err)
			case ctx.Err() != nil:
				return o.err
			}
			probe = nil
			if initialize == nil {
				initialize = c.begin(ctx, c.agree)
			}
		case o := <-initialize:
			switch {
			case o.err == nil:
				return c.settle(ctx, o.server)
			case c.ended():
				return fmt.Errorf("%w: %w", errProbeKilled, c.err)
			case probe == nil || ctx.Err() != nil:
				return o.err
			}
			initialize = nil // it refuses the handshake because it has taken the probe
			patience.Stop()
		}
	}
}

// begin runs one of the ways to begin in the background.
func (c *Client) begin(ctx context.Context, way func(context.Context) (*ServerInfo, error)) <-chan offer {
	result := make(chan offer, 1)
	go func() {
		server, err := way(ctx)
		result <- offer{server, err}
	}()
	return result
}
