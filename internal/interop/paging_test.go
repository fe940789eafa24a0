package interop

import (
	"fmt"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The server of 2024-11-05 has a hundred resources on ten pages.
func TestPages(t *testing.T) {
	c := connect(t, everything2024, mcp.Options{})
	resources, err := c.ListResources(c.ctx())
	require.NoError(t, err)
	require.Len(t, resources, 100)
	for i, r := range resources {
		assert.Equal(t, fmt.Sprintf("test://static/resource/%d", i+1), r.URI)
	}

	page, err := c.ResourcesPage(c.ctx(), nil)
	require.NoError(t, err)
	assert.Len(t, page.Items, 10)
	require.NotNil(t, page.NextCursor)
	page, err = c.ResourcesPage(c.ctx(), page.NextCursor)
	require.NoError(t, err)
	assert.Equal(t, "test://static/resource/11", page.Items[0].URI)

	walked := 0
	for _, err := range c.Resources(c.ctx()) {
		require.NoError(t, err)
		if walked++; walked == 15 {
			break
		}
	}
	assert.Equal(t, 15, walked)
}

// More pages than the caller allows are an error, never a shorter list.
func TestPagesOverTheLimit(t *testing.T) {
	c := connect(t, everything2024, mcp.Options{MaxPages: 9})
	resources, err := c.ListResources(c.ctx())
	var tooMany *mcp.PageError
	require.ErrorAs(t, err, &tooMany)
	assert.Empty(t, resources)
}
