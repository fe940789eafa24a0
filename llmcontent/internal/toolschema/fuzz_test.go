package toolschema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever the schema, each target gets what its rules allow, twice the same, and arguments of any kind come back.
func FuzzSchema(f *testing.F) {
	for _, text := range []string{
		``, `null`, `{"type":"object","properties":{"$a":{"type":["string","null"]},"b":{"$ref":"#"}},"required":["$a"]}`,
		`{"anyOf":[{"properties":{"k":{"const":1}}},{"$ref":"#/$defs/x"}],"$defs":{"x":{"allOf":[{"items":[{}]}]}}}`,
		`{"properties":{"a":{"oneOf":[{"type":"null"},{"enum":["",1]}],"nullable":true},"2":{"type":["array","object"]}}}`,
		`{"properties":{"a":{"dependencies":{"x":["y"],"z":{"not":false}},"patternProperties":{"^":{"properties":{"é":{}}}}}}}`,
	} {
		f.Add(text, `{"_a_b9b1fb43":null,"b":{"a":"{}"}}`)
	}
	names := map[Target]string{Plain: "plain", OpenAI: "openai-responses", Anthropic: "anthropic", Gemini: "gemini"}
	f.Fuzz(func(t *testing.T, text, args string) {
		s, err := Parse([]byte(text))
		if err != nil {
			return
		}
		for _, target := range targets {
			p, err := s.Convert(target, true)
			if err != nil {
				require.ErrorIs(t, err, errTooLarge)
				continue
			}
			again, err := s.Convert(target, true)
			require.NoError(t, err)
			require.Equal(t, string(p.JSON), string(again.JSON))

			checkDefinition(t, names[target], p)

			restored, err := p.Restore(json.RawMessage(args))
			if json.Valid([]byte(args)) {
				require.NoError(t, err)
				assert.True(t, json.Valid(restored))
			}
		}
	})
}
