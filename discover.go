package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// discover asks a modern server for what it is and which revisions it speaks. If it refuses and names a revision that
// both speak, it is asked once more, in that one.
func (c *Client) discover(ctx context.Context) (*ServerInfo, error) {
	accepted := modernVersions(c.opts.Versions)
	server, err := c.discoverIn(ctx, accepted[0])
	if named := mutual(accepted, supportedVersions(err)); named != "" {
		return c.discoverIn(ctx, named)
	}
	return server, err
}

func (c *Client) discoverIn(ctx context.Context, version string) (*ServerInfo, error) {
	meta, err := c.opts.modernMeta(version)
	if err != nil {
		return nil, err
	}
	o := c.callOptions(nil)
	in := &session{meta: meta, server: ServerInfo{ProtocolVersion: version}}
	r := &request{method: "server/discover", opening: true, in: in}
	answer, err := c.attempt(ctx, r, &o)
	if err == nil && answer.Error != nil {
		err = answer.Error
	}
	if err != nil {
		return nil, fmt.Errorf("server/discover: %w", err)
	}
	result, notes, err := decodeResult[discoverResult](answer.Result)
	if err != nil {
		return nil, fmt.Errorf("server/discover: unusable result: %w", err)
	}
	accepted := modernVersions(c.opts.Versions)
	if result.server.ProtocolVersion = mutual(accepted, result.supported); result.server.ProtocolVersion == "" {
		return nil, &VersionError{Offered: result.supported, Accepted: accepted}
	}
	c.tolerated("server/discover", notes)
	return &result.server, nil
}

// mutual is the newest version that is in both lists, "" if there is none.
func mutual(accepted, offered []string) string {
	for _, v := range accepted {
		if slices.Contains(offered, v) {
			return v
		}
	}
	return ""
}

// adopt begins to speak the modern revision that a server has agreed to. There is nothing to tell the server.
func (c *Client) adopt(server *ServerInfo) error {
	meta, err := c.opts.modernMeta(server.ProtocolVersion)
	if err != nil {
		return err
	}
	c.session.Store(&session{server: *server, meta: meta})
	return nil
}

// discoverResult is the result of server/discover.
type discoverResult struct {
	supported []string
	server    ServerInfo
}

func (r *discoverResult) decode(d *decoder) {
	for name := range d.members() {
		switch string(name) {
		case "supportedVersions":
			if d.must(jsonscan.Array) {
				r.supported = texts[string](d)
			}
		case "ttlMs", "cacheScope":
			r.server.Cache.member(d, name)
		default:
			r.server.member(d, name)
		}
	}
	if info := r.server.Meta[metaServerInfo]; info != nil && r.server.Info.Name == "" {
		if err := json.Unmarshal(info, &r.server.Info); err != nil {
			d.note("unusable serverInfo in _meta")
		}
	}
}
