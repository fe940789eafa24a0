package toolschema

import (
	"math"
	"slices"
	"strconv"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// keywords returns the schema with the keywords that are known and of the right form, as they are in 2020-12. A
// reference is not one of them.
func (b *builder) keywords(n *node, depth int, path []*node) *node {
	b.left -= 2
	out := newObject()
	add := func(name string, v *node) {
		if v != nil {
			out.members = append(out.members, member{name, v})
		}
	}
	for _, m := range n.members {
		b.left -= len(m.name) + 4
		switch f := forms[m.name]; f {
		case 0:
		case formSchema, formSwitch, formSchemas, formSchemaMap:
			add(m.name, b.subschemas(f, m.value, depth, path))
		case formTypes:
			if types := typesOf(m.value); len(types) > 0 {
				add(m.name, b.spend(typeNode(types)))
			}
		case formExclusive:
			if m.value.kind == jsonscan.Number {
				add(m.name, b.spend(m.value))
			}
		case formItems:
			b.items(n, m.value, depth, path, add)
		case formDependents:
			b.dependents(m.value, depth, path, add)
		default:
			if v := plainValue(f, m.value); v != nil {
				add(m.name, b.spend(v))
			}
		}
	}
	return complete(fitting(exclusive(n, out)))
}

func (b *builder) subschemas(f form, v *node, depth int, path []*node) *node {
	switch {
	case f == formSwitch && v.kind == jsonscan.Bool:
		return b.spend(v)
	case f == formSchema || f == formSwitch:
		if v.kind != jsonscan.Object && v.kind != jsonscan.Bool {
			return nil
		}
		return b.schema(v, depth, path)
	case f == formSchemas:
		return b.schemas(v, depth, path)
	case v.kind != jsonscan.Object:
		return nil
	}
	out := newObject()
	for _, m := range v.members {
		b.left -= len(m.name) + 4
		out.members = append(out.members, member{m.name, b.schema(m.value, depth, path)})
	}
	return out
}

func (b *builder) schemas(v *node, depth int, path []*node) *node {
	if v.kind != jsonscan.Array || len(v.list) == 0 {
		return nil
	}
	out := newArray()
	for _, e := range v.list {
		out.list = append(out.list, b.schema(e, depth, path))
	}
	return out
}

// items was a list for tuples, followed by additionalItems (up to 2019-09).
func (b *builder) items(n, v *node, depth int, path []*node, add func(string, *node)) {
	if v.kind != jsonscan.Array {
		add("items", b.subschemas(formSchema, v, depth, path))
		return
	}
	add("prefixItems", b.schemas(v, depth, path))
	if more := n.get("additionalItems"); more != nil {
		add("items", b.subschemas(formSchema, more, depth, path))
	}
}

// dependencies had both, lists of names and schemas (up to draft 7).
func (b *builder) dependents(v *node, depth int, path []*node, add func(string, *node)) {
	if v.kind != jsonscan.Object {
		return
	}
	required, schemas := newObject(), newObject()
	for _, m := range v.members {
		if m.value.kind == jsonscan.Array {
			names := b.spend(newStrings(stringsOf(m.value)))
			required.members = append(required.members, member{m.name, names})
		} else {
			schemas.members = append(schemas.members, member{m.name, b.schema(m.value, depth, path)})
		}
	}
	if len(required.members) > 0 {
		add("dependentRequired", required)
	}
	if len(schemas.members) > 0 {
		add("dependentSchemas", schemas)
	}
}

// exclusive turns the booleans of draft 4 and OpenAPI 3.0 into the bounds that they stand for.
func exclusive(n, out *node) *node {
	for keyword, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if v := out.get(bound); n.get(keyword).isFlag("true") && v != nil {
			renamed := make([]member, 0, len(out.members))
			for _, m := range out.members {
				if m.name == bound {
					m.name = keyword
				}
				renamed = append(renamed, m)
			}
			out = newObject(renamed...)
		}
	}
	return out
}

// orNull turns "nullable" of OpenAPI 3.0 into what it stands for, also beside a reference, where it is often written.
func orNull(n, out *node) *node {
	if !n.get("nullable").isFlag("true") {
		return out
	}
	return nullable(out)
}

// nullable returns a schema that accepts null in addition.
func nullable(n *node) *node {
	if acceptsNull(n) {
		return n
	}
	if types := typesOf(n.get("type")); len(types) > 0 && !slices.Contains(types, "null") {
		n = n.with("type", typeNode(append(types, "null")))
	}
	if enum := n.get("enum"); enum != nil && !hasNull(enum.list) {
		n = n.with("enum", newArray(append(listOf(enum), newNull())...))
	}
	if value := n.get("const"); value != nil && value.kind != jsonscan.Null {
		n = n.without("const").with("enum", newArray(value, newNull()))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list := n.get(keyword); list != nil && !anyAcceptsNull(list.list) {
			n = n.with(keyword, newArray(append(listOf(list), nullType)...))
		}
	}
	if !acceptsNull(n) { // since one of allOf does not
		return annotated(n, newArray(n.without(annotations...), nullType))
	}
	return n
}

var nullType = newObject(member{"type", newString("null")})

// annotated returns alternatives with the annotations of a schema.
func annotated(n, alternatives *node) *node {
	kept := slices.DeleteFunc(slices.Clone(n.members), func(m member) bool { return !slices.Contains(annotations, m.name) })
	return newObject(append(kept, member{"anyOf", alternatives})...)
}

// acceptsNull reports whether null is a value that fits.
func acceptsNull(n *node) bool {
	if types := typesOf(n.get("type")); len(types) > 0 && !slices.Contains(types, "null") {
		return false
	}
	if value := n.get("const"); value != nil && value.kind != jsonscan.Null {
		return false
	}
	if enum := n.get("enum"); enum != nil && !hasNull(enum.list) {
		return false
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list := n.get(keyword); list != nil && !anyAcceptsNull(list.list) {
			return false
		}
	}
	for _, e := range listOf(n.get("allOf")) {
		if !acceptsNull(e) {
			return false
		}
	}
	return true
}

func hasNull(values []*node) bool {
	return slices.ContainsFunc(values, func(v *node) bool { return v.kind == jsonscan.Null })
}

func anyAcceptsNull(list []*node) bool {
	return slices.ContainsFunc(list, acceptsNull)
}

// fitting leaves out listed values that are there already, and those that are not of the type, which no value can be.
// Where nothing would be left there is some mistake, and they stay.
func fitting(n *node) *node {
	types, seen, kept := typesOf(n.get("type")), map[string]bool{}, newArray()
	for _, v := range listOf(n.get("enum")) {
		if text := v.String(); !seen[text] && (len(types) == 0 || isOf(v, types)) {
			seen[text] = true
			kept.list = append(kept.list, v)
		}
	}
	if len(kept.list) == len(listOf(n.get("enum"))) || len(kept.list) == 0 {
		return n
	}
	return n.with("enum", kept)
}

// isOf reports whether a value is of one of some types. 1.0 is an integer.
func isOf(v *node, types []string) bool {
	name := typeOf(v)
	if slices.Contains(types, name) || name == "integer" && slices.Contains(types, "number") {
		return true
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return name == "number" && slices.Contains(types, "integer") && err == nil && f == math.Trunc(f)
}

// complete gives an array its items and an object its properties, without which some APIs refuse them.
func complete(n *node) *node {
	types := typesOf(n.get("type"))
	if slices.Contains(types, "array") && n.get("items") == nil {
		n = n.with("items", newObject())
	}
	if slices.Contains(types, "object") && n.get("properties") == nil {
		n = n.with("properties", newObject())
	}
	return n
}
