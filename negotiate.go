package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/seed62b61957/mcp/internal/jsonscan"
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
	return c.attemptNotify(ctx, "notifications/initialized", nil)
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
	r := &request{method: "initialize", params: params, handshake: true}
	answer, err := c.attempt(ctx, r, &o)
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

// clip shortens text of the server's for an error message.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
