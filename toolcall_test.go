package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

type weather struct {
	City string
	Temp json.Number
}

const weatherTool = `{"name":"weather","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"temp":{"type":"number"}},"required":["temp"]}}`

func typed[Out any](c *mcp.Client, t *testing.T, name string) func() (Out, error) {
	return async(func() (Out, error) { return mcp.CallToolAs[Out](t.Context(), c, name, nil) })
}

func TestStructuredContentAsAType(t *testing.T) {
	c, p := connected(t, nil)
	result := typed[weather](c, t, "weather")
	p.answer(p.expect("tools/list"), `{"tools":[`+weatherTool+`]}`) // the schema is needed once
	p.answer(p.expect("tools/call"), `{"content":[],"structuredContent":{"city":"Bern","temp":9007199254740993}}`)
	got, err := result()
	require.NoError(t, err)
	assert.Equal(t, weather{"Bern", "9007199254740993"}, got)

	result = typed[weather](c, t, "weather")
	p.answer(p.expect("tools/call"), `{"content":[],"structuredContent":{"city":"Bern"}}`)
	_, err = result()
	var output *mcp.OutputError
	require.ErrorAs(t, err, &output)
	assert.Equal(t, `{"city":"Bern"}`, string(output.Result.StructuredContent))
	assert.ErrorContains(t, err, "temp")

	result = typed[weather](c, t, "weather")
	p.answer(p.expect("tools/call"), `{"content":[{"type":"text","text":"no such city"}],"structuredContent":{"oops":1},"isError":true}`)
	_, err = result()
	var failed *mcp.ToolError
	require.ErrorAs(t, err, &failed, "a failure is not checked against the schema")
	assert.ErrorContains(t, err, "no such city")

	result = typed[weather](c, t, "weather")
	p.answer(p.expect("tools/call"), `{"content":[{"type":"text","text":" {\"city\":\"Bern\",\"temp\":3}\n"}]}`)
	got, err = result()
	require.NoError(t, err, "servers that know no structured content send it as text")
	assert.Equal(t, weather{"Bern", "3"}, got)

	result = typed[weather](c, t, "weather")
	p.answer(p.expect("tools/call"), hello)
	_, err = result()
	require.ErrorAs(t, err, &output)
	assert.EqualError(t, err, `mcp: tools/call "weather": the result has no structured content`)
}

func TestWhatIsWrongWithStructuredContent(t *testing.T) {
	c, p := connected(t, nil)
	schema := typed[weather](c, t, "weather")
	p.answer(p.expect("tools/list"), `{"tools":[`+weatherTool+`]}`)
	p.answer(p.expect("tools/call"), `{"structuredContent":{"temp":"cold"}}`)
	_, err := schema()
	require.ErrorContains(t, err, `mcp: tools/call "weather": structured content does not fit the output schema: `)

	goType := typed[struct{ Temp bool }](c, t, "weather")
	p.answer(p.expect("tools/call"), `{"structuredContent":{"temp":3}}`)
	_, err = goType()
	require.ErrorContains(t, err, "the structured content does not fit the Go type struct { Temp bool }: ")
	var output *mcp.OutputError
	require.ErrorAs(t, err, &output)
}

func TestTheSchemaIsFetchedAgainAfterAChange(t *testing.T) {
	c, p := connected(t, nil)
	result := typed[map[string]any](c, t, "weather")
	p.answer(p.expect("tools/list"), `{"tools":[`+weatherTool+`]}`)
	p.answer(p.expect("tools/call"), `{"structuredContent":{"temp":1}}`)
	_, err := result()
	require.NoError(t, err)

	p.notify("notifications/tools/list_changed", `{}`)
	p.ask(`1`, "ping", `{}`) // the change has been seen
	result = typed[map[string]any](c, t, "weather")
	p.answer(p.expect("tools/list"), `{"tools":[{"name":"weather","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["wind"]}}]}`)
	p.answer(p.expect("tools/call"), `{"structuredContent":{"temp":1}}`)
	_, err = result()
	var output *mcp.OutputError
	require.ErrorAs(t, err, &output, "the new schema counts")
}

func TestAListTellsThatThereIsNoSchema(t *testing.T) {
	c, p := connected(t, nil)
	list := `{"tools":[` + weatherTool + `,{"name":"plain","inputSchema":{"type":"object"}}]}`
	for i, name := range []string{"plain", "unlisted", "plain"} {
		result := typed[map[string]any](c, t, name)
		if i == 0 {
			p.answer(p.expect("tools/list"), list)
		}
		p.answer(p.expect("tools/call"), `{"structuredContent":{"temp":1}}`)
		_, err := result()
		require.NoError(t, err, name)
	}

	// The weather has lost its schema, which a page alone tells.
	relisted := async(func() (*mcp.Page[mcp.Tool], error) { return c.ToolsPage(t.Context(), nil) })
	p.answer(p.expect("tools/list"), strings.ReplaceAll(list, "outputSchema", "_outputSchema"))
	_, err := relisted()
	require.NoError(t, err)
	result := typed[map[string]any](c, t, "weather")
	p.answer(p.expect("tools/call"), `{"structuredContent":{"nothing":1}}`)
	_, err = result()
	require.NoError(t, err)
}

func TestAListThatIsTooLongToBeRememberedTellsNothingOfWhatIsMissing(t *testing.T) {
	c, p := connected(t, nil)
	tools := []string{weatherTool}
	for i := range 10_000 {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`, i))
	}
	list := listTools(c, t.Context())
	p.answer(p.expect("tools/list"), `{"tools":[`+strings.Join(tools, ",")+`]}`)
	_, err := list()
	require.NoError(t, err)

	result := typed[weather](c, t, "weather")
	p.answer(p.expect("tools/list"), `{"tools":[`+weatherTool+`]}`)
	p.answer(p.expect("tools/call"), `{"structuredContent":{"city":"Bern"}}`)
	_, err = result()
	var output *mcp.OutputError
	require.ErrorAs(t, err, &output)
}

func TestSchemasThatCannotBeUsedAreADiagnostic(t *testing.T) {
	var log diagnostics
	c, p := connected(t, &mcp.Options{Logger: log.logger()})
	list := listTools(c, t.Context())
	p.answer(p.expect("tools/list"), `{"tools":[{"name":"nonsense","inputSchema":{"type":"object"},"outputSchema":{"type":"nonsense"}},`+
		`{"name":"remote","inputSchema":{"type":"object"},"outputSchema":{"$ref":"http://127.0.0.1:1/schema.json"}},`+
		`{"name":"endless","inputSchema":{"type":"object"},"outputSchema":{"allOf":[{"$ref":"#"}]}}]}`)
	tools, err := list()
	require.NoError(t, err)
	assert.Equal(t, []string{"nonsense", "remote", "endless"}, names(tools), "the tools stay")
	for _, name := range names(tools) {
		result := typed[map[string]any](c, t, name)
		p.answer(p.expect("tools/call"), `{"structuredContent":{"a":1}}`)
		_, err := result()
		require.NoError(t, err, name)
		log.wait(t, "tool="+name)
	}
}

func TestValidationIsOnlyOnRequest(t *testing.T) {
	c, p := connected(t, nil)
	list := listTools(c, t.Context())
	p.answer(p.expect("tools/list"), `{"tools":[`+weatherTool+`]}`)
	_, err := list()
	require.NoError(t, err)

	result := call(c, t.Context(), "weather")
	p.answer(p.expect("tools/call"), `{"structuredContent":{}}`)
	_, err = result()
	require.NoError(t, err)

	result = call(c, t.Context(), "weather", mcp.WithValidation())
	p.answer(p.expect("tools/call"), `{"structuredContent":{}}`)
	_, err = result()
	var output *mcp.OutputError
	require.ErrorAs(t, err, &output)

	// A tool that no list has is called all the same, and the list is not asked for each time.
	for range 2 {
		result = call(c, t.Context(), "hidden", mcp.WithValidation())
		if m := p.read(); m.Method == "tools/list" {
			p.answer(m, `{"tools":[`+weatherTool+`]}`)
			m = p.expect("tools/call")
			p.answer(m, hello)
		} else {
			p.answer(m, hello)
		}
		_, err = result()
		require.NoError(t, err)
	}
}

func TestValidationWithAServerThatOffersNoTools(t *testing.T) {
	tr, p := pair(t)
	connect := async(func() (*mcp.Client, error) { return mcp.Connect(t.Context(), tr, legacy(nil)) })
	p.handshake(`{}`)
	c, err := connect()
	require.NoError(t, err)
	defer c.Close()
	result := typed[map[string]any](c, t, "hidden")
	p.answer(p.expect("tools/call"), `{"structuredContent":{"a":1}}`)
	got, err := result()
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": 1.0}, got)
}

func TestSloppyToolResults(t *testing.T) {
	c, p := connected(t, nil)
	for result, blocks := range map[string]int{
		`{}`:                 0,
		`{"content":null}`:   0,
		`{"content":[null]}`: 0,
		`{"content":[{"type":"hologram","x":1},{"type":"text","text":"a"}]}`:               2,
		`{"content":[{"type":"text","text":"a"}],"isError":null,"structuredContent":null}`: 1,
	} {
		got := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), result)
		r, err := got()
		require.NoError(t, err, result)
		assert.Len(t, r.Content, blocks, result)
	}
	got := call(c, t.Context(), "a")
	p.answer(p.expect("tools/call"), `{"content":[{"type":"hologram","x":9007199254740993}]}`)
	r, err := got()
	require.NoError(t, err)
	unknown, ok := r.Content[0].(*mcp.UnknownContent)
	require.True(t, ok)
	assert.Equal(t, `{"type":"hologram","x":9007199254740993}`, string(unknown.Raw))
}

func TestElicitationsThatARequestNeedsFirst(t *testing.T) {
	c, p := connected(t, nil)
	result := call(c, t.Context(), "a")
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"needs more","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://a","message":"?"}]}}}`,
		p.expect("tools/call").ID)
	_, err := result()
	needed := mcp.RequiredElicitations(err)
	require.Len(t, needed, 1)
	assert.Equal(t, "https://a", needed[0].URL)
	assert.Nil(t, mcp.RequiredElicitations(nil))
}
