package llmcontent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

func TestInputSchema(t *testing.T) {
	const empty = `{"type":"object","properties":{}}`
	tests := map[string]struct{ schema, want string }{
		"missing":    {"", empty},
		"null":       {"null", empty},
		"empty":      {"{}", empty},
		"no object":  {`[1]`, empty},
		"true":       {`true`, empty},
		"not JSON":   {`{"type":"object",`, empty},
		"then bytes": {`{"type":"object","properties":{"a":{}}} x`, empty},

		"no properties":       {`{"type":"object"}`, empty},
		"null properties":     {`{"type":"object","properties":null}`, empty},
		"list of properties":  {`{"type":"object","properties":[]}`, empty},
		"no type":             {`{"properties":{"b":{},"a":{}}}`, `{"type":"object","properties":{"b":{},"a":{}}}`},
		"null type":           {`{"properties":{},"type":null}`, empty},
		"type that is a list": {`{"type":["object","null"],"properties":{}}`, empty},
		"type of no object":   {`{"type":"string"}`, empty},

		"other keywords stay": {
			`{"$schema":"x", "anyOf":[ {"required":["a"]} ],"type":"object","m<\u00e9\"":1e400,"$defs":{}}`,
			`{"type":"object","properties":{},"$schema":"x","anyOf":[ {"required":["a"]} ],"m<é\"":1e400,"$defs":{}}`,
		},
		"the last of two counts": {
			`{"type":"object","properties":{"a":{}},"properties":null}`, empty,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, string(InputSchema(&mcp.Tool{InputSchema: json.RawMessage(test.schema)})))
		})
	}
	assert.Equal(t, empty, string(InputSchema(&mcp.Tool{})))
}

func TestInputSchemaThatIsFineIsKept(t *testing.T) {
	for _, schema := range []string{
		` { "type" : "object" , "properties" : { } } `,
		`{"properties":{"n":{"type":"integer","maximum":9007199254740993}},"type":"\u006fbject","required":["n"]}`,
	} {
		tool := &mcp.Tool{InputSchema: json.RawMessage(schema)}
		got := InputSchema(tool)
		assert.Equal(t, schema, string(got))
		clear(got)
		assert.Equal(t, schema, string(tool.InputSchema), "what is returned is the caller's own")
	}
}

func FuzzInputSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`)
	f.Add(`{"properties":[],"type":"array","items":{"a":1}}`)
	f.Add(`{"\u0074ype":"object","properties":{},"properties":1}`)
	f.Add("null")
	f.Add("")
	f.Fuzz(func(t *testing.T, schema string) {
		tool := &mcp.Tool{InputSchema: json.RawMessage(strings.Clone(schema))}
		got := InputSchema(tool)
		require.Equal(t, schema, string(tool.InputSchema))
		var after map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(got, &after))
		assert.JSONEq(t, `"object"`, string(after["type"]))
		assert.True(t, strings.HasPrefix(string(after["properties"]), "{"))
		assert.Equal(t, string(got), string(InputSchema(&mcp.Tool{InputSchema: got})), "a good schema stays as it is")

		var before map[string]json.RawMessage
		if json.Unmarshal([]byte(schema), &before) != nil {
			return
		}
		for key, value := range before {
			if key != "type" && key != "properties" {
				assert.Equal(t, string(value), string(after[key]), "the keyword %q", key)
			}
		}
	})
}
