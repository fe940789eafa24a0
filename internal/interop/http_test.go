package interop

import (
	"net/http"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What only HTTP has.

// oursOverHTTP are reached over HTTP, and so are their siblings of one era.
var oursOverHTTP = []server{typescriptHTTP, golangHTTP}

// Since 2026-07-28 there is nothing but the POST, and headers say what it is about. Before there is a session, which
// Close ends.
func TestHeaders(t *testing.T) {
	for _, s := range oursOverHTTP {
		inBothEras(t, s, func(t *testing.T, connect func(mcp.Options) *session) {
			c := connect(mcp.Options{})
			modern := c.Server().Modern()
			_, err := c.ListTools(c.ctx())
			require.NoError(t, err)
			c.text("echo", map[string]any{"message": "Basel"})
			_, err = c.ReadResource(c.ctx(), "test://note")
			require.NoError(t, err)
			c.closed()

			for _, test := range []struct{ method, name string }{
				{"tools/list", ""}, {"tools/call", "echo"}, {"resources/read", "test://note"},
			} {
				requests := c.http.byMessage(test.method)
				require.Len(t, requests, 1)
				header := requests[0].header
				assert.Equal(t, c.Server().ProtocolVersion, header.Get("Mcp-Protocol-Version"))
				assert.Equal(t, modern, header.Get("Mcp-Session-Id") == "")
				if modern {
					assert.Equal(t, test.method, header.Get("Mcp-Method"))
					assert.Equal(t, test.name, header.Get("Mcp-Name"))
				} else {
					assert.NotContains(t, header, "Mcp-Method")
					assert.NotContains(t, header, "Mcp-Name")
				}
			}
			gets, deletes := c.http.byMethod(http.MethodGet), c.http.byMethod(http.MethodDelete)
			if modern {
				assert.Empty(t, gets)
				assert.Empty(t, deletes)
				return
			}
			assert.NotEmpty(t, gets)
			require.Len(t, deletes, 1)
			assert.Equal(t, c.http.byMessage("tools/call")[0].header["Mcp-Session-Id"], deletes[0].header["Mcp-Session-Id"])
		})
	}
}

// Parameters that a tool marks are repeated in headers, encoded where they must be, and the servers compare both. A
// client that does not know the tool, or what it was before, learns that from the refusal.
func TestMarkedParameters(t *testing.T) {
	for _, s := range oursOverHTTP {
		t.Run(s.name, func(t *testing.T) {
			c := connect(t, s, mcp.Options{})
			arguments := map[string]any{"region": "Zürich", "target": map[string]any{"id": 7}}
			const region, target = "=?base64?WsO8cmljaA==?=", "mcp-param-target-id: 7"
			assert.Equal(t, "mcp-param-region: "+region+"\n"+target, c.text("route", arguments))
			c.text("rename-header", nil)
			assert.Equal(t, "mcp-param-area: "+region+"\n"+target, c.text("route", arguments))
			assert.Len(t, c.http.byMessage("tools/call"), 2+1+2, "a call that was refused is sent once more")
			assert.Len(t, c.http.byMessage("tools/list"), 2)
		})
	}
}

// Over stdio, and before 2026-07-28, there is no header to compare, and marked parameters are like any other.
func TestMarkedParametersWithoutHeaders(t *testing.T) {
	for _, s := range ours {
		for _, version := range bothEras {
			if s.path != "" && version == mcp.Version20260728 {
				continue
			}
			t.Run(s.name+"/"+version, func(t *testing.T) {
				c := connect(t, s, mcp.Options{Versions: []string{version}})
				assert.Empty(t, c.text("route", map[string]any{"region": "Zürich", "target": map[string]any{"id": 7}}))
			})
		}
	}
}
