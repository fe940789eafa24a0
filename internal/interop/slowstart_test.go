package interop

import (
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server that starts more slowly than the probe waits gets the handshake as well, right behind the probe. Whatever it
// makes of the two, both sides have the same era afterwards.
func TestSlowStart(t *testing.T) {
	for _, s := range []server{goSDK, mcpGo, typescript, typescriptModern, everything, leanspec, cortex, effect} {
		t.Run(s.name, func(t *testing.T) {
			line := append([]string{"-c", `sleep 1.5; exec "$@"`, "sh"}, s.commandLine(t)...)
			c := connectTo(t, "/bin/sh", line, answers(map[string]any{"name": "Ada", "city": "Basel", "random": "4"}))
			t.Log(c.Server().ProtocolVersion, c.opening)
			assert.Contains(t, c.text(s.call.name, s.call.args), s.call.text)
			switch s.name {
			case typescript.name, typescriptModern.name:
				assert.Equal(t, "Ada, file:///first, Basel", c.text("register", nil))
				sub, err := c.Listen(c.ctx(), mcp.Filter{Tools: true})
				require.NoError(t, err)
				c.text("add-tool", nil)
				assert.Equal(t, mcp.Event{Kind: mcp.ToolsChanged}, c.next(sub))
			case goSDK.name:
				result, err := c.CallTool(c.ctx(), "elicit (form)", nil)
				require.NoError(t, err)
				assert.Equal(t, c.Server().Modern(), result.IsError)
			case mcpGo.name:
				sub, err := c.Listen(c.ctx(), mcp.Filter{Tools: true})
				require.NoError(t, err)
				require.NoError(t, sub.Close())
			}
		})
	}
}
