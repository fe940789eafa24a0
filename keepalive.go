package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// keepAlive pings the server at every interval, as long as it answers.
func (c *Client) keepAlive() {
	interval := c.opts.KeepAlive
	if interval <= 0 {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(interval, func() {
		err := c.Ping(c.ctx(), WithTimeout(interval), WithMaxTimeout(interval))
		var limit *TimeoutError
		var rpc *RPCError
		switch {
		case errors.As(err, &limit):
			c.finish(&closedError{cause: fmt.Errorf("no answer to a keep-alive ping: %w", err)})
		case errors.As(err, &rpc):
			c.log.Info("the server does not know ping; no more keep-alive", slog.Any("error", rpc))
		case c.ctx().Err() == nil:
			timer.Reset(interval)
		}
	})
	context.AfterFunc(c.ctx(), func() { timer.Stop() })
}
