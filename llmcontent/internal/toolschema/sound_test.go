package toolschema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/internal/schema"
)

// plainSchema makes a schema that has only what all dialects but Gemini's can say.
func (g generator) plainSchema(depth int) string {
	n := g.IntN(10)
	if depth == 0 {
		n = g.IntN(5)
	}
	inner := func() string { return g.plainSchema(depth - 1) }
	object := func() string { return g.plainObject(depth - 1) }
	switch n {
	case 0:
		return `{"type":"string"}`
	case 1:
		return g.pick(`{"type":"string","enum":["x","y"]}`, `{"type":"string","const":"x"}`)
	case 2:
		return `{"type":["integer","null"]}`
	case 3:
		return `{"type":"integer","minimum":3}`
	case 4:
		return `{"type":"boolean"}`
	case 5:
		return fmt.Sprintf(`{"type":"array","items":%s%s}`, inner(),
			g.pick("", `,"contains":`+object(), `,"prefixItems":[`+object()+`]`))
	case 6:
		return fmt.Sprintf(`{"anyOf":[%s,%s]}`, object(), inner())
	}
	return g.plainObject(depth)
}

func (g generator) plainObject(depth int) string {
	var properties, required []string
	for _, name := range []string{"a", "$top", "a b"} {
		if g.IntN(2) == 0 {
			properties = append(properties, fmt.Sprintf(`%q:%s`, name, g.plainSchema(max(depth-1, 0))))
			if g.IntN(3) > 0 {
				required = append(required, fmt.Sprintf(`%q`, name))
			}
		}
	}
	more := ""
	if g.IntN(2) == 0 && depth > 0 {
		inner := g.plainObject(depth - 1)
		more = g.pick(`,"additionalProperties":false`, `,"additionalProperties":`+inner,
			`,"patternProperties":{"^a":`+inner+`}`, `,"if":{"required":["a"]},"then":`+inner,
			`,"dependentSchemas":{"a b":`+inner+`}`)
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s]%s}`,
		strings.Join(properties, ","), strings.Join(required, ","), more)
}

// valueFor makes a value that may well fit a schema.
func (g generator) valueFor(n *node) *node {
	if values := valuesOf(n); values != nil {
		return values[g.IntN(len(values))]
	}
	if list := n.get("anyOf"); list != nil {
		return g.valueFor(list.list[g.IntN(len(list.list))])
	}
	types := typesOf(n.get("type"))
	if len(types) == 0 {
		return newString("any")
	}
	switch types[g.IntN(len(types))] {
	case "null":
		return newNull()
	case "boolean":
		return newBool(true)
	case "integer":
		return &node{kind: jsonscan.Number, text: "9007199254740993"}
	case "array":
		out := newArray()
		for range g.IntN(4) {
			of := n.get(g.pick("items", "contains", "prefixItems"))
			if of == nil {
				of = n.get("items")
			} else if of.kind == jsonscan.Array {
				of = of.list[0]
			}
			out.list = append(out.list, g.valueFor(of))
		}
		return out
	case "object":
		return g.fittingObject(n)
	}
	return newString(g.pick("x", "y", "z"))
}

func (g generator) fittingObject(n *node) *node {
	out := newObject()
	required := stringsOf(n.get("required"))
	for _, p := range n.get("properties").orEmpty() {
		if slices.Contains(required, p.name) || g.IntN(2) == 0 {
			out = out.with(p.name, g.valueFor(p.value))
		}
	}
	if v := n.get("additionalProperties"); v.is(jsonscan.Object) {
		out = out.with("other", g.valueFor(v))
	}
	for _, p := range n.get("patternProperties").orEmpty() {
		out = out.with(g.pick("a", "ab"), g.valueFor(p.value))
	}
	for _, also := range append([]member{{"then", n.get("then")}}, n.get("dependentSchemas").orEmpty()...) {
		if also.value != nil && g.IntN(2) == 0 {
			for _, p := range g.valueFor(also.value).members {
				out = out.with(p.name, p.value)
			}
		}
	}
	return out
}

// A value that fits the schema for the model comes back as one that fits the schema of the tool.
func FuzzRestoredValuesFit(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := generator{rand.New(rand.NewPCG(seed, 2))}
		text := g.plainObject(3)
		original, err := schema.Compile(json.RawMessage(text))
		require.NoError(t, err)
		s, err := Parse([]byte(text))
		require.NoError(t, err)
		for _, target := range []Target{Plain, OpenAIStrict, Anthropic} {
			p, err := s.Convert(target)
			require.NoError(t, err)
			forModel, err := schema.Compile(p.JSON)
			require.NoError(t, err)
			root, err := parse(p.JSON, maxDepth)
			require.NoError(t, err)
			for range 8 {
				value := g.valueFor(root).encode(nil)
				if forModel.Validate(value) != nil {
					continue
				}
				restored, err := p.Restore(value)
				require.NoError(t, err)
				require.NoError(t, original.Validate(restored), "%s\n%s\n%s\n%s", text, p.JSON, value, restored)
			}
		}
	})
}
