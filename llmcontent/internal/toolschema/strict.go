package toolschema

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// The limits of strict mode, over a whole schema.
const (
	strictProperties = 5_000
	strictLevels     = 10
	strictText       = 120_000 // characters of names and values
	strictValues     = 1_000   // in all lists of values
	strictLongList   = 250     // values in a list; a longer one has at most
	strictLongText   = 15_000  // characters
)

// strictKeywords are those that strict mode takes.
var strictKeywords = []string{
	"type", "description", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const",
	"format", "pattern", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"minItems", "maxItems",
}

var strictFormats = []string{
	"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
}

// strictRoot returns the schema for strict mode, nil if the schema does not allow it: then what the tool takes could
// not be said in full.
func strictRoot(s *Schema) *node {
	if s.cut || len(s.root.get("properties").members) == 0 && !s.root.get("additionalProperties").isFlag("false") {
		return nil
	}
	t := new(tightener)
	root := t.schema(s.root, 0)
	if t.failed || t.properties > strictProperties || t.text > strictText || t.values > strictValues ||
		ambiguous([]*node{root}) {
		return nil
	}
	return root
}

// ambiguous reports whether alternatives for one value differ in what null is for a property: nothing in one, and a
// value in another.
func ambiguous(alternatives []*node) bool {
	for i := 0; i < len(alternatives); i++ {
		alternatives = append(alternatives, listOf(alternatives[i].get("anyOf"))...)
	}
	properties, items := map[string][]*node{}, []*node(nil)
	nothing, value := map[string]bool{}, map[string]bool{}
	for _, n := range alternatives {
		for _, p := range n.get("properties").orEmpty() {
			properties[p.name] = append(properties[p.name], p.value)
			if n.marks != nil && n.marks.optional[p.name] {
				nothing[p.name] = true
			} else if acceptsNull(p.value) {
				value[p.name] = true
			}
			if nothing[p.name] && value[p.name] {
				return true
			}
		}
		if v := n.get("items"); v != nil {
			items = append(items, v)
		}
	}
	for _, same := range properties {
		if ambiguous(same) {
			return true
		}
	}
	return len(items) > 0 && ambiguous(items)
}

// A tightener closes objects and makes all properties required. Optional ones may be null instead.
type tightener struct {
	failed                   bool
	properties, text, values int
}

func (t *tightener) schema(n *node, level int) *node {
	n = n.without("title", "default", "examples", "deprecated", "readOnly", "writeOnly")
	if n.get("type") == nil {
		n = withInferredType(n)
	}
	types := typesOf(n.get("type"))
	isObject, isArray := slices.Contains(types, "object"), slices.Contains(types, "array")
	if level > strictLevels || len(types) == 0 && n.get("anyOf") == nil || !t.allows(n) ||
		!isObject && n.get("properties") != nil || !isArray && n.get("items") != nil {
		t.failed = true
	}
	if t.failed {
		return n
	}
	out := newObject()
	for _, m := range n.members {
		switch m.name {
		case "properties", "required", "additionalProperties":
			continue
		case "items":
			m.value = t.schema(m.value, level+1)
		case "anyOf":
			list := newArray()
			for _, e := range m.value.list {
				list.list = append(list.list, t.schema(e, level))
			}
			m.value = list
		}
		out.members = append(out.members, m)
	}
	if isObject {
		t.failed = t.failed || n.get("anyOf") != nil // which would be closed to what its alternatives add
		t.object(n, out, level)
	}
	return out
}

func (t *tightener) object(n, out *node, level int) {
	properties, names := newObject(), newArray()
	required := setOf(stringsOf(n.get("required")))
	optional := map[string]bool{}
	for _, p := range n.get("properties").members {
		schema := t.schema(p.value, level+1)
		if !required[p.name] && !acceptsNull(schema) {
			schema = nullable(schema)
			optional[p.name] = true
		}
		delete(required, p.name)
		t.properties++
		t.text += len(p.name)
		properties.members = append(properties.members, member{p.name, schema})
		names.list = append(names.list, newString(p.name))
	}
	if len(required) > 0 || len(properties.members) == 0 && !n.get("additionalProperties").isFlag("false") {
		t.failed = true // a property of any value, or an object of any properties
	}
	out.members = append(out.members, member{"properties", properties}, member{"required", names},
		member{"additionalProperties", newBool(false)})
	if len(optional) > 0 {
		out.marks = &marks{optional: optional}
	}
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

// allows reports whether all keywords of one schema are among those that strict mode takes.
func (t *tightener) allows(n *node) bool {
	for _, m := range n.members {
		switch m.name {
		case "format":
			if !slices.Contains(strictFormats, m.value.text) {
				return false
			}
		case "pattern":
			if _, err := syntax.Parse(m.value.text, syntax.Perl); err != nil || strings.Contains(m.value.text, "(?") {
				return false
			}
		case "additionalProperties":
			if !m.value.isFlag("false") {
				return false
			}
		case "enum", "const":
			if !t.lists(valuesOf(n), typesOf(n.get("type"))) {
				return false
			}
		default:
			if !slices.Contains(strictKeywords, m.name) {
				return false
			}
		}
	}
	return true
}

func (t *tightener) lists(values []*node, types []string) bool {
	length := 0
	for _, v := range values {
		if v.kind == jsonscan.Object || v.kind == jsonscan.Array || !isOf(v, types) {
			return false
		}
		length += len(v.text)
	}
	t.text += length
	t.values += len(values)
	return len(values) <= strictLongList || length <= strictLongText
}

// withInferredType adds the type that listed values have in common, or that the keywords are about.
func withInferredType(n *node) *node {
	if types := inferTypes(n); len(types) > 0 {
		return newObject(append([]member{{"type", typeNode(types)}}, n.members...)...)
	}
	return n
}

// inferTypes returns the types of listed values, or else the one that the keywords are about.
func inferTypes(n *node) []string {
	if values := valuesOf(n); values != nil {
		var types []string
		for _, v := range values {
			if name := typeOf(v); !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
		return types
	}
	for _, about := range []struct{ keyword, name string }{
		{"properties", "object"}, {"items", "array"}, {"pattern", "string"}, {"minLength", "string"},
		{"maxLength", "string"},
	} {
		if n.get(about.keyword) != nil && n.get("anyOf") == nil && n.get("oneOf") == nil {
			return []string{about.name}
		}
	}
	return nil
}

func typeOf(v *node) string {
	switch v.kind {
	case jsonscan.Null:
		return "null"
	case jsonscan.Bool:
		return "boolean"
	case jsonscan.Number:
		if strings.ContainsAny(v.text, ".eE") {
			return "number"
		}
		return "integer"
	case jsonscan.String:
		return "string"
	case jsonscan.Array:
		return "array"
	}
	return "object"
}
