package interop

import (
	"encoding/json"
	"testing"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/modelrules"
	"github.com/seed62b61957/mcp/llmcontent"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every tool of every server is a function in each dialect that the rules of its provider allow. No property is lost,
// and arguments come back as the tool expects them.
func TestEveryToolForEveryModel(t *testing.T) {
	schemas := 0
	for _, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			c := connect(t, s, mcp.Options{})
			tools, err := c.ListTools(c.ctx())
			require.NoError(t, err)
			schemas += len(tools)
			plain, skipped := llmcontent.Functions(s.name, tools, llmcontent.Plain)
			require.Empty(t, skipped)
			for _, d := range []llmcontent.Dialect{
				llmcontent.Plain, llmcontent.OpenAIChat, llmcontent.OpenAIChatStrict, llmcontent.OpenAIResponses,
				llmcontent.OpenAIResponsesStrict, llmcontent.Anthropic, llmcontent.Gemini,
			} {
				functions, skipped := llmcontent.Functions(s.name, tools, d)
				require.Empty(t, skipped)
				require.Len(t, functions, len(tools))
				for i, f := range functions {
					suits(t, plain[i], f)
				}
			}
		})
	}
	assert.GreaterOrEqual(t, schemas, 200)
	t.Logf("%d schemas", schemas)
}

func suits(t *testing.T, plain, f *llmcontent.Function) {
	t.Helper()
	definition, err := json.Marshal(f)
	require.NoError(t, err)
	assert.NoError(t, modelrules.Check(f.Dialect.String(), definition), "%s: %s", f.Dialect, definition)
	assert.Len(t, modelrules.Properties(f.Parameters), len(modelrules.Properties(plain.Parameters)),
		"%s: %s from %s", f.Dialect, definition, f.Tool.InputSchema)
	for _, s := range modelrules.Samples(plain.Parameters, f.Parameters) {
		args, err := f.Arguments(string(s.Model))
		require.NoError(t, err)
		assert.Equal(t, string(s.Tool), string(args), "%s: %s", f.Dialect, definition)
	}
}
