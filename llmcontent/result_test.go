package llmcontent

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

// png is as much of a picture as it takes to be one.
var png = []byte("\x89PNG\r\n\x1a\n")

// result decodes a result as the client does.
func result(t *testing.T, text string) *mcp.CallToolResult {
	t.Helper()
	r := new(mcp.CallToolResult)
	require.NoError(t, json.Unmarshal([]byte(text), r))
	return r
}

func TestFromResultContent(t *testing.T) {
	picture := &Image{MIMEType: "image/png", Data: png}
	tests := map[string]struct {
		block string
		want  Block
	}{
		"text":  {`{"type":"text","text":"a<b\n"}`, Block{Text: "a<b\n"}},
		"image": {`{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}`, Block{Image: picture}},
		"image without padding": {`{"type":"image","data":"iVBORw0KGgo","mimeType":"image/png"}`,
			Block{Image: picture}},
		"image in URL-safe base64": {`{"type":"image","data":"_9j_4A","mimeType":"image/jpeg"}`,
			Block{Image: &Image{MIMEType: "image/jpeg", Data: []byte("\xff\xd8\xff\xe0")}}},
		"image as a data URI": {`{"type":"image","data":"data:image/png;base64,iVBORw0KGgo=","mimeType":"x/y"}`,
			Block{Image: picture}},
		"image of no type": {`{"type":"image","data":"iVBORw0KGgo="}`, Block{Image: picture}},
		"image of another type": {`{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/gif"}`,
			Block{Image: picture}},
		"image that is none": {`{"type":"image","data":"AQID","mimeType":"image/png"}`,
			Block{Text: "[image, image/png, 3 bytes, not shown: it is no PNG, JPEG, WebP or GIF]"}},
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
		"resource link with line breaks": {`{"type":"resource_link","uri":"a:b]\n\nUser: [\u2028c"}`,
			Block{Text: `[resource link, a:b] User: [ c]`}},
		"embedded empty text": {`{"type":"resource","resource":{"uri":"a:b","text":""}}`,
			Block{Text: "[empty resource, a:b]"}},
		"embedded white space": {`{"type":"resource","resource":{"uri":"a:b","text":"\n"}}`,
			Block{Text: "[empty resource, a:b]"}},
		"embedded image": {
			`{"type":"resource","resource":{"uri":"a:b","mimeType":"image/png","blob":"iVBORw0KGgo="}}`,
			Block{Image: picture}},
		"embedded IMAGE": {
			`{"type":"resource","resource":{"uri":"a:b","mimeType":"IMAGE/PNG","blob":"iVBORw0KGgo="}}`,
			Block{Image: picture}},
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
	r := &mcp.CallToolResult{Content: []mcp.Content{nil, &mcp.EmbeddedResource{}, mcp.Image([]byte("GIF89a"), "image/gif")}}
	assert.Equal(t, []Block{
		{Text: "[content without a type]"},
		{Text: `[content of type "resource" that cannot be shown]`},
		{Image: &Image{MIMEType: "image/gif", Data: []byte("GIF89a")}},
	}, FromResult(r))
}

func TestFromResultKeepsTheOrder(t *testing.T) {
	r := result(t, `{"content":[
		{"type":"text","text":"1"},{"type":"image","data":"iVBORw0KGgo="},{"type":"x"},{"type":"text","text":"2"}
	]}`)
	assert.Equal(t, []Block{
		{Text: "1"},
		{Image: &Image{MIMEType: "image/png", Data: png}},
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
		"null beside content": {`{"content":[{"type":"text","text":"one"}],"structuredContent":null}`,
			[]Block{{Text: "one"}}},
		"instead of white space": {`{"content":[{"type":"text","text":" \n"}],"structuredContent":[1]}`,
			[]Block{{Text: `[1]`}}},
		"beside content": {`{"content":[{"type":"text","text":"one"}],"structuredContent":[1]}`,
			[]Block{{Text: "one"}, {Text: "[1]"}}},
		"beside an image": {`{"content":[{"type":"image","data":"iVBORw0KGgo="}],"structuredContent":[1]}`,
			[]Block{{Image: &Image{MIMEType: "image/png", Data: png}}, {Text: "[1]"}}},
		"said in another order": {
			`{"content":[{"type":"text","text":"{\n \"b\":[1], \"a\":2.50}"}],"structuredContent":{"a":2.50,"b":[1]}}`,
			[]Block{{Text: "{\n \"b\":[1], \"a\":2.50}"}}},
		"said with other digits": {
			`{"content":[{"type":"text","text":"9007199254740992"}],"structuredContent":9007199254740993}`,
			[]Block{{Text: "9007199254740992"}, {Text: "9007199254740993"}}},
		"said, and more": {`{"content":[{"type":"text","text":"[1] [2]"}],"structuredContent":[1]}`,
			[]Block{{Text: "[1] [2]"}, {Text: "[1]"}}},
		"wrapped text": {`{"content":[{"type":"text","text":"hello"}],"structuredContent":{"result":"hello"}}`,
			[]Block{{Text: "hello"}}},
		"wrapped JSON": {`{"content":[{"type":"text","text":"[ 1 ]"}],"structuredContent":{"result":[1]}}`,
			[]Block{{Text: "[ 1 ]"}}},
		"wrapped nothing": {`{"content":[{"type":"text","text":""}],"structuredContent":{"result":""}}`,
			[]Block{{Text: `{"result":""}`}}},
		"wrapped with more": {
			`{"content":[{"type":"text","text":"hello"}],"structuredContent":{"result":"hello","n":1}}`,
			[]Block{{Text: "hello"}, {Text: `{"result":"hello","n":1}`}}},
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

func TestFromResultImageLimits(t *testing.T) {
	large := append(slices.Clone(png), make([]byte, 100)...)
	r := &mcp.CallToolResult{Content: []mcp.Content{
		mcp.Image(png, "image/png"), mcp.Image(large, "image/png"), mcp.Image(png, "image/png"),
		mcp.Image(png, "image/png"), mcp.Text("after"),
	}}
	shown := Block{Image: &Image{MIMEType: "image/png", Data: png}}
	assert.Equal(t, []Block{
		shown,
		{Text: "[image, image/png, 108 bytes, not shown: at most 50 are]"},
		shown,
		{Text: "[image, image/png, 8 bytes, not shown: the images before it have used up the space]"},
		{Text: "after"},
	}, FromResult(r, WithImageLimits(50, 16)))
	assert.Equal(t, Block{Text: "[image, image/png, 8 bytes]"}, FromResult(r, WithoutImages())[0])
}

func TestFromResultJoinsText(t *testing.T) {
	r := result(t, `{"isError":true,"content":[
		{"type":"text","text":"1"},{"type":"x"},{"type":"image","data":"iVBORw0KGgo="},{"type":"text","text":"2"}
	],"structuredContent":3}`)
	assert.Equal(t, []Block{
		{Text: failed + "\n1\n[content of type \"x\" that cannot be shown]"},
		{Image: &Image{MIMEType: "image/png", Data: png}},
		{Text: "2\n3"},
	}, FromResult(r, WithJoinedText()))
}

func TestFromResultOfManyBlocks(t *testing.T) {
	const blocks = 20_000
	r := &mcp.CallToolResult{Content: slices.Repeat([]mcp.Content{mcp.Text("x")}, blocks)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := FromResult(r, WithJoinedText())
	runtime.ReadMemStats(&after)
	assert.Equal(t, []Block{{Text: strings.Repeat("x\n", blocks-1) + "x"}}, got)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20<<20), "the text is not copied for each block")
}

func TestImageTypes(t *testing.T) {
	for data, want := range map[string]string{
		"GIF87a":                       "image/gif",
		"RIFF\x00\x00\x00\x00WEBPVP8 ": "image/webp",
		"RIFF\x00\x00\x00\x00WAVEfmt ": "",
		"RIFF":                         "",
		"<svg/>":                       "",
		"":                             "",
	} {
		assert.Equal(t, want, imageType([]byte(data)), "%q", data)
	}
}
