package llmcontent

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArguments(t *testing.T) {
	for name, test := range map[string]struct {
		output any
		want   string
	}{
		"text":                {`{"a":9007199254740993,"b":1.50}`, `{"a":9007199254740993,"b":1.50}`},
		"bytes":               {[]byte(` {"a":1} `), `{"a":1}`},
		"raw":                 {json.RawMessage(`{"a":1}`), `{"a":1}`},
		"map":                 {map[string]any{"b": "<", "a": json.Number("1.50")}, `{"a":1.50,"b":"<"}`},
		"struct":              {struct{ A int }{1}, `{"A":1}`},
		"nil":                 {nil, `{}`},
		"nil map":             {map[string]any(nil), `{}`},
		"nothing":             {"", `{}`},
		"white space":         {" \n", `{}`},
		"null":                {"null", `{}`},
		"text within text":    {`"{\"a\":1}"`, `{"a":1}`},
		"a name that is long": {`{"` + "\u2028" + `":{}}`, `{"` + "\u2028" + `":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Arguments(test.output)
			require.NoError(t, err)
			assert.Equal(t, test.want, string(got))
		})
	}
}

func TestArgumentsThatAreNone(t *testing.T) {
	for output, reason := range map[string]string{
		`{"a":`:      "They must be a JSON object, but are not valid JSON: unexpected end",
		`{"a":1} x`:  "They must be a JSON object, but are not valid JSON: unexpected data after the value",
		`[1]`:        "They must be a JSON object, but are an array.",
		`7`:          "They must be a JSON object, but are a number.",
		`"a"`:        "They must be a JSON object, but are a string.",
		`"{\"a\":"`:  "They must be a JSON object, but are a string.",
		`hello`:      "They must be a JSON object, but are not valid JSON: expected a value",
		`"{}" {}`:    "They must be a JSON object, but are not valid JSON: unexpected data after the value",
		"{'a': 'b'}": "They must be a JSON object, but are not valid JSON",
	} {
		_, err := Arguments(output)
		var bad *ArgumentsError
		require.ErrorAs(t, err, &bad, output)
		assert.Contains(t, bad.Reason, reason)
		assert.Contains(t, bad.ForModel(), "Call the function again")
		assert.ErrorContains(t, err, "llmcontent: arguments: ")
	}
	_, err := Arguments(make(chan int))
	assert.ErrorContains(t, err, "cannot be written as JSON")

	_, err = function(t, `{}`, Anthropic).Arguments("[]")
	assert.ErrorContains(t, err, "llmcontent: arguments of mcp__server__tool: They must be a JSON object")
}

func TestArgumentsCopyWhatTheyGet(t *testing.T) {
	output := []byte(`{"a":1}`)
	got, err := Arguments(output)
	require.NoError(t, err)
	clear(output)
	assert.Equal(t, `{"a":1}`, string(got))
}

func TestRestoreArguments(t *testing.T) {
	const renamed = `{"properties":{"$top":{"type":"integer"},
		"in":{"anyOf":[{"type":"string"},{"type":"object","properties":{"a b":{"type":"string"}}}]},
		"map":{"type":"object","additionalProperties":{"properties":{"c d":{}}}},
		"pair":{"prefixItems":[{"type":"object","properties":{"e f":{}}}],"items":{"type":"object","properties":{"g h":{}}}},
		"list":{"items":{"properties":{"i j":{}}},"contains":{"properties":{"k l":{}}},"unevaluatedItems":{"properties":{}}}},
		"patternProperties":{"^in":{"properties":{"m n":{}}}}}`
	const optional = `{"properties":{"a":{"type":"string"},"o":{"type":"object","properties":{"b":{"type":"integer"}}},
		"n":{"type":["string","null"]}},"required":["o"]}`
	const recursive = `{"properties":{"$and":{"type":"array","items":{"$ref":"#"}},"$eq":{"type":"string"}}}`
	const free = `{"properties":{"o":{"type":"object"},"any":{},"s":{"type":"string"}}}`
	for name, test := range map[string]struct {
		schema      string
		dialect     Dialect
		model, tool string
	}{
		"names": {renamed, Anthropic,
			`{"_top_81bf98e4":5,"in":{"a_b_c8687a08":"x"},"map":{"k":{"c_d_b561f19f":1}},` +
				`"pair":[{"e_f_526c8fec":1},{"g_h_0cf976b5":2}]}`,
			`{"$top":5,"in":{"a b":"x"},"map":{"k":{"c d":1}},"pair":[{"e f":1},{"g h":2}]}`},
		"a name where it is not renamed": {renamed, Anthropic,
			`{"in":{"_top_81bf98e4":1},"other":{"a_b_c8687a08":1}}`,
			`{"in":{"_top_81bf98e4":1},"other":{"a_b_c8687a08":1}}`},
		"names in elements": {renamed, Anthropic,
			`{"list":[{"i_j_34db837a":1},{"k_l_7f69f27d":2}]}`, `{"list":[{"i j":1},{"k l":2}]}`},
		"a name by a pattern beside others": {renamed, Anthropic,
			`{"in":{"a_b_c8687a08":1,"m_n_66a8ca32":2}}`, `{"in":{"a b":1,"m n":2}}`},
		"both names":               {renamed, Anthropic, `{"$top":1,"_top_81bf98e4":2}`, `{"$top":2}`},
		"both names the other way": {renamed, Anthropic, `{"_top_81bf98e4":2,"$top":1}`, `{"$top":2}`},
		"names below a cut reference": {recursive, Anthropic,
			`{"_and_000bc51c":[{"_and_000bc51c":[{"_and_000bc51c":[{"_and_000bc51c":[{"_eq_9c2eeeeb":"x"}]}]}]}]}`,
			`{"$and":[{"$and":[{"$and":[{"$and":[{"$eq":"x"}]}]}]}]}`},
		"names below a cut reference, as text": {recursive, Gemini,
			`{"_and_000bc51c":[{"_and_000bc51c":["{\"_and_000bc51c\":[{\"_eq_9c2eeeeb\":\"x\"}]}"]}]}`,
			`{"$and":[{"$and":[{"$and":[{"$eq":"x"}]}]}]}`},
		"the original name":          {renamed, Anthropic, `{"$top":5}`, `{"$top":5}`},
		"null for what is optional":  {optional, OpenAIChatStrict, `{"a":null,"o":{"b":null},"n":null}`, `{"o":{},"n":null}`},
		"null for what is not known": {optional, OpenAIChatStrict, `{"x":null,"o":null}`, `{"x":null,"o":null}`},
		"null without strict mode":   {optional, Anthropic, `{"a": null}`, `{"a": null}`},
		"text for an object":         {free, Gemini, `{"o":"{\"a\":1.50}"}`, `{"o":{"a":1.50}}`},
		"an object for an object":    {free, Gemini, `{"o":{"a":1}}`, `{"o":{"a":1}}`},
		"other text for an object":   {free, Gemini, `{"o":"[1]"}`, `{"o":"[1]"}`},
		"text for anything":          {free, Gemini, `{"any":"[1]"}`, `{"any":[1]}`},
		"text that is just text":     {free, Gemini, `{"any":"12","s":"{}"}`, `{"any":"12","s":"{}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := function(t, test.schema, test.dialect)
			got, err := f.RestoreArguments(json.RawMessage(test.model))
			require.NoError(t, err)
			assert.Equal(t, test.tool, string(got), "%s", f.Parameters)
		})
	}
	_, err := function(t, renamed, Anthropic).RestoreArguments(json.RawMessage(`{"a":`))
	var bad *ArgumentsError
	assert.ErrorAs(t, err, &bad)
}

// In strict mode a null stands for nothing where one alternative has the property as an optional one. Where another
// takes null as a value, nobody could tell, so that there is no strict mode.
func TestNullInAlternatives(t *testing.T) {
	schema := func(wrap, x, required string) string {
		return fmt.Sprintf(`{"properties":{"v":`+wrap+`},"required":["v"]}`, `{"anyOf":[
			{"type":"object","properties":{"k":{"const":"a","type":"string"},"x":{"type":"string"}},"required":["k"]},
			{"type":"object","properties":{"k":{"const":"b","type":"string"},"x":`+x+`},"required":["k"`+required+`]}]}`)
	}
	f := function(t, schema(`%s`, `{"type":"string"}`, `,"x"`), OpenAIResponsesStrict)
	require.True(t, f.Strict)
	got, err := f.Arguments(`{"v":{"k":"a","x":null}}`)
	require.NoError(t, err)
	assert.Equal(t, `{"v":{"k":"a"}}`, string(got))
	assert.NoError(t, f.CheckArguments(got))

	const text = `{"type":["string","null"]}`
	for _, ambiguous := range []string{
		schema(`%s`, text, ``), schema(`%s`, text, `,"x"`), schema(`{"type":"array","items":%s}`, text, ``),
		schema(`{"type":"object","properties":{"o":%s}}`, text, ``),
		schema(`{"anyOf":[%s,{"type":"string"}]}`, text, ``),
	} {
		assert.False(t, function(t, ambiguous, OpenAIResponsesStrict).Strict, ambiguous)
	}
}

func TestCheckArguments(t *testing.T) {
	f := function(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, Plain)
	assert.NoError(t, f.CheckArguments(json.RawMessage(`{"n":1}`)))
	for _, args := range []string{`{}`, `{"n":"1"}`} {
		err := f.CheckArguments(json.RawMessage(args))
		var bad *ArgumentsError
		require.ErrorAs(t, err, &bad)
		assert.Contains(t, bad.ForModel(), "The arguments are not valid: They do not fit the schema: ")
		assert.Contains(t, bad.ForModel(), "n")
		assert.Equal(t, "mcp__server__tool", bad.Function)
	}
	f = function(t, `{"type":"object","properties":{"n":{"type":"integer","nullable":true}},"required":["n"]}`, Plain)
	assert.NoError(t, f.CheckArguments(json.RawMessage(`{"n":null}`)), "the model was told of it")
	assert.Error(t, f.CheckArguments(json.RawMessage(`{"n":"1"}`)))
	assert.NoError(t, function(t, `{"type":"nonsense"}`, Plain).CheckArguments(json.RawMessage(`{}`)))
	assert.NoError(t, function(t, ``, Plain).CheckArguments(json.RawMessage(`{}`)))
}
