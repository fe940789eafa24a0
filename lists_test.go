package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNullListsAndEntries(t *testing.T) { // field case 40
	for text, note := range map[string]string{
		`{"tools":null}`:   "has no tools",
		`{}`:               "has no tools",
		`{"tools":[null]}`: "tools[0]: skipped a null entry",
	} {
		page, notes, err := decodeToolsPage([]byte(text))
		require.NoError(t, err, text)
		assert.NotNil(t, page.Items)
		assert.Empty(t, page.Items)
		assert.Nil(t, page.NextCursor)
		assert.Equal(t, []string{note}, notes)
	}
}

func TestOneBadToolIsSetAside(t *testing.T) { // field case 123
	page, notes, err := decodeToolsPage([]byte(`{"_meta":{"k":1},"tools":[{"name":"a"},7,{"title":"t"},
		{"name":["x"]},{"name":"b"}],
		"nextCursor":""}`))
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	assert.Equal(t, "a", page.Items[0].Name)
	assert.Equal(t, "b", page.Items[1].Name)
	assert.Equal(t, ptr(""), page.NextCursor, "what it means depends on the revision")
	assert.Equal(t, Meta{"k": json.RawMessage("1")}, page.Meta)
	assert.Equal(t, []string{
		"tools[1]: expected an object, found a number, set aside",
		"tools[2]: has no name, set aside",
		"tools[3].name: expected a string, found an array, set aside",
	}, notes)
}

func TestPagesOfEveryKind(t *testing.T) {
	resources, notes, err := decodeResourcesPage([]byte(`{"resources":[{"uri":"u"},{"name":"n"}],"nextCursor":"c"}`))
	require.NoError(t, err)
	assert.Equal(t, []*Resource{{URI: "u"}}, resources.Items)
	assert.Equal(t, ptr("c"), resources.NextCursor)
	assert.Equal(t, []string{"resources[1]: has no uri, set aside"}, notes)

	templates, notes, err := decodeResourceTemplatesPage([]byte(`{"resourceTemplates":[{"uriTemplate":"u/{x}"},{}],
		"nextCursor":null}`))
	require.NoError(t, err)
	assert.Equal(t, []*ResourceTemplate{{URITemplate: "u/{x}"}}, templates.Items)
	assert.Nil(t, templates.NextCursor)
	assert.Equal(t, []string{"resourceTemplates[1]: has no uriTemplate, set aside"}, notes)

	prompts, notes, err := decodePromptsPage([]byte(`{"prompts":[{"name":"p","arguments":[{"name":"a",
		"required":true},{}]}]}`))
	require.NoError(t, err)
	assert.Equal(t, []*Prompt{{Name: "p", Arguments: []PromptArgument{{Name: "a", Required: true}}}}, prompts.Items)
	assert.Equal(t, []string{"prompts[0].arguments[1]: has no name, set aside"}, notes)
}

func TestResourcesRoundTrip(t *testing.T) {
	resource := roundTrip[Resource](t, `{"uri":"file:///a","name":"n","title":"t","description":"d",
		"mimeType":"m","size":0,
		"annotations":{"audience":["assistant"]},"icons":[{"src":"s","sizes":["any"],"theme":"light"}],"_meta":{"k":{}}}`)
	assert.Equal(t, ptr(int64(0)), resource.Size)
	roundTrip[ResourceTemplate](t, `{"uriTemplate":"file:///{p}","name":"n","title":"t","description":"d","mimeType":"m",
		"annotations":{"priority":1},"icons":[{"src":"s"}],"_meta":{"k":1}}`)
	roundTrip[ReadResourceResult](t, `{"contents":[{"uri":"a","text":"t"},{"uri":"b","blob":"AA==",
		"mimeType":"m"}],"_meta":{"k":1}}`)

	for _, text := range []string{`{}`, `{"contents":null}`} {
		r, _ := read[ReadResourceResult](t, text)
		assert.JSONEq(t, `{"contents":[]}`, written(t, r))
	}
	r, notes := read[ReadResourceResult](t, `{"contents":[{"uri":"a","text":"t"},{"uri":"b","text":5},"x"]}`)
	assert.Equal(t, []*ResourceContents{{URI: "a", Text: "t"}}, r.Contents)
	assert.Len(t, notes, 2)
}

func TestSizesThatAreNoNumbersOfBytes(t *testing.T) {
	for text, want := range map[string]*int64{
		`12`: ptr(int64(12)), `12.0`: ptr(int64(12)), `1e3`: ptr(int64(1000)),
		`"12"`: nil, `1.5`: nil, `1e99`: nil, `null`: nil,
	} {
		r, _ := read[Resource](t, `{"uri":"u","size":`+text+`,"name":"n"}`)
		assert.Equal(t, want, r.Size, text)
		assert.Equal(t, "n", r.Name, "what follows is read")
	}
}

func TestPromptsRoundTrip(t *testing.T) {
	roundTrip[Prompt](t, `{"name":"p","title":"t","description":"d","arguments":[{"name":"a","title":"t",
		"description":"d","required":true},
		{"name":"b"}],"icons":[{"src":"s"}],"_meta":{"k":1}}`)
	roundTrip[GetPromptResult](t, `{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"a"}},
		{"role":"assistant","content":{"type":"resource","resource":{"uri":"u","text":"t"}}}],"_meta":{"k":1}}`)
	roundTrip[GetPromptResult](t, `{"messages":[]}`)
	roundTrip[PromptMessage](t, `{"role":"user","content":{"type":"image","data":"AA==","mimeType":"image/png"}}`)

	r, _ := read[GetPromptResult](t, `{"messages":null}`)
	assert.JSONEq(t, `{"messages":[]}`, written(t, r))
}

func TestAPromptMessageWithSeveralBlocks(t *testing.T) {
	r, notes := read[GetPromptResult](t, `{"messages":[
		{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"role":"user"},
		{"role":"assistant","content":"c"},
		{"role":"user"},
		{"role":"user","content":7}
	]}`)
	assert.Equal(t, []PromptMessage{{RoleUser, Text("a")}, {RoleUser, Text("b")}, {RoleAssistant, Text("c")}}, r.Messages)
	assert.Equal(t, []string{
		"messages[1].content: expected content, took the string for text",
		"messages[2]: has no content, set aside",
		"messages[3].content: expected an array, found a number, set aside",
	}, notes)
	var m PromptMessage
	require.Error(t, json.Unmarshal([]byte(`{"role":"user","content":[]}`), &m))
}
