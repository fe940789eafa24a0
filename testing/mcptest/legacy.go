package mcptest

import (
	"context"
	"encoding/json"

	"github.com/seed62b61957/mcp"
)

// In the revisions until 2025-11-25 a session begins with initialize (basic/lifecycle).

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
	if version == "" {
		return nil, s.unsupported(params.Version)
	}
	call.Session.initialize(version, params.Info, params.Capabilities)
	return struct {
		Version      string             `json:"protocolVersion"`
		Capabilities any                `json:"capabilities"`
		Info         mcp.Implementation `json:"serverInfo"`
		Instructions string             `json:"instructions,omitempty"`
	}{version, s.capabilities(), s.info(), s.Instructions}, nil
}

// legacyVersion is the version that the client asks for, if the server speaks it, and else the newest that it can speak
// after a handshake; "" if there is none.
func (s *Server) legacyVersion(asked string) string {
	newest := ""
	for _, v := range s.versions() {
		if isModern(v) {
			continue
		}
		if v == asked {
			return asked
		}
		newest = max(newest, v)
	}
	return newest
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
