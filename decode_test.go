package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// read decodes a value that must be usable, and returns the notes as well.
func read[T any, P decodable[T]](t *testing.T, text string) (*T, []string) {
	t.Helper()
	v, notes, err := decodeResult[T, P]([]byte(text))
	require.NoError(t, err, text)
	return v, notes
}

// written encodes as the client does.
func written(t *testing.T, v any) string {
	t.Helper()
	b, err := marshal(v)
	require.NoError(t, err)
	return string(b)
}

func ptr[T any](v T) *T { return &v }

// roundTrip checks that a value comes out of a type as it went in: by the decoder, and by encoding/json both ways.
func roundTrip[T any, P decodable[T]](t *testing.T, text string) *T {
	t.Helper()
	v, notes := read[T, P](t, text)
	assert.Empty(t, notes, text)
	assert.JSONEq(t, text, written(t, v), "encoded by the client")
	var std T
	require.NoError(t, json.Unmarshal([]byte(text), &std))
	assert.Equal(t, v, &std, "encoding/json decodes the same")
	b, err := json.Marshal(std)
	require.NoError(t, err)
	assert.JSONEq(t, text, string(b), "encoded by encoding/json, not addressable")
	return v
}

func TestErrorsAndNotesNameThePlaceAndNoValues(t *testing.T) {
	_, notes, err := decodeResult[CallToolResult]([]byte(`{"content":[
		{"type":"text","text":"a","annotations":"secret","_meta":7},
		"secret", null,
		{"type":"resource_link","uri":"u","icons":[{"src":5},{}],"size":"secret"},
		{"type":"resource","resource":{"uri":"u","text":5},"annotations":{"audience":["user",true],"priority":1e999}}
	],"isError":"secret"}`))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"content[0].annotations: ignored, expected an object, found a string",
		"content[0]._meta: ignored, expected an object, found a number",
		"content[1]: expected an object, found a string, set aside",
		"content[2]: skipped a null entry",
		"content[3].icons[0].src: expected a string, found a number, set aside",
		"content[3].icons[1]: has no src, set aside",
		"content[3].size: ignored, expected a number, found a string",
		"content[4].annotations.audience[1]: ignored, expected a string, found a boolean",
		"content[4].annotations.priority: ignored, out of range",
		"content[4].resource.text: expected a string, found a number, kept as unknown content",
		"isError: ignored, expected a boolean, found a string",
	}, notes)
}

func TestWhatCannotBeUsedIsAnError(t *testing.T) {
	page := func(data []byte) error { _, _, err := decodeToolsPage(data); return err }
	result := func(data []byte) error { _, _, err := decodeResult[CallToolResult](data); return err }
	for _, c := range []struct {
		decode     func([]byte) error
		text, want string
	}{
		{result, ``, "unexpected end at offset 0"},
		{result, `null`, "nothing there, found null"},
		{result, `[]`, "expected an object, found an array"},
		{result, `{"content":5}`, "content: expected an array, found a number"},
		{result, `{"content":[{"type":"text","text":"a}`, "content[0].text: unexpected end"},
		{result, `{"content":[]} 1`, "unexpected data after the value at offset 15"},
		{page, `{"tools":{}}`, "tools: expected an array, found an object"},
		{page, `{"tools":[],"nextCursor":5}`, "nextCursor: expected a string, found a number"},
	} {
		assert.EqualError(t, c.decode([]byte(c.text)), c.want, c.text)
	}
	var tool Tool
	require.EqualError(t, json.Unmarshal([]byte(`{"name":5}`), &tool), "mcp: name: expected a string, found a number")
	require.EqualError(t, json.Unmarshal([]byte(`{}`), &tool), "mcp: has no name")
}

func TestASetAsideEntryDoesNotSpoilWhatHoldsIt(t *testing.T) {
	tool, notes := read[Tool](t, `{"icons":[{}],"name":"a"}`)
	assert.Equal(t, "a", tool.Name)
	assert.Empty(t, tool.Icons)
	assert.Equal(t, []string{"icons[0]: has no src, set aside"}, notes)

	_, notes, err := decodeResult[Tool]([]byte(`{"name":7,"icons":[{"src":"x"}]}`))
	require.EqualError(t, err, "name: expected a string, found a number", "a usable icon does not make it usable")
	assert.Empty(t, notes)
}

func TestNotesAreBounded(t *testing.T) {
	_, notes, err := decodeToolsPage([]byte(`{"tools":[` + strings.Repeat("null,", 999) + `{"name":"a"}]}`))
	require.NoError(t, err)
	require.Len(t, notes, maxNotes+1)
	assert.Equal(t, fmt.Sprintf("and %d more", 999-maxNotes), notes[maxNotes])
}

func TestADecoderLeavesNothingForTheNext(t *testing.T) {
	for range 3 {
		_, _, err := decodeResult[Tool]([]byte(`{"name":7,"icons":5}`))
		require.Error(t, err)
		_, _, err = decodeResult[Tool]([]byte(`{"name":`))
		require.Error(t, err)
		_, notes, err := decodeResult[Tool]([]byte(`{"name":"a"}`))
		require.NoError(t, err)
		assert.Empty(t, notes)
	}
}

func TestNestingDoesNotOverflowThePath(t *testing.T) {
	text := strings.Repeat(`{"anyOf":[{"title":5},`, 20) + `{}` + strings.Repeat(`]}`, 20)
	_, notes, err := decodeResult[ElicitSchema]([]byte(`{"properties":{"a":` + text + `}}`))
	require.NoError(t, err)
	require.NotEmpty(t, notes)
	assert.Contains(t, notes[len(notes)-2], "anyOf[1]...: ignored")
}

func TestUnmarshalJSONCopiesItsInput(t *testing.T) {
	data := []byte(`{"content":[{"type":"new","x":1}],"structuredContent":{"a":1}}`)
	var r CallToolResult
	require.NoError(t, r.UnmarshalJSON(data))
	for i := range data {
		data[i] = 'x'
	}
	assert.JSONEq(t, `{"a":1}`, string(r.StructuredContent))
	assert.JSONEq(t, `{"type":"new","x":1}`, string(r.Content[0].(*UnknownContent).Raw))
}

func TestNullChangesNothing(t *testing.T) {
	tool := Tool{Name: "kept"}
	require.NoError(t, json.Unmarshal([]byte(`null`), &tool))
	assert.Equal(t, "kept", tool.Name)

	var holder struct{ Tool *Tool }
	require.NoError(t, json.Unmarshal([]byte(`{"Tool":null}`), &holder))
	assert.Nil(t, holder.Tool)
}

// What was decoded where it stood is not lost when the block turns out to be unusable afterwards.
func TestABlockThatIsRejectedAfterItsTextWasRead(t *testing.T) {
	long := strings.Repeat(`a "line"\n`, 1000)
	quoted, err := json.Marshal(long)
	require.NoError(t, err)
	for name, block := range map[string]string{
		"text twice":      `{"type":"text","text":` + string(quoted) + `,"more":[1],"text":5}`,
		"embedded":        `{"type":"resource","resource":{"uri":"u","text":` + string(quoted) + `},"resource":5}`,
		"nothing escaped": `{"type":"text","text":"` + strings.Repeat("x", 10_000) + `","text":null,"text":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			result := new(CallToolResult)
			text := `{"content":[` + block + `,{"type":"text","text":` + string(quoted) + `}]}`
			notes, err := decodeFrom(jsonscan.NewOwned([]byte(text)), result)
			require.NoError(t, err)
			assert.NotEmpty(t, notes)
			require.Len(t, result.Content, 2)
			require.IsType(t, &UnknownContent{}, result.Content[0])
			assert.Equal(t, block, string(result.Content[0].(*UnknownContent).Raw))
			assert.Equal(t, Text(long), result.Content[1])
		})
	}
}
