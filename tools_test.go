package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestToolRoundTrips(t *testing.T) {
	tool := roundTrip[Tool](t, `{"name":"get_weather","title":"Weather","description":"d <i>",
		"inputSchema":{"type":"object",
		"properties":{"z":{"type":"string"},"a":{"maximum":9007199254740993}}},"outputSchema":{"type":"object"},
		"annotations":{"title":"T","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},
		"execution":{"taskSupport":"optional"},"icons":[{"src":"data:image/png;base64,AA=="}],"_meta":{"a/b":[1]}}`)
	assert.Contains(t, string(tool.InputSchema), "\n\t\t\"properties\"", "verbatim")
	assert.Equal(t, ptr(false), tool.Annotations.DestructiveHint)

	tool = roundTrip[Tool](t, `{"name":"a","inputSchema":{"type":"object"},"annotations":{}}`)
	assert.Nil(t, tool.Annotations.ReadOnlyHint)
}

func TestAnInputSchemaMayBeMissing(t *testing.T) {
	for _, text := range []string{`{"name":"a"}`, `{"name":"a","inputSchema":null}`, `{"name":"a","inputSchema":"x"}`} {
		tool, _ := read[Tool](t, text)
		assert.Nil(t, tool.InputSchema)
		assert.JSONEq(t, `{"name":"a","inputSchema":{"type":"object"}}`, written(t, tool))
	}
}

func TestDisplayNames(t *testing.T) {
	hint := &ToolAnnotations{Title: "hint"}
	assert.Equal(t, "title", (&Tool{Name: "name", Title: "title", Annotations: hint}).DisplayName())
	assert.Equal(t, "hint", (&Tool{Name: "name", Annotations: hint}).DisplayName())
	assert.Equal(t, "name", (&Tool{Name: "name", Annotations: &ToolAnnotations{}}).DisplayName())
	assert.Equal(t, "name", (&Tool{Name: "name"}).DisplayName())
	assert.Equal(t, "uri", (&Resource{URI: "uri"}).DisplayName())
	assert.Equal(t, "t", (&ResourceTemplate{URITemplate: "t"}).DisplayName())
	assert.Equal(t, "title", (&Prompt{Name: "name", Title: "title"}).DisplayName())
	assert.Equal(t, "name", (&PromptArgument{Name: "name"}).DisplayName())
	assert.Equal(t, "name", (&Implementation{Name: "name"}).DisplayName())
}

func TestCallToolResultRoundTrips(t *testing.T) {
	roundTrip[CallToolResult](t, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1},
		"isError":true,"_meta":{"k":1}}`)
	roundTrip[CallToolResult](t, `{"content":[]}`)
}

func TestStructuredContentIsAnyValueExactly(t *testing.T) { // field cases 35 and 108
	for _, text := range []string{`9007199254740993`, `{"a":12345678901234567890.10}`, `[1e400]`, `"s"`, `false`, `null`} {
		r, _ := read[CallToolResult](t, `{"content":[],"structuredContent":`+text+`,"isError":true}`)
		assert.Equal(t, text, string(r.StructuredContent))
		assert.True(t, r.IsError)
		assert.Equal(t, `{"content":[],"structuredContent":`+text+`,"isError":true}`, written(t, r))
	}
	r, _ := read[CallToolResult](t, `{"content":[]}`)
	assert.Nil(t, r.StructuredContent, "absent is not null")
	assert.Equal(t, `{"content":[]}`, written(t, r))
}

func TestContentMayBeMissing(t *testing.T) { // field case 104
	for _, text := range []string{`{}`, `{"content":null}`, `{"content":[]}`, `{"content":[null]}`} {
		r, _ := read[CallToolResult](t, text)
		assert.NotNil(t, r.Content, text)
		assert.Empty(t, r.Content, text)
		assert.Empty(t, r.Text())
		assert.Equal(t, `{"content":[]}`, written(t, r))
	}
}

func TestOneBlockInPlaceOfAList(t *testing.T) {
	r, notes := read[CallToolResult](t, `{"content":{"type":"text","text":"a"}}`)
	assert.Equal(t, []Content{Text("a")}, r.Content)
	assert.Equal(t, []string{"content: expected an array, took the one block"}, notes)
	r, notes = read[CallToolResult](t, `{"content":"a"}`)
	assert.Equal(t, []Content{Text("a")}, r.Content)
	assert.Equal(t, []string{"content: expected content, took the string for text"}, notes)
}

func TestTextJoinsTheTextBlocks(t *testing.T) {
	r := CallToolResult{Content: []Content{Text("a"), Image(nil, ""), Text("b")}}
	assert.Equal(t, "a\nb", r.Text())
}

func FuzzCallToolResult(f *testing.F) {
	for _, s := range []string{
		`{"content":[{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.1},"_meta":{}}],
			"isError":true}`,
		`{"content":[{"data":"AA==","mimeType":"image/png","type":"image"},{"type":"audio","data":"","mimeType":""}]}`,
		`{"content":[{"type":"resource_link","uri":"u","size":1e3,"icons":[{"src":"s","sizes":"1x1 any"}]}]}`,
		`{"content":[{"type":"resource","resource":{"uri":"u","blob":"AA==","text":"t"}}],"structuredContent":null}`,
		`{"content":[{"type":"tool_use","id":"1","name":"n","input":{}},{"type":"tool_result","toolUseId":"1",
			"content":"x"}]}`,
		`{"content":[{"type":"te\u0078t","text":"a"},{},null,5,{"type":{}},{"type":"text"}],"_meta":{"a":1}}`,
		`{"content":{"type":"text","text":"\ud800<"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _, err := decodeResult[CallToolResult](data)
		if err != nil {
			return
		}
		first, err := marshal(r)
		if err != nil {
			t.Fatalf("%q was decoded but cannot be encoded: %v", data, err)
		}
		again, _, err := decodeResult[CallToolResult](first)
		if err != nil {
			t.Fatalf("%q was encoded as %q: %v", data, first, err)
		}
		if second, err := marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%q became %q and then %q (%v)", data, first, second, err)
		}
	})
}

// manyTools is a page of tools as a busy server has them.
func manyTools(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"tools":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","title":"Tool %d","description":"Does something useful with its arguments.",`+
			`"inputSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},`+
			`"outputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":true,"destructiveHint":false,`+
			`"idempotentHint":true,"openWorldHint":false}}`, i, i)
	}
	b.WriteString(`],"nextCursor":"x"}`)
	return b.Bytes()
}

func TestAllocationBudgets(t *testing.T) {
	small := []byte(`{"content":[{"type":"text","text":"It is 18 degrees in Paris."}],"isError":false}`)
	allocs := testing.AllocsPerRun(200, func() {
		if r, _, err := decodeResult[CallToolResult](small); err != nil || len(r.Content) != 1 {
			t.Fatal(err)
		}
	})
	assert.LessOrEqual(t, allocs, 4.0, "the result, its list, the block, the text")

	const n = 1000
	page := manyTools(n)
	allocs = testing.AllocsPerRun(10, func() {
		if p, _, err := decodeToolsPage(page); err != nil || len(p.Items) != n {
			t.Fatal(err)
		}
	})
	assert.LessOrEqual(t, allocs/n, 12.0, "for each tool of a page")
}

func BenchmarkCallToolResult(b *testing.B) {
	small := []byte(`{"content":[{"type":"text","text":"It is 18 degrees in Paris."}],"isError":false}`)
	b.SetBytes(int64(len(small)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := decodeResult[CallToolResult](small); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkToolsPage(b *testing.B) {
	page := manyTools(1000)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := decodeToolsPage(page); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLongTextSharesTheMessage(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	data, err := json.Marshal(CallToolResult{Content: []Content{Text(text)}})
	require.NoError(t, err)
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if r, _, err := decodeResult[CallToolResult](data); err != nil || r.Text() != text {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	assert.Less(t, allocated, int64(64<<10), "bytes for a text of 1 MiB")
}
