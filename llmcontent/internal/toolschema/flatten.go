package toolschema

import (
	"slices"
	"strings"
)

// notAtTop are keywords that say nothing about an object, or that APIs refuse at the top of a schema.
var notAtTop = []string{"type", "enum", "const", "not", "items", "prefixItems", "anyOf", "oneOf", "allOf"}

// flatten makes the root an object whose properties are those of all alternatives together, since no API takes
// alternatives at the top. What has to be given is what each of the alternatives asks for; where they differ, the
// description says so.
func flatten(root *node) *node {
	m := newMerger()
	m.add(root, true)
	out := newObject(member{"type", newString("object")})
	for _, kept := range root.without(notAtTop...).members {
		switch kept.name {
		case "properties", "required", "description", "additionalProperties", "unevaluatedProperties":
		default:
			out.members = append(out.members, kept)
		}
	}
	if text := m.describe(stringOf(root.get("description"))); text != "" {
		out.members = append(out.members, member{"description", newString(text)})
	}
	out.members = append(out.members, member{"properties", m.properties()})
	if len(m.required.list) > 0 {
		out.members = append(out.members, member{"required", newStrings(m.required.list)})
	}
	for _, name := range []string{"additionalProperties", "unevaluatedProperties"} {
		if v := root.get(name); v != nil && (m.alone || !v.isFlag("false")) {
			out.members = append(out.members, member{name, v}) // false would forbid what the alternatives add
		}
	}
	return out
}

// A merger collects the properties of an object and of its alternatives.
type merger struct {
	names    []string
	variants map[string]*variants
	required names
	sets     []string // what alternatives ask for where they differ, in words
	alone    bool     // there was nothing but the object itself
}

// variants are the schemas that a property has, each of them once.
type variants struct {
	list []*node
	seen map[string]bool // nil until there is a second one
}

// names is a list of names, each of them once.
type names struct {
	list []string
	seen map[string]bool
}

func (n *names) add(list ...string) {
	if n.seen == nil {
		n.seen = make(map[string]bool, len(list))
	}
	for _, name := range list {
		if !n.seen[name] {
			n.seen[name] = true
			n.list = append(n.list, name)
		}
	}
}

func newMerger() *merger { return &merger{variants: map[string]*variants{}, alone: true} }

// add adds an object. Only what it requires for certain is required.
func (m *merger) add(n *node, certain bool) {
	if properties := n.get("properties"); properties != nil {
		for _, p := range properties.members {
			m.property(p.name, p.value)
		}
	}
	if certain {
		m.required.add(stringsOf(n.get("required"))...)
	}
	for _, part := range listOf(n.get("allOf")) {
		m.alone = false
		m.add(part, certain)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list := objectsOf(n.get(keyword)); len(list) > 0 {
			m.alone = false
			m.alternatives(list, certain)
		}
	}
}

// objectsOf returns the schemas in a list that an object may fit.
func objectsOf(list *node) []*node {
	var out []*node
	for _, n := range listOf(list) {
		if types := typesOf(n.get("type")); len(types) == 0 || slices.Contains(types, "object") {
			out = append(out, n)
		}
	}
	return out
}

func (m *merger) alternatives(list []*node, certain bool) {
	counts := map[string]int{} // of the alternatives that require a name
	sets := make([]string, 0, len(list))
	for _, n := range list {
		m.add(n, false)
		required := stringsOf(n.get("required"))
		for _, name := range required {
			counts[name]++
		}
		sets = append(sets, strings.Join(required, ", "))
	}
	if !certain {
		return
	}
	for _, name := range stringsOf(list[0].get("required")) {
		if counts[name] == len(list) {
			m.required.add(name)
		}
	}
	differ := slices.ContainsFunc(sets, func(s string) bool { return s != sets[0] })
	if text := strings.Join(sets, "; "); differ && len(text) <= maxSets && !slices.Contains(sets, "") {
		m.sets = append(m.sets, "Give at least one of these sets of arguments: "+text+".")
	}
}

// maxSets is how long a list of sets may be. A longer one helps nobody.
const maxSets = 500

func (m *merger) property(name string, schema *node) {
	known := m.variants[name]
	if known == nil {
		m.names = append(m.names, name)
		m.variants[name] = &variants{list: []*node{schema}}
		return
	}
	if known.seen == nil {
		known.seen = map[string]bool{known.list[0].String(): true}
	}
	if text := schema.String(); !known.seen[text] {
		known.seen[text] = true
		known.list = append(known.list, schema)
	}
}

// properties returns what was collected. A property that has several schemas may have the values of each.
func (m *merger) properties() *node {
	out := newObject()
	for _, name := range m.names {
		out.members = append(out.members, member{name, union(m.variants[name].list)})
	}
	return out
}

func union(schemas []*node) *node {
	if len(schemas) == 1 {
		return schemas[0]
	}
	if merged := enumOf(schemas); merged != nil {
		return merged
	}
	return newObject(member{"anyOf", newArray(schemas...)})
}

// enumOf joins lists of values, such as the names by which alternatives are told apart. It returns nil if there is more
// to the schemas than their values.
func enumOf(schemas []*node) *node {
	kind := schemas[0].get("type")
	out, values, seen := newObject(), newArray(), map[string]bool{}
	for _, n := range schemas {
		enum := valuesOf(n)
		if enum == nil || len(n.without("enum", "const", "type", "title", "description").members) > 0 ||
			!equal(kind, n.get("type")) {
			return nil
		}
		for _, m := range n.without("enum", "const").members {
			if out.get(m.name) == nil {
				out.members = append(out.members, m)
			}
		}
		for _, e := range enum {
			if text := e.String(); !seen[text] {
				seen[text] = true
				values.list = append(values.list, e)
			}
		}
	}
	return out.with("enum", values)
}

func equal(a, b *node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.String() == b.String()
}

// valuesOf returns the values that a schema lists, nil if it lists none.
func valuesOf(n *node) []*node {
	if value := n.get("const"); value != nil {
		return []*node{value}
	}
	return listOf(n.get("enum"))
}

// describe adds what was found out about required properties to a description.
func (m *merger) describe(description string) string {
	parts := m.sets
	if description != "" {
		parts = append([]string{description}, parts...)
	}
	return strings.Join(parts, "\n")
}
