package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryContentTypeRoundTrips(t *testing.T) {
	for _, c := range []struct {
		text string
		want Content
	}{
		{`{"type":"text","text":"hi <b> & é","annotations":{"audience":["user","assistant"],"priority":0.5,
			"lastModified":"2025-01-12T15:00:58Z"},"_meta":{"x/y":{"n":9007199254740993}}}`, &TextContent{}},
		{`{"type":"text","text":""}`, &TextContent{}},
		{`{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png","annotations":{"priority":0}}`, &ImageContent{}},
		{`{"type":"audio","data":"UklGRg==","mimeType":"audio/wav","_meta":{"a":null}}`, &AudioContent{}},
		{`{"type":"resource_link","uri":"file:///a.rs","name":"a.rs","title":"A","description":"d","mimeType":"text/x-rust",
			"size":9007199254740993,"annotations":{"audience":["user"]},"icons":[{"src":"https://h/i.png","mimeType":"image/png",
			"sizes":["48x48"],"theme":"dark"}],"_meta":{"k":1}}`, &ResourceLink{}},
		{`{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"t"},
			"annotations":{"priority":1}}`,
			&EmbeddedResource{}},
		{`{"type":"resource","resource":{"uri":"file:///a","blob":"AAEC","_meta":{"k":1}},
			"_meta":{"k":2}}`, &EmbeddedResource{}},
		{`{"type":"tool_use","id":"1","name":"get","input":{"n":9007199254740993},"_meta":{"k":1}}`, &ToolUseContent{}},
		{`{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"a"}],"structuredContent":null,
			"isError":true,"_meta":{"k":1}}`, &ToolResultContent{}},
		{`{"type":"video","url":"https://h","n":1.0}`, &UnknownContent{}},
		{`{"n":1}`, &UnknownContent{}},
		{`{}`, &UnknownContent{}},
	} {
		content, err := UnmarshalContent([]byte(c.text))
		require.NoError(t, err, c.text)
		require.IsType(t, c.want, content)
		assert.JSONEq(t, c.text, written(t, content))
		require.NoError(t, json.Unmarshal([]byte(c.text), c.want), "by its own UnmarshalJSON")
		assert.Equal(t, content, c.want)

		// The same within a result, where the type comes last, and beside others.
		result := `{"content":[` + typeLast(c.text) + `,{"type":"text","text":"x"}]}`
		r, _ := read[CallToolResult](t, result)
		require.Len(t, r.Content, 2)
		require.IsType(t, c.want, r.Content[0])
		assert.JSONEq(t, result, written(t, r))
	}
}

// typeLast moves the first member of an object to its end.
func typeLast(text string) string {
	first, rest, ok := strings.Cut(strings.TrimPrefix(text, "{"), ",")
	if !ok || !strings.HasPrefix(first, `"type"`) {
		return text
	}
	return "{" + strings.TrimSuffix(rest, "}") + "," + first + "}"
}

func TestContentOfAnotherTypeIsRefused(t *testing.T) {
	var text TextContent
	require.EqualError(t, json.Unmarshal([]byte(`{"type":"image","data":"","mimeType":""}`), &text),
		"mcp: type: is of another type than text")
	_, err := UnmarshalContent([]byte(`null`))
	require.Error(t, err)
	_, err = UnmarshalContent([]byte(`"text"`))
	require.Error(t, err)
}

func TestUnknownContentBesideText(t *testing.T) { // field case 102
	const chart = `{"type":"chart", "points":[1.10]}`
	r, notes := read[CallToolResult](t, `{"content":[{"type":"text","text":"a"},`+chart+`,{"type":"text","text":"b"}]}`)
	require.Len(t, r.Content, 3)
	assert.Equal(t, &UnknownContent{Type: "chart", Raw: json.RawMessage(chart)}, r.Content[1])
	assert.Equal(t, "a\nb", r.Text())
	assert.Equal(t, []string{"content[1]: content of unknown type"}, notes)
}

func TestABlockThatLacksWhatItNeedsIsKeptRaw(t *testing.T) {
	for text, note := range map[string]string{
		`{"type":"text","content":"a"}`:                             "content[0]: has no text",
		`{"type":"text","text":null}`:                               "content[0]: has no text",
		`{"type":"image","source":{"type":"base64","data":"AA=="}}`: "content[0]: has no data",
		`{"type":"audio","data":["AA=="],
			"mimeType":"audio/wav"}`: "content[0].data: expected a string, found an array",
		`{"type":"resource_link","name":"n"}`:      "content[0]: has no uri",
		`{"type":"resource","uri":"u","text":"t"}`: "content[0]: has no resource",
		`{"type":"resource","resource":{"uri":"u",
			"blob":[1]}}`: "content[0].resource.blob: expected a string, found an array",
		`{"type":"tool_use","input":{}}`:                                "content[0]: has no id or no name",
		`{"type":"tool_result","content":[{"type":"text","text":"a"}]}`: "content[0]: has no toolUseId",
	} {
		r, notes := read[CallToolResult](t, `{"content":[`+text+`,{"type":"text","text":"after"}]}`)
		require.Len(t, r.Content, 2)
		unknown, ok := r.Content[0].(*UnknownContent)
		require.True(t, ok, text)
		assert.Equal(t, text, string(unknown.Raw))
		assert.NotEmpty(t, unknown.Type)
		assert.Equal(t, []string{note + ", kept as unknown content"}, notes)
		assert.Equal(t, "after", r.Text())
	}
}

func TestToolBlocksDoNotNest(t *testing.T) {
	inner := `{"type":"tool_result","toolUseId":"2","content":[]}`
	empty := `{"type":"text"}`
	r, _ := read[CallToolResult](t,
		`{"content":[{"type":"tool_result","toolUseId":"1","content":[`+inner+`,`+empty+`]},`+inner+`]}`)
	outer := r.Content[0].(*ToolResultContent)
	assert.Equal(t, &UnknownContent{Type: "tool_result", Raw: json.RawMessage(inner)}, outer.Content[0])
	assert.Equal(t, &UnknownContent{Type: "text", Raw: json.RawMessage(empty)}, outer.Content[1], "the id is not its text")
	assert.IsType(t, &ToolResultContent{}, r.Content[1])
}

func TestEmbeddedResources(t *testing.T) { // field case 103
	for text, want := range map[string]ResourceContents{
		`{"uri":"u","text":"t"}`:              {URI: "u", Text: "t"},
		`{"uri":"u","text":""}`:               {URI: "u"},
		`{"uri":"u","blob":"AAEC"}`:           {URI: "u", Blob: ptr("AAEC")},
		`{"uri":"u","blob":""}`:               {URI: "u", Blob: ptr("")},
		`{"uri":"u","blob":null,"text":"t"}`:  {URI: "u", Text: "t"},
		`{"uri":"u","blob":"","text":"t"}`:    {URI: "u", Text: "t"},
		`{"uri":"u","text":"t","blob":""}`:    {URI: "u", Text: "t"},
		`{"uri":"u","text":"","blob":"AAEC"}`: {URI: "u", Blob: ptr("AAEC")},
		`{"text":"t"}`:                        {Text: "t"},
		`{"uri":"u"}`:                         {URI: "u"},
	} {
		r, _ := read[CallToolResult](t, `{"content":[{"type":"resource","resource":`+text+`}]}`)
		assert.Equal(t, &want, r.Content[0].(*EmbeddedResource).Resource, text)
	}
	assert.JSONEq(t, `{"uri":"u","text":""}`, written(t, ResourceContents{URI: "u"}), "the schema wants one of the two")
	assert.JSONEq(t, `{"uri":"u","blob":""}`, written(t, ResourceContents{URI: "u", Blob: ptr("")}))
}

func TestHTMLIsNotEscaped(t *testing.T) { // field case 36
	result := CallToolResult{
		Content:           []Content{Text("a<b && c>d"), &ResourceLink{Resource{URI: "https://h/?a&b"}}},
		StructuredContent: json.RawMessage(`{"q":"<&>"}`),
		Meta:              Meta{"m": json.RawMessage(`"<"`)},
	}
	assert.Equal(t, `{"content":[{"type":"text","text":"a<b && c>d"},`+
		`{"type":"resource_link","uri":"https://h/?a&b","name":""}],`+
		`"structuredContent":{"q":"<&>"},"_meta":{"m":"<"}}`, written(t, result))
	message := SamplingMessage{Role: RoleUser, Content: result.Content[:1]}
	assert.Equal(t, `{"role":"user","content":{"type":"text","text":"a<b && c>d"}}`, written(t, message))
}

func TestConstructors(t *testing.T) {
	assert.JSONEq(t, `{"type":"text","text":"a"}`, written(t, Text("a")))
	assert.JSONEq(t, `{"type":"image","data":"AAEC",
		"mimeType":"image/png"}`, written(t, Image([]byte{0, 1, 2}, "image/png")))
	assert.JSONEq(t, `{"type":"audio","data":"AAEC",
		"mimeType":"audio/wav"}`, written(t, Audio([]byte{0, 1, 2}, "audio/wav")))
	assert.JSONEq(t, `{"type":"x"}`, written(t, &UnknownContent{Type: "x"}))
	assert.JSONEq(t, `{"type":"tool_use","id":"1","name":"n",
		"input":{}}`, written(t, &ToolUseContent{ID: "1", Name: "n"}))
	assert.JSONEq(t, `{"type":"tool_result","toolUseId":"1",
		"content":[]}`, written(t, &ToolResultContent{ToolUseID: "1"}))
}
