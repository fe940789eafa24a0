package llmcontent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

func catalog(t *testing.T, tools ...*mcp.Tool) *Catalog {
	t.Helper()
	functions, skipped := Functions("s", tools, Plain)
	require.Empty(t, skipped)
	return NewToolCatalog(functions)
}

// numbered returns tools with a description of a number of bytes.
func numbered(n, description int) []*mcp.Tool {
	var tools []*mcp.Tool
	for i := range n {
		tools = append(tools, &mcp.Tool{Name: fmt.Sprintf("tool%03d", i), Description: strings.Repeat("d", description)})
	}
	return tools
}

func TestPages(t *testing.T) {
	c := catalog(t, numbered(45, 10)...)
	var names []string
	for offset := 0; ; {
		p, err := c.Page(offset, 0, Full)
		require.NoError(t, err)
		assert.Equal(t, 45, p.Total)
		assert.Equal(t, len(p.Entries), p.Shown)
		assert.False(t, p.Truncated)
		for _, e := range p.Entries {
			names = append(names, e.Name)
			assert.Equal(t, `{"type":"object","properties":{}}`, string(e.Parameters))
		}
		if p.NextOffset == nil {
			assert.Equal(t, 5, p.Shown)
			break
		}
		assert.Equal(t, 20, p.Shown)
		offset = *p.NextOffset
	}
	require.Len(t, names, 45)
	assert.Equal(t, "mcp__s__tool044", names[44])

	p, err := c.Page(45, 100, Full)
	require.NoError(t, err)
	b, err := json.Marshal(p)
	require.NoError(t, err)
	assert.JSONEq(t, `{"entries":[],"total":45,"shown":0,"truncated":false}`, string(b))

	for _, bad := range [][2]int{{-1, 1}, {46, 1}, {0, -1}, {0, 101}} {
		_, err := c.Page(bad[0], bad[1], Full)
		assert.ErrorContains(t, err, "llmcontent: page: ")
	}
	_, err = c.Page(0, 100, Full)
	assert.NoError(t, err)
}

func TestPagesEndBeforeTheyAreTooLarge(t *testing.T) {
	c := catalog(t, numbered(100, 3000)...)
	for offset, pages := 0, 0; ; pages++ {
		p, err := c.Page(offset, 100, Full)
		require.NoError(t, err)
		b, err := json.Marshal(p)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(b), 64<<10)
		if p.NextOffset == nil {
			assert.False(t, p.Truncated)
			assert.Equal(t, 4, pages)
			return
		}
		assert.True(t, p.Truncated)
		assert.Greater(t, len(b), 60<<10)
		offset = *p.NextOffset
	}
}

func TestADescriptorThatIsTooLargeIsNamed(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("<", 20<<10) + `"}}}`
	c := catalog(t, &mcp.Tool{Name: "small"},
		&mcp.Tool{Name: "large", Description: "Does it.\nAt length.", InputSchema: json.RawMessage(schema)})
	p, err := c.Page(0, 10, Full)
	require.NoError(t, err)
	assert.Equal(t, Entry{Name: "mcp__s__large", Description: "Does it.", DescriptorOmitted: true}, p.Entries[1])
	assert.False(t, p.Truncated)

	e, err := c.Describe("mcp__s__large")
	require.NoError(t, err)
	assert.Equal(t, schema, string(e.Parameters))
	_, err = c.Describe("large")
	assert.EqualError(t, err, `llmcontent: there is no "large" in the catalog`)
	_, err = c.Describe(strings.Repeat("x", 1<<20))
	assert.Less(t, len(err.Error()), 300)

	huge := catalog(t, &mcp.Tool{Name: "huge", Description: strings.Repeat("d", 1<<20)})
	_, err = huge.Describe("mcp__s__huge")
	assert.ErrorContains(t, err, `"mcp__s__huge" has 1048`)
}

func TestDetails(t *testing.T) {
	c := catalog(t,
		&mcp.Tool{Name: "a", Title: "The A", Description: "One.\nTwo."},
		&mcp.Tool{Name: "b", Title: "The B"})
	p, err := c.Page(0, 0, Brief)
	require.NoError(t, err)
	want := []Entry{{Name: "mcp__s__a", Description: "One."}, {Name: "mcp__s__b", Description: "The B"}}
	assert.Equal(t, want, p.Entries)
	p, err = c.Page(0, 0, NamesOnly)
	require.NoError(t, err)
	assert.Equal(t, []Entry{{Name: "mcp__s__a"}, {Name: "mcp__s__b"}}, p.Entries)
}

func TestPromptCatalog(t *testing.T) {
	c := NewPromptCatalog("s", []*mcp.Prompt{
		{Name: "review", Title: "Code review", Arguments: []mcp.PromptArgument{{Name: "diff", Required: true}}},
		{Name: "plain", Title: "plain", Description: "Nothing."},
	})
	p, err := c.Page(0, 0, Full)
	require.NoError(t, err)
	assert.Equal(t, []Entry{
		{Name: "mcp__s__review", Title: "Code review", Arguments: json.RawMessage(`[{"name":"diff","required":true}]`)},
		{Name: "mcp__s__plain", Description: "Nothing."},
	}, p.Entries)
	p, err = c.Search("DIFF", 0, 0, NamesOnly)
	require.NoError(t, err)
	assert.Equal(t, []Entry{{Name: "mcp__s__review"}}, p.Entries)
}

func TestSearch(t *testing.T) {
	properties := func(names ...string) json.RawMessage {
		var list []string
		for _, name := range names {
			list = append(list, fmt.Sprintf("%q:{}", name))
		}
		return json.RawMessage(`{"properties":{` + strings.Join(list, ",") + `}}`)
	}
	c := catalog(t,
		&mcp.Tool{Name: "createIssue", Description: "Opens an issue in a repository.",
			InputSchema: properties("repository", "title")},
		&mcp.Tool{Name: "list_issues", Description: "Lists the issues."},
		&mcp.Tool{Name: "send-mail", Title: "Send a message", Description: "Sends mail about an issue.",
			InputSchema: properties("recipientAddress")},
		&mcp.Tool{Name: "weather", Description: "Wetter in Zürich: 天気."},
	)
	for query, want := range map[string][]string{
		"issue":           {"mcp__s__list_issues", "mcp__s__createIssue", "mcp__s__send-mail"},
		"create an issue": {"mcp__s__createIssue", "mcp__s__send-mail", "mcp__s__list_issues"},
		"createissue":     {"mcp__s__createIssue"},
		"ADDRESS":         {"mcp__s__send-mail"},
		"message":         {"mcp__s__send-mail"},
		"zürich":          {"mcp__s__weather"},
		"天気":              {"mcp__s__weather"},
		"mail weather":    {"mcp__s__weather", "mcp__s__send-mail"},
		"teapot":          nil,
		"":                nil,
	} {
		for range 3 {
			p, err := c.Search(query, 0, 0, NamesOnly)
			require.NoError(t, err)
			var got []string
			for _, e := range p.Entries {
				got = append(got, e.Name)
			}
			assert.Equal(t, want, got, query)
			assert.Equal(t, len(want), p.Total)
		}
	}
	p, err := c.Search("issues", 1, 1, Full)
	require.NoError(t, err)
	assert.Equal(t, []int{3, 1, 2}, []int{p.Total, p.Shown, *p.NextOffset})
	for _, limit := range []int{-1, 101} {
		_, err := c.Search("issue", 0, limit, Full)
		assert.ErrorContains(t, err, "llmcontent: search: ")
	}
	empty, err := catalog(t).Search("x", 0, 0, Full)
	require.NoError(t, err)
	assert.Zero(t, empty.Total)
}
