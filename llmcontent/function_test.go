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

func TestFunctionsInEachDialect(t *testing.T) {
	readOnly := true
	tool := &mcp.Tool{
		Name: "read file", Title: "Read a file", Description: "Reads <a> file.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"}},"required":["z"]}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: &readOnly},
	}
	const name, loose = "mcp__files__read_file_e8c588a7f0d9",
		`{"type":"object","properties":{"z":{"type":"string"}},"required":["z"],"title":"Read a file"}`
	const strict = `{"type":"object","properties":{"z":{"type":"string"}},"required":["z"],"additionalProperties":false}`
	const head = `"name":"` + name + `","description":"Reads <a> file.",`
	for d, want := range map[Dialect]string{
		Plain: `{"name":"` + name + `","title":"Read a file","description":"Reads <a> file.",` +
			`"parameters":{"type":"object","properties":{"z":{"type":"string"}},"required":["z"]},` +
			`"annotations":{"readOnlyHint":true}}`,
		OpenAIChat:            `{"type":"function","function":{` + head + `"parameters":` + loose + `}}`,
		OpenAIChatStrict:      `{"type":"function","function":{` + head + `"parameters":` + strict + `,"strict":true}}`,
		OpenAIResponses:       `{"type":"function",` + head + `"parameters":` + loose + `,"strict":false}`,
		OpenAIResponsesStrict: `{"type":"function",` + head + `"parameters":` + strict + `,"strict":true}`,
		Anthropic:             `{` + head + `"input_schema":` + loose + `}`,
		Gemini: `{` + head + `"parameters":{"type":"OBJECT","title":"Read a file",` +
			`"properties":{"z":{"type":"STRING"}},"required":["z"]}}`,
	} {
		t.Run(d.String(), func(t *testing.T) {
			functions, skipped := Functions("files", []*mcp.Tool{tool}, d)
			require.Empty(t, skipped)
			b, err := functions[0].MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, want, string(b))
			assert.Same(t, tool, functions[0].Tool)
			assert.Equal(t, "files", functions[0].Server)
			assert.Same(t, functions[0], Find(functions, name))
			assert.Nil(t, Find(functions, "other"))
		})
	}
	for _, d := range []Dialect{-1, 7, 9} {
		assert.Equal(t, "unknown", d.String())
	}
}

func TestFunctionOfAToolWithoutADescription(t *testing.T) {
	tools := []*mcp.Tool{{Name: "now", Title: "Current time"}, {Name: "then", Title: "then"}}
	functions, _ := Functions("clock", tools, Anthropic)
	assert.Equal(t, "Current time", functions[0].Description)
	assert.Equal(t, `{"type":"object","properties":{}}`, string(functions[0].Parameters), "it is said once")
	assert.Empty(t, functions[1].Description)
}

func TestToolsThatCannotBeExpressedAreSkipped(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	good := &mcp.Tool{Name: "good"}
	deep := strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200)
	tools := []*mcp.Tool{
		nil,
		{},
		{Name: "broken", InputSchema: raw(`{"type":`)},
		{Name: "large", InputSchema: raw(`{"description":"` + strings.Repeat("x", 1<<20) + `"}`)},
		{Name: "deep", InputSchema: raw(deep)},
		good,
		{Name: "good", Description: "another"},
		{Name: strings.Repeat("n", 1<<20), InputSchema: raw(`{`)},
		{Name: strings.Repeat("n", 1<<20)},
		{Name: strings.Repeat("n", 1<<20)},
	}
	for _, d := range dialects {
		functions, skipped := Functions("s", tools, d)
		require.Len(t, functions, 2)
		assert.Same(t, good, functions[0].Tool)
		require.Len(t, skipped, 8)
		for i, want := range []string{
			"llmcontent: a tool has no name",
			"llmcontent: a tool has no name",
			`llmcontent: tool "broken": its input schema cannot be expressed: type: unexpected end`,
			`llmcontent: tool "large": its input schema cannot be expressed: it has 1048594 bytes, at most 1048576 are`,
			`llmcontent: tool "deep": its input schema cannot be expressed: `,
			`llmcontent: tool "good": an earlier one has the same name`,
			`…": its input schema cannot be expressed: unexpected end`,
			`…": an earlier one has the same name`,
		} {
			assert.ErrorContains(t, skipped[i].Err, want)
			assert.Less(t, len(skipped[i].Err.Error()), 1000)
		}
		assert.Same(t, tools[2], skipped[2].Tool)
	}
}

func TestFunctionsAreTheSameBytesEachTime(t *testing.T) {
	var tools []*mcp.Tool
	for i, c := range troubles(t) {
		tools = append(tools, &mcp.Tool{Name: fmt.Sprint(i), InputSchema: json.RawMessage(c.schema)})
	}
	for _, d := range dialects {
		first, _ := Functions("s", tools, d)
		want, err := json.Marshal(first)
		require.NoError(t, err)
		for range 5 {
			again, _ := Functions("s", tools, d)
			got, err := json.Marshal(again)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		}
	}
}
