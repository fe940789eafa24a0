package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// handshake agrees with the server on a legacy revision (2025-11-25, basic/lifecycle).
func (c *Client) handshake(ctx context.Context) error {
	server, err := c.agree(ctx)
	if err != nil {
		return err
	}
	return c.settle(ctx, server)
}

// settle ends the handshake with a server that has agreed.
func (c *Client) settle(ctx context.Context, server *ServerInfo) error {
	c.session.Store(&session{server: *server})
	if err := c.attemptNotify(ctx, "notifications/initialized", nil); err != nil {
		return fmt.Errorf("notifications/initialized: %w", err)
	}
	return nil
}

// agree sends initialize, and once more if the server names another version than the one it was asked for.
func (c *Client) agree(ctx context.Context) (*ServerInfo, error) {
	accepted := legacyVersions(c.opts.Versions)
	version := accepted[0]
	server, err := c.initialize(ctx, version)
	if other := c.alternative(err, version); other != "" {
		version = other
		server, err = c.initialize(ctx, version)
	}
	if err != nil {
		return nil, err
	}
	if server.ProtocolVersion == "" {
		c.log.Warn("the server named no protocol version; assuming the one that it was asked for")
		server.ProtocolVersion = version
	}
	if !slices.Contains(accepted, server.ProtocolVersion) {
		return nil, &VersionError{Offered: []string{clip(server.ProtocolVersion, 64)}, Accepted: c.opts.Versions}
	}
	return server, nil
}

// alternative is the newest version to ask for after a server refused the first, if it named one that both sides speak.
func (c *Client) alternative(err error, refused string) string {
	for _, v := range legacyVersions(c.opts.Versions) {
		if v != refused && slices.Contains(supportedVersions(err), v) {
			return v
		}
	}
	return ""
}

// supportedVersions are the versions that a server named when it refused one; nil if it did not, or err is something
// else.
func supportedVersions(err error) []string {
	var rpc *RPCError
	if !errors.As(err, &rpc) {
		return nil
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	if json.Unmarshal(rpc.Data, &data) != nil {
		return nil
	}
	return data.Supported
}

// initialize sends the initialize request for a version and returns what the server answered.
func (c *Client) initialize(ctx context.Context, version string) (*ServerInfo, error) {
	params, err := jsonscan.AppendValue(nil, struct {
		Version      string              `json:"protocolVersion"`
		Capabilities *clientCapabilities `json:"capabilities"`
		Info         Implementation      `json:"clientInfo"`
	}{version, c.opts.capabilities(false), c.opts.Info})
	if err != nil {
		return nil, err
	}
	c.hear()
	o := c.callOptions(nil)
	r := &request{method: "initialize", params: params, opening: true}
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
