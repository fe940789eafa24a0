package interop

import (
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A bridge serves both eras with a server of one. What that server says of changes comes through, what it refuses is
// refused, and its process goes with the bridge.
func TestBridge(t *testing.T) {
	for _, s := range []server{mcpProxy, mcpProxySSE} {
		for _, version := range s.versions() {
			t.Run(s.name+"/"+version, func(t *testing.T) {
				c := connect(t, s, mcp.Options{Versions: []string{version}})
				require.Len(t, marked(c.mark), 2, "the bridge and the server behind it")
				f := mcp.Filter{Tools: true, URIs: []string{"test://note"}}
				sub, err := c.Listen(c.ctx(), f)
				require.NoError(t, err)
				assert.Equal(t, f, sub.Accepted())
				c.text("add-tool", nil)
				assert.Equal(t, mcp.Event{Kind: mcp.ToolsChanged}, c.next(sub))
				assert.Equal(t, "here", c.text("added-1", nil))
				c.text("touch-note", nil)
				assert.Equal(t, mcp.Event{Kind: mcp.ResourceUpdated, URI: "test://note"}, c.next(sub))
				require.NoError(t, sub.Close())

				result, err := c.CallTool(c.ctx(), "fail", nil)
				require.NoError(t, err)
				assert.True(t, result.IsError)
				_, err = c.ReadResource(c.ctx(), "test://nothing")
				var refusal *mcp.RPCError
				require.ErrorAs(t, err, &refusal)
				assert.EqualValues(t, mcp.CodeInvalidParams, refusal.Code)
			})
		}
	}
}
