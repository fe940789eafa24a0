package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"
)

// Ping asks the server for a sign of life. A server may not know it: the error is then an [*RPCError], which is a sign
// of life as well.
func (c *Client) Ping(ctx context.Context, opts ...CallOption) error {
	method := "ping"
	if c.session.Load().modern() {
		method = "server/discover" // which every modern server knows; ping is gone
	}
	o := c.callOptions(opts)
	_, err := c.call(ctx, &request{method: method}, &o)
	return err
}

// A keepAlive looks at every interval whether the server gives signs of life, and asks for one if it does not.
type keepAlive struct {
	client   *Client
	interval time.Duration
	timer    *time.Timer

	heard int64 // the messages that had come when it last looked
	// quiet is where the calls begin that were made since the server fell silent; 0 if it has not. Those before may be
	// what keeps it from answering.
	quiet int64
}

// keepAlive begins to look after the connection, if that is wanted.
func (c *Client) keepAlive() {
	interval := c.opts.KeepAlive
	if interval <= 0 {
		return
	}
	k := &keepAlive{client: c, interval: interval, heard: c.heard.Load()}
	k.timer = time.AfterFunc(math.MaxInt64, k.look)
	k.timer.Reset(interval) // only now, since look uses it
	context.AfterFunc(c.ctx(), func() { k.timer.Stop() })
}

// look is called at every interval, for as long as the connection lives.
func (k *keepAlive) look() {
	again := true
	defer func() {
		if again && k.client.ctx().Err() == nil {
			k.timer.Reset(k.interval)
		}
	}()
	if k.alive() || k.quiet > 0 && k.client.mayBeBusy(k.quiet) {
		return
	}
	if k.quiet == 0 {
		k.quiet = k.client.nextID.Load() + 1
	}
	again = k.ping()
}

// alive reports whether anything came since the last time.
func (k *keepAlive) alive() bool {
	before := k.heard
	k.heard = k.client.heard.Load()
	if k.heard == before {
		return false
	}
	k.quiet = 0
	return true
}

// ping asks for a sign of life, waits for it, and reports whether to go on. Anything that comes meanwhile is one.
func (k *keepAlive) ping() bool {
	c := k.client
	err := c.Ping(c.ctx(), WithTimeout(k.interval), WithMaxTimeout(k.interval))
	if k.alive() {
		rpc, unknown := errors.AsType[*RPCError](err)
		if unknown {
			c.log.Info("the server does not know ping; no more keep-alive", slog.Any("error", rpc))
		}
		return !unknown
	}
	if _, silent := errors.AsType[*TimeoutError](err); silent && !c.mayBeBusy(k.quiet) {
		c.lost(fmt.Errorf("no answer to a keep-alive ping: %w", err))
	}
	return true
}

// mayBeBusy reports whether the server owes an answer to a call that was made before the id was given: there are
// servers that do one thing after the other. Calls without a limit do not count, since nothing would ever end them.
func (c *Client) mayBeBusy(before int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, p := range c.pending {
		if id < before && p.bounded {
			return true
		}
	}
	return false
}
