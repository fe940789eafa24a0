package mcptest

import "context"

// In the revisions since 2026-07-28 there is no handshake: a client may ask what the server is (server/discover).

func discover(_ context.Context, call *Call) (any, error) {
	s := call.Session.server
	return struct {
		Versions     []string `json:"supportedVersions"`
		Capabilities any      `json:"capabilities"`
		Instructions string   `json:"instructions,omitempty"`
	}{s.versions(), s.capabilities(), s.Instructions}, nil
}
