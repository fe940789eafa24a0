package interop

import (
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the memory server is told it tells again, as structured content that its own schema describes.
func TestMemory(t *testing.T) {
	type entity struct {
		Name         string   `json:"name"`
		Type         string   `json:"entityType"`
		Observations []string `json:"observations"`
	}
	type graph struct {
		Entities []entity `json:"entities"`
	}
	c := connect(t, memory, mcp.Options{})
	told := []entity{{"Basel", "city", []string{"lies on the Rhine", "a<b && c>d", "\u2028 and 𝄞"}}}

	created, err := mcp.CallToolAs[graph](c.ctx(), c.Client, "create_entities", map[string]any{"entities": told})
	require.NoError(t, err)
	assert.Equal(t, told, created.Entities)
	found, err := mcp.CallToolAs[graph](c.ctx(), c.Client, "search_nodes", map[string]any{"query": "Rhine"})
	require.NoError(t, err)
	assert.Equal(t, told, found.Entities)

	read, err := c.ReadResource(c.ctx(), "memory://knowledge-graph")
	require.NoError(t, err)
	require.Len(t, read.Contents, 1)
	assert.Contains(t, read.Contents[0].Text, "lies on the Rhine")
}
