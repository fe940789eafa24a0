package toolschema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/modelrules"
)

// A generator makes schemas that are JSON Schema, with all that servers put into them.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) name() string {
	return g.pick("a", "b", "type", "properties", "$top", "ids[]", "2nd", "größe", "a b", "a_b", "x.y", "x-y", "items", "")
}

func (g generator) value() string {
	return g.pick(`"x"`, `""`, `"y"`, `1`, `2.5`, `true`, `null`, `{"a":1}`, `[]`, `12345678901234567890`)
}

func (g generator) schema(depth int) string {
	out := `{"x":0`
	for range g.IntN(4) {
		out += "," + g.keyword(depth)
	}
	return out + "}"
}

func (g generator) keyword(depth int) string {
	if depth <= 0 {
		return g.plain()
	}
	switch g.IntN(12) {
	case 0, 1:
		return `"type":"object","properties":` + g.object(depth)
	case 2:
		return g.pick(`"items":`, `"additionalProperties":`, `"not":`, `"if":`, `"contains":`) + g.schema(depth-1)
	case 3, 4:
		return fmt.Sprintf(`%s:[%s,%s]`, g.pick(`"anyOf"`, `"oneOf"`, `"allOf"`, `"prefixItems"`, `"items"`),
			g.schema(depth-1), g.schema(depth-1))
	case 5:
		return g.pick(`"patternProperties":`, `"dependentSchemas":`, `"dependencies":`) + g.object(depth)
	case 6:
		return `"$ref":"` + g.pick("#", "#/$defs/d", "#/properties/a", "#/nowhere") + `"`
	}
	return g.plain()
}

func (g generator) object(depth int) string {
	out, seen := "", map[string]bool{}
	for range 1 + g.IntN(3) {
		if name := g.name(); !seen[name] {
			seen[name] = true
			out += fmt.Sprintf(`,%q:%s`, name, g.schema(depth-1))
		}
	}
	return "{" + out[1:] + "}"
}

func (g generator) plain() string {
	types := []string{"string", "integer", "number", "boolean", "null", "array", "object", "nonsense"}
	switch g.IntN(9) {
	case 0, 1, 2:
		return fmt.Sprintf(`"type":%q`, g.pick(types...))
	case 3:
		return fmt.Sprintf(`"type":[%q,%q]`, g.pick(types...), g.pick(types...))
	case 4:
		return fmt.Sprintf(`"enum":[%s,%s]`, g.value(), g.value())
	case 5:
		return g.pick(`"const":`, `"default":`) + g.value()
	case 6:
		return fmt.Sprintf(`"required":[%q,%q]`, g.name(), g.name())
	case 7:
		return g.pick(`"format":"uri"`, `"format":"date-time"`, `"pattern":"^a"`, `"minLength":1`, `"nullable":true`,
			`"exclusiveMinimum":0`, `"exclusiveMaximum":true`, `"title":"T"`, `"maxItems":-1`)
	}
	return `"description":"D"`
}

// Schemas of all shapes give what the rules allow. Nothing is lost but what Gemini has no words for, and arguments come
// back as they went.
func FuzzGeneratedSchema(f *testing.F) {
	for seed := range uint64(64) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		text := fmt.Sprintf(`{"$defs":{"d":%s},"type":"object","properties":%s,%s}`,
			g.schema(2), g.object(3), g.keyword(3))
		s, err := Parse([]byte(text))
		require.NoError(t, err)
		full, err := s.Convert(Plain)
		require.NoError(t, err)
		for _, target := range targets {
			p, err := s.Convert(target)
			require.NoError(t, err)
			checkDefinition(t, dialects[target], p)
			if target != Gemini {
				assert.Len(t, modelrules.Properties(p.JSON), len(modelrules.Properties(full.JSON)), "%s\n%s", text, p.JSON)
			}
			if target == Anthropic || p.Strict {
				for _, sample := range modelrules.Samples(full.JSON, p.JSON) {
					args, err := p.Restore(sample.Model)
					require.NoError(t, err)
					assert.Equal(t, string(sample.Tool), string(args), "%s\n%s\n%s", text, p.JSON, sample.Model)
				}
			}
		}
	})
}

func checkDefinition(t *testing.T, dialect string, p *Parameters) {
	t.Helper()
	definition := map[string]any{"name": "f", "parameters": p.JSON}
	switch dialect {
	case "openai-responses-strict":
		definition["strict"] = p.Strict
	case "anthropic":
		definition = map[string]any{"name": "f", "input_schema": p.JSON}
	case "gemini":
		if len(modelrules.Properties(p.JSON)) == 0 {
			delete(definition, "parameters")
		}
	}
	b, err := json.Marshal(definition)
	require.NoError(t, err)
	require.NoError(t, modelrules.Check(dialect, b), "%s", b)
}
