package modelrules

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// definitions wraps a schema as each dialect does.
var definitions = map[string]string{
	"plain":            `{"name":"f","parameters":%s}`,
	"openai-chat":      `{"type":"function","function":{"name":"f","parameters":%s}}`,
	"openai-responses": `{"type":"function","name":"f","strict":false,"parameters":%s}`,
	"openai-strict":    `{"type":"function","name":"f","strict":true,"parameters":%s}`,
	"anthropic":        `{"name":"f","input_schema":%s}`,
	"gemini":           `{"name":"f","parameters":%s}`,
}

func check(dialect, schema string) error {
	definition := fmt.Sprintf(definitions[dialect], schema)
	if dialect == "openai-strict" {
		dialect = "openai-responses"
	}
	return Check(dialect, []byte(definition))
}

// The rules refuse what the providers do. A property of a good schema is replaced by a bad one.
func TestTheRulesBite(t *testing.T) {
	lower := `{"type":"object","properties":{"a":%s},"required":["a"]}`
	strict := `{"type":"object","properties":{"a":%s},"required":["a"],"additionalProperties":false}`
	upper := `{"type":"OBJECT","properties":{"a":%s},"required":["a"]}`
	for dialect, c := range map[string]struct {
		frame string
		good  []string
		bad   []string
	}{
		"openai-chat": {lower, []string{`{}`, `{"type":"array","items":{}}`, `{"oneOf":[{}]}`},
			[]string{`{"type":"array"}`, `{"type":["array","null"]}`, `{"$ref":"#"}`, `{"type":"x"}`,
				`{"anyOf":[{"type":"array"}]}`, `{"properties":{"b":{"type":"array"}}}`}},
		"openai-strict": {strict,
			[]string{`{"type":"string","format":"uuid"}`, `{"anyOf":[{"type":"null"},{"type":"string"}]}`},
			[]string{`{}`, `{"type":"string","format":"uri"}`, `{"type":"string","minLength":1}`,
				`{"type":"string","default":"x"}`, `{"oneOf":[{"type":"string"}]}`, `{"type":"array"}`,
				`{"type":"object","properties":{},"required":[]}`, `{"type":"string","pattern":"(?=x)"}`,
				`{"type":"object","properties":{"b":{"type":"null"}},"required":[],"additionalProperties":false}`,
				`{"type":"object","properties":{},"required":["c"],"additionalProperties":false}`}},
		"anthropic": {lower, []string{`{"oneOf":[{"type":"string"}]}`, `{"properties":{"b.c-d":{}}}`},
			[]string{`{"$ref":"#"}`, `{"properties":{"$b":{}}}`, `{"items":[{}]}`, `{"exclusiveMinimum":true}`,
				`{"type":"any"}`, `{"required":true}`, `{"required":["x","x"]}`, `{"anyOf":[{"properties":{"b c":{}}}]}`}},
		"gemini": {upper,
			[]string{`{"type":"STRING","format":"enum","enum":["x"]}`, `{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}`},
			[]string{`{}`, `{"type":"string"}`, `{"type":["STRING"]}`, `{"type":"ARRAY"}`, `{"type":"OBJECT"}`,
				`{"type":"OBJECT","properties":{}}`, `{"type":"INTEGER","enum":["1"]}`, `{"type":"STRING","enum":[1]}`,
				`{"type":"STRING","enum":[""]}`, `{"type":"STRING","format":"uri"}`, `{"type":"STRING","items":{}}`,
				`{"type":"INTEGER","exclusiveMinimum":1}`, `{"type":"STRING","const":"x"}`,
				`{"description":"d","anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}`, `{"anyOf":[{"type":"STRING"}]}`,
				`{"type":"OBJECT","properties":{"$b":{"type":"STRING"}}}`,
				`{"type":"OBJECT","properties":{"b":{"type":"STRING"}},"required":["c"]}`,
				`{"type":"OBJECT","properties":{"b":{"type":"STRING"}},"additionalProperties":false}`}},
	} {
		t.Run(dialect, func(t *testing.T) {
			for _, property := range c.good {
				assert.NoError(t, check(dialect, fmt.Sprintf(c.frame, property)), property)
			}
			for _, property := range c.bad {
				assert.Error(t, check(dialect, fmt.Sprintf(c.frame, property)), property)
			}
		})
	}
}

func TestTheRulesBiteAtTheTop(t *testing.T) {
	for _, schema := range []string{
		`{"type":"object"}`, `{"properties":{}}`, `{"type":"object","properties":{},"anyOf":[{}]}`,
		`{"type":"object","properties":{},"oneOf":[{}]}`, `{"type":"object","properties":{},"allOf":[{}]}`,
		`{"type":["object"],"properties":{}}`,
	} {
		for dialect := range definitions {
			assert.Error(t, check(dialect, schema), "%s: %s", dialect, schema)
		}
	}
	for _, keyword := range []string{`"enum":[{}]`, `"const":{}`, `"not":{}`} {
		assert.Error(t, check("openai-chat", `{"type":"object","properties":{},`+keyword+`}`))
	}
	for _, dialect := range []string{"plain", "anthropic"} {
		assert.Error(t, Check(dialect, []byte(`{"name":"a b","parameters":{"type":"object","properties":{}}}`)))
	}
	assert.Error(t, check("gemini", `{"type":"OBJECT","properties":{}}`))
	assert.NoError(t, Check("gemini", []byte(`{"name":"f"}`)))
	assert.Error(t, Check("of nobody", []byte(`{}`)))
}

func TestProperties(t *testing.T) {
	got := Properties([]byte(`{"properties":{"b":{"items":{"properties":{"c":{}}}},"a":{"anyOf":[{"properties":{"d":{}}}]},
		"properties":{}},"not":{"properties":{"x":{}}},"default":{"properties":{"y":{}}}}`))
	assert.Equal(t, []string{"a", "b", "c", "d", "properties"}, got)
}

func TestSamples(t *testing.T) {
	full := []byte(`{"properties":{"$a":{"type":"object"},"b":{"enum":[2]},"c":{"type":"string"}},"required":["$a","b"]}`)
	gemini := []byte(`{"properties":{"_a":{"type":"STRING"},"b":{"type":"INTEGER"},"c":{"type":"STRING"}}}`)
	got := Samples(full, gemini)
	assert.Equal(t, `{"$a":{"any":[9007199254740993,1.50,null]},"b":2,"c":"te\u2028xt"}`, string(got[0].Tool))
	assert.Equal(t, `{"_a":"{\"any\":[9007199254740993,1.50,null]}","b":2,"c":"te\u2028xt"}`, string(got[0].Model))
	assert.Equal(t, `{"$a":{"any":[9007199254740993,1.50,null]},"b":2}`, string(got[1].Tool))

	strict := []byte(`{"properties":{"$a":{"type":"object"},"b":{"type":"integer"},"c":{"type":["string","null"]}},` +
		`"required":["$a","b","c"],"additionalProperties":false}`)
	got = Samples(full, strict)
	assert.Equal(t, `{"$a":{"any":[9007199254740993,1.50,null]},"b":2,"c":null}`, string(got[1].Model))
	assert.Equal(t, `{"$a":{"any":[9007199254740993,1.50,null]},"b":2}`, string(got[1].Tool))
}
