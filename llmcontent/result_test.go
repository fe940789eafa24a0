package llmcontent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

// result decodes a result as the client does.
func result(t *testing.T, text string) *mcp.CallToolResult {
	t.Helper()
	r := new(mcp.CallToolResult)
	require.NoError(t, json.Unmarshal([]byte(text), r))
	return r
}

func TestFromResultContent(t *testing.T) {
	picture := &Image{MIMEType: "image/png", Data: []byte{1, 2, 3}}
	tests := map[string]struct {
		block string
		want  Block
	}{
		"text":  {`{"type":"text","text":"a<b\n"}`, Block{Text: "a<b\n"}},
		"image": {`{"type":"image","data":"AQID","mimeType":"image/png"}`, Block{Image: picture}},
		"image as a data URI": {`{"type":"image","data":"data:image/png;base64,AQID","mimeType":"x/y"}`,
			Block{Image: picture}},
		"image of no type": {`{"type":"image","data":"AQID"}`, Block{Image: &Image{Data: []byte{1, 2, 3}}}},
		"broken image": {`{"type":"image","data":"!","mimeType":"image/png"}`,
			Block{Text: "[image, image/png, cannot be decoded]"}},
		"empty image": {`{"type":"image","data":"","mimeType":"image/png"}`,
			Block{Text: "[image, image/png, 0 bytes]"}},
		"image without data": {`{"type":"image","mimeType":"image/png"}`,
			Block{Text: `[content of type "image" that cannot be shown]`}},
		"audio": {`{"type":"audio","data":"AQID","mimeType":"audio/wav"}`,
			Block{Text: "[audio, audio/wav, 3 bytes]"}},
		"broken audio": {`{"type":"audio","data":"!"}`, Block{Text: "[audio, cannot be decoded]"}},
		"resource link": {`{"type":"resource_link","name":"The \"plan\"","uri":"file:///plan.md"}`,
			Block{Text: `[resource link, "The \"plan\"", file:///plan.md]`}},
		"resource link without a name": {`{"type":"resource_link","uri":"file:///plan.md"}`,
			Block{Text: `[resource link, file:///plan.md]`}},
		"embedded text": {`{"type":"resource","resource":{"uri":"a:b","mimeType":"image/svg+xml","text":"<svg/>"}}`,
			Block{Text: "<svg/>"}},
		"embedded empty text": {`{"type":"resource","resource":{"uri":"a:b","text":""}}`,
			Block{Text: "[empty resource, a:b]"}},
		"embedded image": {`{"type":"resource","resource":{"uri":"a:b","mimeType":"image/png","blob":"AQID"}}`,
			Block{Image: picture}},
		"embedded IMAGE": {`{"type":"resource","resource":{"uri":"a:b","mimeType":"IMAGE/PNG","blob":"AQID"}}`,
			Block{Image: &Image{MIMEType: "IMAGE/PNG", Data: []byte{1, 2, 3}}}},
		"embedded broken image": {`{"type":"resource","resource":{"uri":"a:b","mimeType":"image/png","blob":"!"}}`,
			Block{Text: "[image resource, a:b, image/png, cannot be decoded]"}},
		"embedded bytes": {`{"type":"resource","resource":{"uri":"a:b","mimeType":"application/pdf","blob":"AQ=="}}`,
			Block{Text: "[binary resource, a:b, application/pdf, 1 byte]"}},
		"embedded nothing": {`{"type":"resource"}`, Block{Text: `[content of type "resource" that cannot be shown]`}},
		"unknown type": {`{"type":"video\n","frames":[]}`,
			Block{Text: `[content of type "video\n" that cannot be shown]`}},
		"no type":      {`{"text":"x"}`, Block{Text: "[content without a type]"}},
		"strange type": {`{"type":7}`, Block{Text: "[content without a type]"}},
		"tool use": {`{"type":"tool_use","id":"1","name":"x"}`,
			Block{Text: `[content of type "tool_use" that cannot be shown]`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []Block{test.want}, FromResult(result(t, `{"content":[`+test.block+`]}`)))
		})
	}
}

func TestFromResultOfContentThatACallerMade(t *testing.T) {
	r := &mcp.CallToolResult{Content: []mcp.Content{nil, &mcp.EmbeddedResource{}, mcp.Image([]byte{1}, "image/gif")}}
	assert.Equal(t, []Block{
		{Text: "[content without a type]"},
		{Text: `[content of type "resource" that cannot be shown]`},
		{Image: &Image{MIMEType: "image/gif", Data: []byte{1}}},
	}, FromResult(r))
}

func TestFromResultKeepsTheOrder(t *testing.T) {
	r := result(t, `{"content":[
		{"type":"text","text":"1"},{"type":"image","data":"AQ=="},{"type":"x"},{"type":"text","text":"2"}
	]}`)
	assert.Equal(t, []Block{
		{Text: "1"},
		{Image: &Image{Data: []byte{1}}},
		{Text: `[content of type "x" that cannot be shown]`},
		{Text: "2"},
	}, FromResult(r))
}

func TestFromResultStructuredContent(t *testing.T) {
	tests := map[string]struct {
		result string
		want   []Block
	}{
		"instead of content": {`{"content":[],"structuredContent":{"id":9007199254740993}}`,
			[]Block{{Text: `{"id":9007199254740993}`}}},
		"instead of empty text": {`{"content":[{"type":"text","text":""}],"structuredContent":[1]}`,
			[]Block{{Text: `[1]`}}},
		"null": {`{"structuredContent":null}`, []Block{{Text: `null`}}},
		"beside content": {`{"content":[{"type":"text","text":"one"}],"structuredContent":[1]}`,
			[]Block{{Text: "one"}}},
		"neither": {`{}`, nil},
		"of a failure": {`{"isError":true,"structuredContent":{"code":5}}`,
			[]Block{{Text: failed}, {Text: `{"code":5}`}}},
		"a failure with content": {`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`,
			[]Block{{Text: failed}, {Text: "no such file"}}},
		"a failure without words": {`{"isError":true,"content":[]}`, []Block{{Text: failed}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, FromResult(result(t, test.result)))
		})
	}
}
