package mcp

import (
	"log/slog"
	"unique"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// ServerInfo is what a server said of itself when the connection was made.
type ServerInfo struct {
	Info            Implementation
	ProtocolVersion string // the revision that was agreed on; a host may remember it, and pin it next time
	Capabilities    ServerCapabilities
	// Instructions tell a model how to use the server; may be empty.
	Instructions string
	// Cache says for how long the server stands by all this (2026-07-28). The client does not ask again by itself.
	Cache CacheHints
	Meta  Meta
}

// Modern reports whether the revision is 2026-07-28 or later: without a handshake, and with no state in the connection.
func (s *ServerInfo) Modern() bool { return isModern(s.ProtocolVersion) }

// decode reads the result of initialize. A version that is missing or of the wrong type is left to the caller.
func (s *ServerInfo) decode(d *decoder) {
	if !d.must(jsonscan.Object) {
		return
	}
	for name := range d.members() {
		if string(name) == "protocolVersion" {
			s.ProtocolVersion = d.text()
			continue
		}
		s.member(d, name)
	}
}

// member reads what both ways to begin tell.
func (s *ServerInfo) member(d *decoder, name []byte) {
	switch string(name) {
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

// session is what was agreed on with the server. It never changes.
type session struct {
	server ServerInfo
	meta   commonMeta // goes with every request; zero for legacy revisions
}

// A nil session is the time before anything was agreed on.

func (s *session) modern() bool { return s != nil && s.meta != commonMeta{} }

func (s *session) version() string {
	if s == nil {
		return ""
	}
	return s.server.ProtocolVersion
}

func (s *session) commonMeta() string {
	if !s.modern() {
		return ""
	}
	return s.meta.Value()
}

// commonMeta are members of _meta, as JSON text without the braces. Clients that introduce themselves alike share it.
type commonMeta = unique.Handle[string]

// Server tells whom the client is connected to, and what was agreed on. The same value is returned every time; treat it
// as read-only.
func (c *Client) Server() *ServerInfo {
	if s := c.session.Load(); s != nil {
		return &s.server
	}
	return &ServerInfo{} // asked by a handler that runs before Connect has returned
}

// version is the revision that was agreed on, "" until then.
func (c *Client) version() string { return c.session.Load().version() }

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
