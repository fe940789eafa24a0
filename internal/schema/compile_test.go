package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	latest = `"$schema":"https://json-schema.org/draft/2020-12/schema"`
	seven  = `"$schema":"http://json-schema.org/draft-07/schema#"`
)

func compile(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(schema))
	require.NoError(t, err, schema)
	return s
}

func matches(t testing.TB, s *Schema, instance string) {
	t.Helper()
	assert.NoError(t, s.Validate(json.RawMessage(instance)), instance)
}

func fails(t testing.TB, s *Schema, instance string) {
	t.Helper()
	err := s.Validate(json.RawMessage(instance))
	assert.Error(t, err, instance)
	assert.NotErrorIs(t, err, ErrTooComplex)
}

func TestDialects(t *testing.T) {
	for _, accepted := range []string{
		"https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema#",
		"http://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#",
		"http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema#",
		"https://json-schema.org/draft-07/schema",
	} {
		s := compile(t, fmt.Sprintf(`{"$schema":%q,"type":"string"}`, accepted))
		matches(t, s, `"x"`)
		fails(t, s, `1`)
	}
	for _, refused := range []string{
		`"http://json-schema.org/draft-04/schema#"`, `"http://json-schema.org/draft-06/schema#"`,
		`"https://json-schema.org/draft/2019-09/schema"`, `"http://json-schema.org/schema#"`, `""`, `7`, `null`,
	} {
		_, err := Compile(json.RawMessage(`{"$schema":` + refused + `}`))
		assert.ErrorContains(t, err, "only draft 2020-12 and draft-07 are", refused)
	}
	_, err := Compile(json.RawMessage(`{"$defs":{"a":{"$id":"http://h/a",` + seven + `}}}`))
	assert.ErrorContains(t, err, "another dialect")
}

// What means one thing in one dialect and another in the other.
func TestDialectsDiffer(t *testing.T) {
	for _, c := range []struct {
		name, schema, instance string
		latest, seven          bool
	}{
		{"$ref siblings", `"$ref":"#/definitions/any","type":"string","definitions":{"any":true}`, `1`, false, true},
		{"definitions", `"$ref":"#/definitions/s","definitions":{"s":{"type":"string"}}`, `1`, false, false},
		{"$defs", `"$ref":"#/$defs/s","$defs":{"s":{"type":"string"}}`, `1`, false, false},
		{"prefixItems", `"prefixItems":[{"type":"string"}]`, `[1]`, false, true},
		{"items after prefixItems", `"prefixItems":[true],"items":false`, `[1]`, true, false},
		{"additionalItems", `"items":true,"additionalItems":false`, `[1,2]`, true, true},
		{"dependencies on names", `"dependencies":{"a":["b"]}`, `{"a":1}`, true, false},
		{"dependencies on a schema", `"dependencies":{"a":{"required":["b"]}}`, `{"a":1}`, true, false},
		{"dependentRequired", `"dependentRequired":{"a":["b"]}`, `{"a":1}`, false, true},
		{"dependentSchemas", `"dependentSchemas":{"a":false}`, `{"a":1}`, false, true},
		{"unevaluatedProperties", `"unevaluatedProperties":false`, `{"a":1}`, false, true},
		{"minContains", `"contains":{"type":"string"},"minContains":0`, `[1]`, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for dialect, want := range map[string]bool{latest: c.latest, seven: c.seven} {
				err := compile(t, "{"+dialect+","+c.schema+"}").Validate(json.RawMessage(c.instance))
				assert.Equal(t, want, err == nil, "%s: %v", dialect, err)
			}
		})
	}

	tuple := `"items":[{"type":"string"}],"additionalItems":{"type":"integer"}`
	s := compile(t, "{"+seven+","+tuple+"}")
	matches(t, s, `["a",1,2]`)
	fails(t, s, `[1]`)
	fails(t, s, `["a","b"]`)
	_, err := Compile(json.RawMessage("{" + latest + "," + tuple + "}"))
	assert.ErrorContains(t, err, "items: expected a schema")
}

func TestBooleanSchemas(t *testing.T) {
	matches(t, compile(t, `true`), `{"a":1}`)
	fails(t, compile(t, `false`), `null`)
	s := compile(t, `{"properties":{"a":true,"b":false}}`)
	matches(t, s, `{"a":1}`)
	fails(t, s, `{"b":1}`)
}

func TestReferences(t *testing.T) {
	for name, schema := range map[string]string{
		"pointer":         `{"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"string"}}}`,
		"escaped":         `{"properties":{"a":{"$ref":"#/$defs/x~1y~0z%25"}},"$defs":{"x/y~z%":{"type":"string"}}}`,
		"into a list":     `{"properties":{"a":{"$ref":"#/allOf/1"}},"allOf":[true,{"type":["object","string"]}]}`,
		"unknown keyword": `{"properties":{"a":{"$ref":"#/components/s"}},"components":{"s":{"type":"string"}}}`,
		"anchor":          `{"properties":{"a":{"$ref":"#s"}},"$defs":{"x":{"$anchor":"s","type":"string"}}}`,
		"anchor in 7":     `{` + seven + `,"properties":{"a":{"$ref":"#s"}},"definitions":{"x":{"$id":"#s","type":"string"}}}`,
		"dynamic":         `{"properties":{"a":{"$dynamicRef":"#s"}},"$defs":{"x":{"$dynamicAnchor":"s","type":"string"}}}`,
		"both":            `{"properties":{"a":{"$ref":"#/$defs/y","$dynamicRef":"#/$defs/x"}},"$defs":{"x":{"type":"string"},"y":true}}`,
		"own URI":         `{"$id":"http://h/s.json","properties":{"a":{"$ref":"s.json#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`,
		"relative $id":    `{"$id":"Thing","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`,
		"resource":        `{"$id":"http://h/","properties":{"a":{"$ref":"x#/$defs/y"}},"$defs":{"z":{"$id":"x","$defs":{"y":{"type":"string"}}}}}`,
		"in a resource":   `{"properties":{"a":{"$ref":"urn:x"}},"$defs":{"z":{"$id":"urn:x","$ref":"#/$defs/y","$defs":{"y":{"type":"string"}}}}}`,
		"chain":           `{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/z"},"z":{"type":"string"}}}`,
		"defs and definitions": `{"properties":{"a":{"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/definitions/x"}]}},
			"$defs":{"x":true},"definitions":{"x":{"type":"string"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := compile(t, schema)
			matches(t, s, `{"a":"x"}`)
			fails(t, s, `{"a":1}`)
		})
	}
}

func TestRecursionThroughMembersAndElements(t *testing.T) {
	s := compile(t, `{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"},"v":{"type":"integer"}}}`)
	tree := `{"v":1}`
	for range 60 {
		tree = `{"left":` + tree + `,"right":{"v":2},"v":3}`
	}
	matches(t, s, tree)
	fails(t, s, strings.Replace(tree, `"v":1`, `"v":"1"`, 1))

	nested := compile(t, `{"type":"array","items":{"$ref":"#"}}`)
	matches(t, nested, strings.Repeat("[", 200)+strings.Repeat("]", 200))
	fails(t, nested, strings.Repeat("[", 200)+"1"+strings.Repeat("]", 200))
}

func TestNothingIsFetched(t *testing.T) {
	for _, ref := range []string{
		"http://127.0.0.1:9/schema.json", "https://json-schema.org/draft/2020-12/schema", "file:///etc/passwd", "other.json",
		"//host/x", "/abs", "ftp://h/x#/a",
	} {
		for _, keyword := range []string{"$ref", "$dynamicRef"} {
			_, err := Compile(json.RawMessage(fmt.Sprintf(`{"properties":{"a":{%q:%q}}}`, keyword, ref)))
			assert.ErrorContains(t, err, "nothing is fetched", ref)
		}
	}
}

func TestUnusableSchemas(t *testing.T) {
	for schema, reason := range map[string]string{
		``:                                    "cannot read",
		`{`:                                   "cannot read",
		`{} {}`:                               "cannot read",
		`null`:                                "expected a schema",
		`"string"`:                            "expected a schema",
		`[]`:                                  "expected a schema",
		`{"type":"nonsense"}`:                 "there is no type",
		`{"type":["string","nonsense"]}`:      "there is no type",
		`{"type":[]}`:                         "at least one",
		`{"type":5}`:                          "type: expected",
		`{"type":null}`:                       "type: expected",
		`{"properties":[]}`:                   "properties: expected",
		`{"properties":{"a":"string"}}`:       "properties/a: expected a schema",
		`{"properties":{"a":null}}`:           "properties/a: expected a schema",
		`{"properties":{"a":{"type":"x"}}}`:   "properties/a: type",
		`{"required":true}`:                   "required: expected",
		`{"required":[1]}`:                    "required: expected",
		`{"enum":"a"}`:                        "enum: expected",
		`{"maximum":"5"}`:                     "maximum: expected",
		`{"maximum":1e999}`:                   "out of range",
		`{"exclusiveMaximum":true}`:           "exclusiveMaximum: expected",
		`{"minLength":-1}`:                    "minLength: expected",
		`{"minLength":1.5}`:                   "minLength: expected",
		`{"multipleOf":0}`:                    "multipleOf: expected",
		`{"uniqueItems":1}`:                   "uniqueItems: expected",
		`{"allOf":{}}`:                        "allOf: expected",
		`{"anyOf":[]}`:                        "anyOf: expected",
		`{"not":1}`:                           "not: expected a schema",
		`{"pattern":"(?=x)"}`:                 "regular expression",
		`{"pattern":"(x{1000}){1000}"}`:       "regular expression",
		`{"patternProperties":{"[":true}}`:    "regular expression",
		`{"dependentRequired":{"a":"b"}}`:     "dependentRequired: expected",
		`{"$ref":1}`:                          "$ref: expected",
		`{"$ref":"#/nowhere"}`:                "points to nothing",
		`{"$ref":"#/allOf/01","allOf":[{}]}`:  "points to nothing",
		`{"$ref":"#nowhere"}`:                 "no such anchor",
		`{"$ref":"#/$defs","$defs":{"a":{}}}`: "",
		`{"$ref":"#/x","x":7}`:                "expected a schema",
		`{"$ref":"%zz"}`:                      "not a URI",
		`{"$id":":","$ref":"#"}`:              "$id",
		`{"allOf":[{"$anchor":"a"},{"$anchor":"a"}]}`:                                                          "used twice",
		`{"$dynamicRef":"#a","allOf":[{"$id":"x:1","$dynamicAnchor":"a"},{"$id":"x:2","$dynamicAnchor":"a"}]}`: "$dynamicAnchor",
	} {
		s, err := Compile(json.RawMessage(schema))
		if reason == "" {
			assert.NotNil(t, s, schema) // an object where a schema is not expected still is one
			continue
		}
		assert.ErrorContains(t, err, reason, schema)
	}
}

func TestWhatIsNotForValidationMayBeWrong(t *testing.T) {
	s := compile(t, `{"title":5,"description":{},"default":[],"examples":{},"deprecated":"yes","readOnly":1,"$comment":0,
		"format":3,"$vocabulary":1,"x-foo":null,"type":"string","properties":{"title":{"type":"string"}}}`)
	matches(t, s, `"x"`)
	fails(t, s, `1`)
}

func TestLimitsOfSchemas(t *testing.T) {
	nested := func(levels int) string {
		return strings.Repeat(`{"not":`, levels) + `{}` + strings.Repeat(`}`, levels)
	}
	patterns := func(count int, pattern string) string {
		return `{"allOf":[` + strings.Repeat(`{"pattern":"`+pattern+`"},`, count) + `true]}`
	}
	name := strings.Repeat("n", 500_000)
	for name, c := range map[string]struct{ accepted, refused, reason string }{
		"text":       {`{"title":"` + strings.Repeat("x", maxText-100) + `"}`, `{"title":"` + strings.Repeat("x", maxText) + `"}`, "bytes"},
		"nesting":    {nested(maxNesting - 1), nested(maxNesting), "levels deep"},
		"subschemas": {`{"allOf":[` + strings.Repeat(`{},`, maxSchemas-2) + `{}]}`, `{"allOf":[` + strings.Repeat(`{},`, maxSchemas-1) + `{}]}`, "subschemas"},
		"pattern":    {patterns(1, strings.Repeat("x", maxPattern)), patterns(1, strings.Repeat("x", maxPattern+1)), "regular expression"},
		"programs":   {patterns(15, "x{1000}"), patterns(25, "x{1000}"), "instructions"},
		"classes":    {patterns(1, `\\pL{1,64}`), patterns(1000, `\\pL{1000}`), "instructions"},
		"paths":      {`{"properties":{"` + name + `":{"allOf":[{},{}]}}}`, `{"properties":{"` + name + `":{"allOf":[` + strings.Repeat(`{},`, 1000) + `{}]}}}`, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			compile(t, c.accepted)
			_, err := Compile(json.RawMessage(c.refused))
			require.ErrorContains(t, err, c.reason)
			assert.Less(t, len(err.Error()), 600)
		})
	}
}

func TestCompileSharesNothingWithItsText(t *testing.T) {
	long := strings.Repeat("x", 2000)
	raw := []byte(`{"enum":["` + long + `"]}`)
	s, err := Compile(raw)
	require.NoError(t, err)
	for i := range raw {
		raw[i] = 'y'
	}
	matches(t, s, `"`+long+`"`)
}
