package mcptest_test

import (
	"context"
	"encoding/json"
	"github.com/seed62b61957/mcp/transport"
)

func one(m *transport.Message) transport.Outgoing { return transport.Outgoing{Message: m} }

// notification returns one whose text a test can tell from others.
func notification(method string) *transport.Message {
	return &transport.Message{Method: method, Params: json.RawMessage(`{"text":"` + method + `"}`)}
}

// drain returns what arrives until the connection ends: the methods, "fault" for what is no message.
func drain(conn transport.Conn) []string {
	var all []string
	for {
		m, err := conn.Receive(context.Background())
		switch {
		case err != nil:
			return all
		case m.Fault != nil:
			all = append(all, "fault")
		default:
			all = append(all, m.Method)
		}
	}
}
