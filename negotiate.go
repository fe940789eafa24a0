package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
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
// well, and the first that is accepted counts. Both may be: then the server is asked what it made of them.
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
			case o.err == nil && initialize == nil:
				return c.adopt(o.server)
			case o.err == nil:
				return c.confirm(ctx, o.server, initialize)
			case c.cause() != nil:
				return fmt.Errorf("%w: %w", errProbeKilled, c.cause())
			case ctx.Err() != nil:
				return o.err
			}
			probe = nil
			if initialize == nil {
				initialize = c.begin(ctx, c.agree)
			}
		case o := <-initialize:
			switch {
			case o.err == nil && probe != nil:
				return c.settleUnlessProbed(ctx, o, probe)
			case o.err == nil:
				return c.settle(ctx, o.server)
			case c.cause() != nil:
				return fmt.Errorf("%w: %w", errProbeKilled, c.cause())
			case probe == nil || ctx.Err() != nil:
				return o.err
			}
			initialize = nil // it refuses the handshake because it has taken the probe
			patience.Stop()
		}
	}
}

const (
	// lateProbe is how long a server that has accepted the handshake may still take to answer the probe: a slow starter
	// found both when it began to read.
	lateProbe = 200 * time.Millisecond
	// lateInitialize is how long it may take the other way round.
	lateInitialize = 5 * time.Second
)

// settleUnlessProbed ends the handshake with a server that has accepted it, unless it answers the probe as well.
func (c *Client) settleUnlessProbed(ctx context.Context, agreed offer, probe <-chan offer) error {
	if o, ok := within(ctx, lateProbe, probe); ok && o.err == nil {
		initialize := make(chan offer, 1)
		initialize <- agreed
		return c.confirm(ctx, o.server, initialize)
	}
	return c.settle(ctx, agreed.server)
}

// confirm asks a server that has accepted the probe, and was sent the handshake as well, once more. Some go over to the
// handshake, some do not, and some serve both; what it answers now is what it speaks from here on.
func (c *Client) confirm(ctx context.Context, modern *ServerInfo, initialize <-chan offer) error {
	again, err := c.discover(ctx)
	switch {
	case err == nil:
		return c.adopt(again)
	case ctx.Err() != nil || c.cause() != nil:
		return err
	}
	if o, ok := within(ctx, lateInitialize, initialize); ok && o.err == nil {
		return c.settle(ctx, o.server)
	}
	return c.adopt(modern)
}

// within waits for an offer, for a while.
func within(ctx context.Context, d time.Duration, offers <-chan offer) (o offer, ok bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case o = <-offers:
		return o, true
	case <-timer.C:
	case <-ctx.Done():
	}
	return offer{}, false
}

// begin runs one of the ways to begin in the background.
func (c *Client) begin(ctx context.Context, way func(context.Context) (*ServerInfo, error)) <-chan offer {
	ctx = context.WithValue(ctx, clientKey{}, c) // a panic of an interceptor would be nobody's
	result := make(chan offer, 1)
	go func() {
		o := offer{err: goexit.Err}
		defer func() { result <- o }()
		o.server, o.err = way(ctx)
	}()
	return result
}
