package mcptest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/seed62b61957/mcp"
)

// In the revisions until 2025-11-25 a session begins with initialize (basic/lifecycle).

var legacyVersions = []string{
	mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105,
}

func initialize(_ context.Context, call *Call) (any, error) {
	var params struct {
		Version      string             `json:"protocolVersion"`
		Capabilities json.RawMessage    `json:"capabilities"`
		Info         mcp.Implementation `json:"clientInfo"`
	}
	if err := json.Unmarshal(call.params(), &params); err != nil {
		return nil, &mcp.RPCError{Code: mcp.CodeInvalidParams, Message: err.Error()}
	}
	s := call.Session.server
	version := s.legacyVersion(params.Version)
	call.Session.initialized(version, params.Info, params.Capabilities)
	return struct {
		Version      string             `json:"protocolVersion"`
		Capabilities any                `json:"capabilities"`
		Info         mcp.Implementation `json:"serverInfo"`
		Instructions string             `json:"instructions,omitempty"`
	}{version, s.capabilities(), s.info(), s.Instructions}, nil
}

// legacyVersion is the version that the client asks for, if the server speaks it, and else the server's newest.
func (s *Server) legacyVersion(asked string) string {
	versions := s.Versions
	if len(versions) == 0 {
		versions = legacyVersions
	}
	if slices.Contains(versions, asked) {
		return asked
	}
	return slices.Max(versions) // they are dates
}

func (s *Server) info() mcp.Implementation {
	info := s.Info
	if info.Name == "" {
		info.Name = "mcptest"
	}
	if info.Version == "" {
		info.Version = "1"
	}
	return info
}

func (s *Server) capabilities() any {
	if s.Capabilities != nil {
		return s.Capabilities
	}
	var c mcp.ServerCapabilities
	if s.tools.offered() {
		c.Tools = &mcp.ToolsCapability{ListChanged: true}
	}
	if s.offersResources() {
		c.Resources = &mcp.ResourcesCapability{Subscribe: true, ListChanged: true}
	}
	if s.prompts.offered() {
		c.Prompts = &mcp.PromptsCapability{ListChanged: true}
	}
	c.Logging = s.Logging
	c.Completions = s.Complete != nil
	return c
}
