package spectest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A generator makes instances of the definitions of a schema. It knows what these schemas are written with, no more.
type generator struct{ *spec }

const (
	someText = "text with <b> & \"quotes\" \u2028 \U0001F600"
	bigInt   = json.Number("9007199254740993") // a float64 cannot hold it
)

// samples are values of any kind, the fullest first.
func samples() []any {
	deep := []any{object{"n": bigInt, "null": nil}, json.Number("0.1"), []any{}, object{}}
	return []any{object{"deep": deep}, object{}, deep, someText, "", bigInt, json.Number("1e-7"), true, false, nil}
}

// recursive are definitions that never end. The schema has neither null nor fractions in them.
var recursive = map[string][]any{
	"JSONValue":  {object{"deep": []any{bigInt}}, object{}, []any{}, someText, "", bigInt, true, false},
	"JSONObject": {object{"deep": []any{object{"n": bigInt}, ""}}, object{}},
	"JSONArray":  {[]any{object{"n": bigInt}, []any{someText}}, []any{}},
}

// least is the smallest instance: what is required, and the first branch of a union.
func (g generator) least(schema any) any {
	s := g.resolve(schema)
	if s["type"] == "object" {
		return g.objectOf(s, func(_ string, required bool) bool { return required }, g.least)
	}
	if branches, ok := s["anyOf"].([]any); ok {
		return g.least(branches[0])
	}
	forms := g.forms(s)
	return forms[len(forms)-1]
}

// full is the largest instance: all that is allowed, and the first branch of a union. A list has each of them.
func (g generator) full(schema any) any {
	s := g.resolve(schema)
	switch s["type"] {
	case "object":
		full := g.objectOf(s, func(string, bool) bool { return true }, g.full)
		g.addMore(full, s["additionalProperties"])
		return full
	case "array":
		return g.list(s, g.fullOfEach)
	}
	return g.fullOfEach(s)[0]
}

// fullOfEach are the full instances of each branch.
func (g generator) fullOfEach(schema any) []any {
	s := g.resolve(schema)
	branches, isUnion := s["anyOf"].([]any)
	if isUnion {
		var all []any
		for _, branch := range branches {
			all = append(all, g.fullOfEach(branch)...)
		}
		return all
	}
	if s["type"] == "object" || s["type"] == "array" {
		return []any{g.full(s)}
	}
	return g.forms(s)[:1]
}

// forms are all instances that differ in one thing: the least one, the full one, and the full one with each of its
// parts in each of its forms, that of not being there included. Of what another definition describes, which has all
// its forms on its own, only the full and the least one are used.
func (g generator) forms(schema any) []any {
	s := g.resolve(schema)
	if inner, _ := schema.(object); refName(inner) != "" && s["type"] == "object" {
		return []any{g.full(s), g.least(s)}
	}
	if constant, ok := s["const"]; ok {
		return []any{constant}
	}
	if enum, ok := s["enum"].([]any); ok {
		return enum
	}
	if branches, ok := s["anyOf"].([]any); ok {
		var all []any
		for _, branch := range branches {
			all = append(all, g.forms(branch)...)
		}
		return all
	}
	types, several := s["type"].([]any)
	if !several {
		types = []any{s["type"]}
	}
	var all []any
	for _, kind := range types {
		all = append(all, g.ofType(kind, s)...)
	}
	return all
}

func (g generator) ofType(kind any, s object) []any {
	switch kind {
	case nil:
		return s["samples"].([]any)
	case "string":
		return texts(s["format"])
	case "integer":
		return []any{within(s, bigInt), within(s, "0")}
	case "number":
		return []any{within(s, "0.1"), within(s, "7"), within(s, "0")}
	case "boolean":
		return []any{true, false}
	case "null":
		return []any{nil}
	case "array":
		return []any{g.list(s, g.forms), []any{}}
	case "object":
		return g.variants(s)
	}
	panic("a type that the generator does not know: " + shown(kind))
}

func (g generator) list(s object, of func(any) []any) []any {
	items := of(s["items"])
	if most, limited := s["maxItems"].(json.Number); limited {
		n, _ := most.Int64()
		items = items[:min(len(items), int(n))]
	}
	return items
}

func texts(format any) []any {
	switch format {
	case "uri":
		return []any{"https://example.com/a?b=c&d=%20"}
	case "uri-template":
		return []any{"file:///{path}"}
	case "byte":
		return []any{"aGVsbG8=", ""}
	}
	return []any{someText, ""}
}

// within is n, or the bound that it is beyond.
func within(s object, n json.Number) json.Number {
	if most, bounded := s["maximum"].(json.Number); bounded && rational(n).Cmp(rational(most)) > 0 {
		return most
	}
	if least, bounded := s["minimum"].(json.Number); bounded && rational(n).Cmp(rational(least)) < 0 {
		return least
	}
	return n
}

// variants are the instances of an object: each differs from the full one in one member, but for the least one.
func (g generator) variants(s object) []any {
	full := g.full(s).(object)
	all := []any{g.least(s), full}
	properties, _ := s["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		forms := g.memberForms(s, name)
		if !requires(s, name) {
			forms = append(forms, absent{})
		}
		for _, form := range forms {
			variant := maps.Clone(full)
			variant[name] = form
			if form == any(absent{}) {
				delete(variant, name)
			}
			all = append(all, variant)
		}
	}
	return all
}

// mayBeEmpty are the texts that are required and may be empty. The others are names, identifiers and the like, which
// the library takes for missing if they are empty.
var mayBeEmpty = []string{"text", "data", "blob", "message", "value", "description"}

func (g generator) memberForms(s object, name string) []any {
	forms := slices.Clone(g.forms(s["properties"].(object)[name]))
	if requires(s, name) && !slices.Contains(mayBeEmpty, name) {
		forms = slices.DeleteFunc(forms, func(form any) bool { return form == "" })
	}
	return forms
}

func requires(s object, name string) bool {
	required, _ := s["required"].([]any)
	return slices.Contains(required, any(name))
}

func (g generator) objectOf(s object, wanted func(name string, required bool) bool, of func(any) any) object {
	o := object{}
	properties, _ := s["properties"].(object)
	for name, property := range properties {
		if wanted(name, requires(s, name)) {
			o[name] = of(property)
			if o[name] == "" {
				o[name] = g.memberForms(s, name)[0]
			}
		}
	}
	return o
}

// addMore adds members that the schema allows and does not name, one for each form that they may have.
func (g generator) addMore(to object, schema any) {
	if schema == nil || schema == false {
		return
	}
	for i, form := range g.forms(schema) {
		to["example.com/more"+strconv.Itoa(i)] = form
	}
}

// resolve returns a schema that has a type, is a constant or a union, or has samples.
func (g generator) resolve(schema any) object {
	s, _ := schema.(object)
	if name := refName(s); recursive[name] != nil {
		return object{"samples": recursive[name]}
	} else if name != "" {
		return g.resolve(g.def(name))
	}
	if parts, ok := s["allOf"].([]any); ok {
		s = g.merged(parts)
	}
	for _, keyword := range []string{"const", "enum", "anyOf", "type", "samples"} {
		if s[keyword] != nil {
			return s
		}
	}
	return object{"samples": samples()}
}

// merged is what the parts of an allOf, which are all objects, say together.
func (g generator) merged(parts []any) object {
	properties, required := object{}, []any{}
	for _, part := range parts {
		s := g.resolve(part)
		if more, ok := s["properties"].(object); ok {
			maps.Copy(properties, more)
		}
		more, _ := s["required"].([]any)
		required = append(required, more...)
	}
	return object{"type": "object", "properties": properties, "required": required}
}

func TestGenerator(t *testing.T) {
	g := generator{&spec{defs: parse(t, []byte(`{
		"T":{"type":"object","required":["name","kind"],"properties":{
			"name":{"type":"string"},"kind":{"const":"t"},"note":{"type":"string"},
			"of":{"type":"array","items":{"anyOf":[{"enum":["a","b"]},{"$ref":"#/$defs/U"}]}}}},
		"U":{"type":"object","properties":{"flag":{"type":"boolean"}}}}`)).(object)}}
	text := shown(someText)
	full := func(note, of string) string { return `{"kind":"t","name":` + text + note + of + `}` }
	note, of := `,"note":`+text, `,"of":["a",{"flag":true}]`
	var got []string
	for _, instance := range g.forms(g.def("T")) {
		all, err := encode(instance)
		require.NoError(t, err)
		got = append(got, string(all))
	}
	for _, want := range []string{
		full("", ""), full(note, of), full(`,"note":""`, of), full("", of), full(note, ""), full(note, `,"of":[]`),
		full(note, `,"of":["a","b",{"flag":true},{}]`),
	} {
		assert.True(t, slices.ContainsFunc(got, func(s string) bool {
			return len(differences("", parse(t, []byte(want)), parse(t, []byte(s)))) == 0
		}), "%s is not in %s", want, got)
	}
}

// What the generator makes is what the schemas allow, so that a test that uses it says something.
func TestGeneratedInstancesAreValid(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			s := loadSpec(t, revision)
			v, g := newValidator(t, s), generator{s}
			for _, name := range slices.Sorted(maps.Keys(s.defs)) {
				for _, instance := range g.forms(s.def(name)) {
					if err := v.check(name, instance); err != nil {
						t.Errorf("%.2000v", err)
						break
					}
				}
			}
		})
	}
}
