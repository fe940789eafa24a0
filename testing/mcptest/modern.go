package mcptest

import (
	"context"
	"encoding/json"

	"github.com/seed62b61957/mcp"
)

// In the revisions since 2026-07-28 there is no handshake: a client may ask what the server is (server/discover).

func discover(_ context.Context, call *Call) (any, error) {
	s := call.Session.server
	capabilities := s.capabilities()
	if offered, ok := capabilities.(mcp.ServerCapabilities); ok && s.offersTasks() {
		offered.Extensions = map[string]json.RawMessage{tasksExtension: json.RawMessage("{}")}
		capabilities = offered
	}
	return struct {
		Versions     []string `json:"supportedVersions"`
		Capabilities any      `json:"capabilities"`
		Instructions string   `json:"instructions,omitempty"`
	}{s.versions(), capabilities, s.Instructions}, nil
}
