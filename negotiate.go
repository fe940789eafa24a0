package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// ServerInfo is what a server said of itself when the connection was made.
type ServerInfo struct {
	Info            Implementation
	ProtocolVersion string // the revision that was agreed on
	Capabilities    ServerCapabilities
	// Instructions tell a model how to use the server; may be empty.
	Instructions string
	Meta         Meta
}

// decode reads the result of initialize. A version that is missing or of the wrong type is left to the caller.
func (s *ServerInfo) decode(d *decoder) {
	if !d.must(jsonscan.Object) {
		return
	}
	for name := range d.members() {
		switch string(name) {
		case "protocolVersion":
			s.ProtocolVersion = d.text()
		case "capabilities":
			s.Capabilities.decode(d)
		case "serverInfo":
			if d.is(jsonscan.Object) {
				s.Info.decode(d)
			}
		case "instructions":
			s.Instructions = d.text()
		case "_meta":
			s.Meta = d.objects()
		}
	}
}

// session is what was agreed on with the server. It never changes.
type session struct {
	server ServerInfo
}

// Server tells whom the client is connected to, and what was agreed on. The same value is returned every time; treat it
// as read-only.
func (c *Client) Server() *ServerInfo {
	if s := c.session.Load(); s != nil {
		return &s.server
	}
	return &ServerInfo{} // asked by a handler that runs before Connect has returned
}

// version is the revision that was agreed on, "" until then.
func (c *Client) version() string {
	if s := c.session.Load(); s != nil {
		return s.server.ProtocolVersion
	}
	return ""
}

// negotiate agrees with the server on a revision. Until 2025-11-25 that is the initialize handshake (basic/lifecycle).
func (c *Client) negotiate(ctx context.Context) error {
	version := c.opts.Versions[0]
	server, err := c.initialize(ctx, version)
	if other := c.alternative(err, version); other != "" {
		version = other
		server, err = c.initialize(ctx, version)
	}
	if err != nil {
		return err
	}
	if server.ProtocolVersion == "" {
		c.log.Warn("the server named no protocol version; assuming the one that it was asked for")
		server.ProtocolVersion = version
	}
	if !slices.Contains(c.opts.Versions, server.ProtocolVersion) {
		return &VersionError{Offered: []string{clip(server.ProtocolVersion, 64)}, Accepted: c.opts.Versions}
	}
	c.session.Store(&session{server: *server})
	return c.notify(ctx, "notifications/initialized", nil)
}

// alternative is the newest version to ask for after a server refused the first, if it named one that both sides speak.
func (c *Client) alternative(err error, refused string) string {
	var rpc *RPCError
	if !errors.As(err, &rpc) {
		return ""
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	if json.Unmarshal(rpc.Data, &data) != nil {
		return ""
	}
	for _, v := range c.opts.Versions {
		if v != refused && slices.Contains(data.Supported, v) {
			return v
		}
	}
	return ""
}

// initialize sends the initialize request for a version and returns what the server answered.
func (c *Client) initialize(ctx context.Context, version string) (*ServerInfo, error) {
	params, err := jsonscan.AppendValue(nil, struct {
		Version      string              `json:"protocolVersion"`
		Capabilities *clientCapabilities `json:"capabilities"`
		Info         Implementation      `json:"clientInfo"`
	}{version, c.opts.capabilities(), c.opts.Info})
	if err != nil {
		return nil, err
	}
	o := c.callOptions(nil)
	r := &request{method: "initialize", params: params, unstoppable: true}
	answer, err := c.exchange(ctx, r, &o)
	if err == nil && answer.Error != nil {
		err = answer.Error
	}
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	server, notes, err := decodeResult[ServerInfo](answer.Result)
	c.tolerated("initialize", notes)
	if err != nil {
		return nil, fmt.Errorf("initialize: unusable result: %w", err)
	}
	return server, nil
}

// tolerated reports what was wrong with a result and was accepted all the same.
func (c *Client) tolerated(method string, notes []string) {
	for _, note := range notes {
		c.log.Warn("tolerated a malformed result", slog.String("method", method), slog.String("note", note))
	}
}

// keepAlive pings the server at every interval, as long as it answers.
func (c *Client) keepAlive() {
	interval := c.opts.KeepAlive
	if interval <= 0 {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(interval, func() {
		err := c.Ping(c.ctx, WithMaxTimeout(interval))
		var limit *TimeoutError
		var rpc *RPCError
		switch {
		case errors.As(err, &limit):
			c.finish(&closedError{cause: fmt.Errorf("no answer to a keep-alive ping: %w", err)})
		case errors.As(err, &rpc):
			c.log.Info("the server does not know ping; no more keep-alive", slog.Any("error", rpc))
		case c.ctx.Err() == nil:
			timer.Reset(interval)
		}
	})
	context.AfterFunc(c.ctx, func() { timer.Stop() })
}

// Ping asks the server for a sign of life. A server may not know it: the error is then an [*RPCError], which is a sign
// of life as well.
func (c *Client) Ping(ctx context.Context, opts ...CallOption) error {
	o := c.callOptions(opts)
	_, err := c.call(ctx, &request{method: "ping"}, &o)
	return err
}

// Request sends a request of any method and returns its result as it came. params must encode to a JSON object, or to null
// for none. A progress token is sent only with [WithProgress].
func (c *Client) Request(ctx context.Context, method string, params any, opts ...CallOption) (json.RawMessage, error) {
	o := c.callOptions(opts)
	r := &request{method: method}
	var err error
	if r.params, err = objectParams(params); err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	if err := r.adoptMeta(&o); err != nil {
		return nil, r.wrap(transport.Unsent(err))
	}
	answer, err := c.call(ctx, r, &o)
	if err != nil {
		return nil, err
	}
	return answer.Result, nil
}

// adoptMeta moves the _meta of params that a caller made to the options, where the client adds its own members.
func (r *request) adoptMeta(o *callOptions) error {
	if o.progress == nil && len(o.meta) == 0 {
		return nil
	}
	d := jsonscan.New(r.params)
	meta := Meta{}
	params := []byte{'{'}
	for name := range d.Object() {
		value := d.Raw()
		if string(name) == "_meta" {
			if err := json.Unmarshal(value, &meta); err != nil {
				return fmt.Errorf("params._meta: %w", err)
			}
			continue
		}
		if len(params) > 1 {
			params = append(params, ',')
		}
		params = append(append(jsonscan.AppendString(params, string(name)), ':'), value...)
	}
	r.params = append(params, '}')
	for name, value := range o.meta {
		meta[name] = value
	}
	o.meta = meta
	return nil
}

// Notify sends a notification of any method. It returns when it was written, which says nothing about its effect.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	raw, err := objectParams(params)
	if err == nil {
		err = c.notify(ctx, method, raw)
	}
	if err != nil {
		return fmt.Errorf("mcp: %s: %w", method, err)
	}
	return nil
}

// notify sends a notification. It is bounded as a call is.
func (c *Client) notify(ctx context.Context, method string, params json.RawMessage) error {
	if ctx.Err() != nil {
		return transport.Unsent(ended(ctx))
	}
	select {
	case <-c.done:
		return transport.Unsent(c.err)
	default:
	}
	if c.opts.Timeout > 0 {
		var cancel context.CancelFunc
		limit := &TimeoutError{Method: method, Limit: c.opts.Timeout}
		ctx, cancel = context.WithTimeoutCause(ctx, c.opts.Timeout, limit)
		defer cancel()
	}
	m := &transport.Message{Method: method, Params: params}
	err := c.conn.Send(ctx, transport.Outgoing{Message: m, Version: c.version(), Deliver: c.dispatch})
	if err != nil && ctx.Err() != nil {
		return ended(ctx)
	}
	return err
}

// objectParams encodes params, nil if there are none.
func objectParams(params any) (json.RawMessage, error) {
	raw, err := jsonscan.AppendValue(nil, params)
	if err != nil {
		return nil, err
	}
	switch d := jsonscan.New(raw); d.Kind() {
	case jsonscan.Object:
		return raw, nil
	case jsonscan.Null:
		return nil, nil
	default:
		return nil, fmt.Errorf("params are %v, not an object", d.Kind())
	}
}

// clip shortens text of the server's for an error message.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
