package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed62b61957/mcp"
)

// Which revision a request is served by (2026-07-28, basic/versioning). A request of a modern one says so itself; a
// legacy one depends on the session.

// Members of _meta that the protocol reserves (2026-07-28, basic, General fields).
const (
	metaVersion        = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo     = "io.modelcontextprotocol/clientInfo"
	metaCapabilities   = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel       = "io.modelcontextprotocol/logLevel"
	metaServerInfo     = "io.modelcontextprotocol/serverInfo"
	metaSubscriptionID = "io.modelcontextprotocol/subscriptionId"
)

var allVersions = []string{
	mcp.Version20260728, mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105,
}

// Revisions are dates, and compare as text.
func isModern(version string) bool { return version >= mcp.Version20260728 }
func isLegacy(version string) bool { return !isModern(version) }

func (s *Server) versions() []string {
	if len(s.Versions) == 0 {
		return allVersions
	}
	return s.Versions
}

// admit decides which revision a call is served by, and returns the error that it is refused with, if it is.
func (x *Session) admit(c *Call) error {
	if c.modern = x.isModernCall(c); !c.modern {
		c.Version = x.Version()
		return nil
	}
	var client mcp.Implementation
	_, _ = c.Meta.Decode(metaClientInfo, &client)
	err := c.checkMeta()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.modernOpened = true
	if err == nil {
		x.version, x.client, x.capabilities = c.Version, client, c.Meta[metaCapabilities]
	}
	return err
}

// isModernCall reports whether a call is one of a modern revision, well-formed or not.
func (x *Session) isModernCall(c *Call) bool {
	versions := x.server.versions()
	switch {
	case c.Method == "initialize" || !slices.ContainsFunc(versions, isModern):
		return false
	case c.Meta[metaVersion] != nil || modernMethods[c.Method] != nil || !slices.ContainsFunc(versions, isLegacy):
		return true
	}
	return x.modern() // it forgot to say
}

// modern reports whether the client opened the session with a request of a modern revision.
func (x *Session) modern() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.modernOpened && !x.initialized
}

// checkMeta checks what every request has to carry.
func (c *Call) checkMeta() error {
	if _, err := c.Meta.Decode(metaVersion, &c.Version); err != nil || c.Version == "" {
		return invalidMeta(metaVersion)
	}
	if !isModern(c.Version) || !slices.Contains(c.Session.server.versions(), c.Version) {
		return c.Session.server.unsupported(c.Version)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(c.Meta[metaCapabilities]), []byte("{")) {
		return invalidMeta(metaCapabilities)
	}
	if _, err := c.logLevel(); err != nil {
		return err
	}
	return nil
}

// logLevel is the level that a modern request asks for log messages with, "" if it wants none.
func (c *Call) logLevel() (mcp.LogLevel, error) {
	var level mcp.LogLevel
	found, err := c.Meta.Decode(metaLogLevel, &level)
	if found && (err != nil || mcp.LogLevelOf(level.Level()) != level) { // unknown ones count as info
		return "", invalidMeta(metaLogLevel)
	}
	return level, nil
}

func invalidMeta(member string) error {
	return &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: "missing or malformed in _meta: " + member}
}

// unsupported refuses a revision. The message names the others as well: it may be all that a legacy client shows.
func (s *Server) unsupported(requested string) error {
	data, err := encoded(map[string]any{"supported": s.versions(), "requested": requested})
	if err != nil {
		return err
	}
	return &mcp.RPCError{
		Code:    mcp.CodeUnsupportedProtocolVersion,
		Message: fmt.Sprintf("unsupported protocol version %q, not %s", requested, strings.Join(s.versions(), ", ")),
		Data:    data,
	}
}

// cacheable are the methods whose results say for how long they may be kept (server/utilities/caching).
var cacheable = map[string]bool{
	"server/discover":          true,
	"tools/list":               true,
	"prompts/list":             true,
	"resources/list":           true,
	"resources/templates/list": true,
	"resources/read":           true,
}

// stamped adds to a result what modern revisions want on it, unless it is there.
func (c *Call) stamped(result any) (json.RawMessage, error) {
	raw, err := encoded(result)
	if err != nil {
		return nil, err
	}
	s := c.Session.server
	extra := map[string]any{"resultType": "complete"}
	if _, asks := result.(*inputRequired); cacheable[c.Method] && !asks {
		extra["ttlMs"], extra["cacheScope"] = s.TTL.Milliseconds(), "private"
	}
	if raw, err = withMembers(raw, extra); err != nil {
		return nil, err
	}
	return withMeta(raw, map[string]any{metaServerInfo: s.info()})
}

// withMeta adds members to the _meta of an object, unless they are there.
func withMeta(object json.RawMessage, extra map[string]any) (json.RawMessage, error) {
	var has struct {
		Meta json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(object, &has); err != nil || has.Meta == nil {
		return withMembers(object, map[string]any{"_meta": extra})
	}
	meta, err := withMembers(has.Meta, extra)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	members["_meta"] = meta
	return encoded(members)
}

// withMembers adds members to an object, unless they are there. What is no object stays as it is: a test wants it so.
func withMembers(object json.RawMessage, extra map[string]any) (json.RawMessage, error) {
	members := make(map[string]json.RawMessage)
	if err := json.Unmarshal(object, &members); err != nil || members == nil {
		return object, nil
	}
	for name, value := range extra {
		if members[name] != nil {
			continue
		}
		var err error
		if members[name], err = encoded(value); err != nil {
			return nil, err
		}
	}
	return encoded(members)
}
