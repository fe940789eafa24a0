package toolschema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// A gemini writes schemas as Gemini's Schema message, which is a part of OpenAPI 3.0: one type each, alternatives that
// stand alone, nothing that is not in the message.
type gemini struct {
	renames map[string]string
	left    int
}

// geminiKeywords are those that a type takes, in the order in which they are written.
var geminiKeywords = map[string][]string{
	"string":  {"format", "pattern", "minLength", "maxLength"},
	"number":  {"format", "minimum", "maximum"},
	"integer": {"format", "minimum", "maximum"},
	"array":   {"minItems", "maxItems"},
	"object":  {"minProperties", "maxProperties"},
}

var geminiFormats = map[string][]string{
	"string": {"date-time"}, "number": {"float", "double"}, "integer": {"int32", "int64"},
}

const (
	noteObject = "A JSON object, as text."
	noteAny    = "An object or a list is given as JSON text."
)

func (g *gemini) root(n *node) *node {
	return g.one(n, "object", false, true)
}

// schema converts any schema.
func (g *gemini) schema(n *node) *node {
	if g.left -= 16; g.left < 0 {
		return newObject()
	}
	n = g.merged(n)
	types := typesOf(n.get("type"))
	if alternatives := alternativesOf(n); alternatives != nil {
		return g.union(n, alternatives)
	}
	if len(types) == 0 {
		types = inferTypes(n)
	}
	null := slices.Contains(types, "null")
	types = slices.DeleteFunc(slices.Clone(types), func(s string) bool {
		return s == "null" || s == "integer" && slices.Contains(types, "number")
	})
	switch {
	case len(types) == 1:
		return g.one(n, types[0], null, false)
	case len(types) == 0 && null:
		return g.null(n)
	case len(types) == 0:
		return g.any(n)
	}
	list := newArray()
	for i, name := range types {
		list.list = append(list.list, g.one(onlyFirst(n, i), name, null, false))
	}
	return newObject(member{"anyOf", list})
}

// onlyFirst leaves the description to the first alternative, since nothing may stand beside a list of them.
func onlyFirst(n *node, i int) *node {
	if i == 0 {
		return n
	}
	return n.without("description", "title")
}

func alternativesOf(n *node) []*node {
	if list := n.get("anyOf"); list != nil {
		return list.list
	}
	return listOf(n.get("oneOf"))
}

// union converts alternatives. What stands beside them holds for each.
func (g *gemini) union(n *node, alternatives []*node) *node {
	base := n.without("anyOf", "oneOf", "title", "description", "default")
	var list []*node
	null := false
	for _, a := range alternatives {
		types := typesOf(a.get("type"))
		if len(types) == 1 && types[0] == "null" || len(valuesOf(a)) == 1 && valuesOf(a)[0].kind == jsonscan.Null {
			null = true
			continue
		}
		if g.left -= base.size(); g.left < 0 {
			return newObject()
		}
		if len(list) == 0 {
			a = described(a, n)
		}
		converted := g.schema(merge(base, a))
		if inner := converted.get("anyOf"); inner != nil {
			list = append(list, inner.list...)
		} else {
			list = append(list, converted)
		}
	}
	if null {
		for i, n := range list {
			list[i] = n.with("nullable", newBool(true))
		}
	}
	switch list = distinct(list); len(list) {
	case 0:
		return g.null(n)
	case 1:
		return list[0]
	}
	return newObject(member{"anyOf", newArray(list...)})
}

// described gives an alternative the title and the description of the whole.
func described(a, whole *node) *node {
	if title := whole.get("title"); title != nil && a.get("title") == nil {
		a = a.with("title", title)
	}
	text := stringOf(whole.get("description"))
	own := stringOf(a.get("description"))
	if text == "" || text == own {
		return a
	}
	if own != "" {
		text += "\n" + own
	}
	return a.with("description", newString(text))
}

func distinct(list []*node) []*node {
	seen := map[string]bool{}
	var out []*node
	for _, n := range list {
		if text := n.String(); !seen[text] {
			seen[text] = true
			out = append(out, n)
		}
	}
	return out
}

// null stands for a schema that takes nothing but null, for which there is no type.
func (g *gemini) null(n *node) *node {
	return newObject(append([]member{{"type", newString("STRING")}, {"nullable", newBool(true)}},
		g.said(n, "null")...)...)
}

// any stands for a schema that takes everything.
func (g *gemini) any(n *node) *node {
	text := newObject(append([]member{{"type", newString("STRING")}}, g.said(n, noteAny)...)...)
	text.marks = &marks{text: anyText}
	return newObject(member{"anyOf", newArray(text,
		newObject(member{"type", newString("NUMBER")}), newObject(member{"type", newString("BOOLEAN")}))})
}

// said returns title and description, with a note at the end.
func (g *gemini) said(n *node, note string) []member {
	var out []member
	if title := n.get("title"); title != nil {
		out = append(out, member{"title", title})
	}
	text := stringOf(n.get("description"))
	if note != "" && text != "" {
		text += "\n"
	}
	if text += note; text != "" {
		out = append(out, member{"description", newString(text)})
	}
	for _, m := range out {
		g.left -= m.value.size()
	}
	return out
}

// one converts a schema for values of one type.
func (g *gemini) one(n *node, name string, null, root bool) *node {
	if name == "object" && !root && len(n.get("properties").orEmpty()) == 0 {
		text := newObject(append([]member{{"type", newString("STRING")}}, g.said(n, noteObject)...)...)
		if null {
			text = text.with("nullable", newBool(true))
		}
		text.marks = &marks{text: objectText}
		return text
	}
	out := newObject(member{"type", newString(strings.ToUpper(name))})
	add := func(name string, v *node) {
		if v != nil {
			g.left -= len(name) + v.size()
			out.members = append(out.members, member{name, v})
		}
	}
	values, note := enumFor(n, name)
	out.members = append(out.members, g.said(n, note)...)
	if null || slices.ContainsFunc(valuesOf(n), func(v *node) bool { return v.kind == jsonscan.Null }) {
		add("nullable", newBool(true))
	}
	if len(values) > 0 {
		add("format", newString("enum"))
		add("enum", newArray(values...))
		n = n.without("format")
	}
	for _, keyword := range geminiKeywords[name] {
		add(keyword, g.keyword(n, name, keyword))
	}
	if v := n.get("default"); v != nil && fits(v, name) {
		add("default", v)
	}
	switch name {
	case "array":
		add("items", g.schema(itemsOf(n)))
	case "object":
		g.object(n, out)
	}
	return out
}

func (n *node) orEmpty() []member {
	if n == nil {
		return nil
	}
	return n.members
}

// keyword returns the value of a keyword, adapted to what the message takes.
func (g *gemini) keyword(n *node, name, keyword string) *node {
	v := n.get(keyword)
	switch keyword {
	case "format":
		if !slices.Contains(geminiFormats[name], stringOf(v)) {
			return nil
		}
	case "minimum":
		return bound(v, n.get("exclusiveMinimum"), name, 1)
	case "maximum":
		return bound(v, n.get("exclusiveMaximum"), name, -1)
	}
	return v
}

// bound turns an exclusive bound into an inclusive one: the next integer, or the same number. Of two, the tighter
// counts.
func bound(inclusive, exclusive *node, name string, step int64) *node {
	if exclusive == nil {
		return inclusive
	}
	if name == "integer" {
		exclusive = next(exclusive, step)
	}
	if inclusive == nil || (number(exclusive)-number(inclusive))*float64(step) > 0 {
		return exclusive
	}
	return inclusive
}

// next returns the next integer, or the same at the end of those that fit in 64 bits.
func next(n *node, step int64) *node {
	i, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil || (i+step > i) != (step > 0) {
		return n
	}
	return &node{kind: jsonscan.Number, text: strconv.FormatInt(i+step, 10)}
}

func number(n *node) float64 {
	f, _ := strconv.ParseFloat(n.text, 64) // what is out of range is an infinity
	return f
}

// enumFor returns the listed values of a type if the message can list them, which it can for strings. For others the
// values go into a note.
func enumFor(n *node, name string) (values []*node, note string) {
	all := valuesOf(n)
	var texts []string
	for _, v := range all {
		if v.kind == jsonscan.Null || !fits(v, name) {
			continue
		}
		if name == "string" && v.text != "" {
			values = append(values, v)
		}
		texts = append(texts, v.String())
	}
	if len(values) == len(texts) || len(texts) == 0 {
		return values, ""
	}
	return nil, "One of: " + strings.Join(texts, ", ") + "."
}

func fits(v *node, name string) bool {
	is := typeOf(v)
	return is == name || is == "integer" && name == "number"
}

// itemsOf returns one schema for all elements: there are no tuples.
func itemsOf(n *node) *node {
	prefix := n.get("prefixItems")
	items := n.get("items")
	if prefix == nil {
		if items == nil {
			return newObject()
		}
		return items
	}
	list := prefix.list
	if items != nil && len(items.members) > 0 && items.get("not") == nil {
		list = append(list[:len(list):len(list)], items)
	}
	if list = distinct(list); len(list) == 1 {
		return list[0]
	}
	return newObject(member{"anyOf", newArray(list...)})
}

func (g *gemini) object(n, out *node) {
	properties, order, required := newObject(), newArray(), newArray()
	given := setOf(stringsOf(n.get("required")))
	for _, p := range n.get("properties").orEmpty() {
		name := renamed(p.name, g.renames)
		g.left -= 2 * len(name)
		properties.members = append(properties.members, member{name, g.schema(p.value)})
		order.list = append(order.list, newString(name))
		if given[p.name] {
			required.list = append(required.list, newString(name))
		}
	}
	out.members = append(out.members, member{"properties", properties})
	if len(required.list) > 0 {
		out.members = append(out.members, member{"required", required})
	}
	if len(order.list) > 1 {
		out.members = append(out.members, member{"propertyOrdering", order})
	}
	out.marks = marksFor(n.get("properties"), g.renames)
}

// merged puts the schemas of allOf into the one that has them.
func (g *gemini) merged(n *node) *node {
	parts := listOf(n.get("allOf"))
	if len(parts) == 0 {
		return n
	}
	n = n.without("allOf")
	for _, part := range parts {
		if g.left -= n.size(); g.left < 0 {
			return newObject()
		}
		n = merge(n, g.merged(part))
	}
	return n
}

// merge returns a schema that asks for what both ask for, as far as one schema can say it. What only one of two can say
// is left to the first.
func merge(a, b *node) *node {
	if len(a.members) == 0 {
		return b
	}
	out := a
	for _, m := range b.members {
		known := out.get(m.name)
		switch {
		case known == nil:
			out = out.with(m.name, m.value)
		case m.name == "properties":
			out = out.with("properties", mergeProperties(known, m.value))
		case m.name == "required":
			all := new(names)
			all.add(stringsOf(known)...)
			all.add(stringsOf(m.value)...)
			out = out.with("required", newStrings(all.list))
		case m.name == "type":
			out = out.with("type", common(known, m.value))
		case m.name == "items" || m.name == "additionalProperties":
			if known.kind == jsonscan.Object && m.value.kind == jsonscan.Object {
				out = out.with(m.name, merge(known, m.value))
			}
		}
	}
	return out
}

func mergeProperties(a, b *node) *node {
	index := make(map[string]int, len(a.members))
	out := newObject(slices.Clone(a.members)...)
	for i, p := range out.members {
		index[p.name] = i
	}
	for _, p := range b.members {
		if i, known := index[p.name]; known {
			out.members[i].value = merge(out.members[i].value, p.value)
			continue
		}
		index[p.name] = len(out.members)
		out.members = append(out.members, p)
	}
	return out
}

// common returns the types that are in both lists, or the first list if there is none.
func common(a, b *node) *node {
	both := slices.DeleteFunc(typesOf(a), func(s string) bool {
		other := typesOf(b)
		return !slices.Contains(other, s) && !(s == "integer" && slices.Contains(other, "number"))
	})
	if len(both) == 0 {
		return a
	}
	return typeNode(both)
}
