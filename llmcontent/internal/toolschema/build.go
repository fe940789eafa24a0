package toolschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

const (
	maxReferences = 16       // one inside the other
	maxEntries    = 2        // of one schema, on the way to a value
	roomToExpand  = 64 << 10 // in bytes; twice the original if that is more
)

// A Schema is an input schema that is ready to be converted. It does not change.
type Schema struct {
	root *node
	cut  bool // a reference was not followed to its end
}

// Parse reads a schema. Where there is none, or none that is an object, the tool takes an object without properties.
func Parse(data []byte) (*Schema, error) {
	if len(data) == 0 {
		data = []byte("{}")
	}
	if len(data) > maxText {
		return nil, fmt.Errorf("it has %d bytes, at most %d are accepted", len(data), maxText)
	}
	raw, err := parse(data, maxDepth)
	if err != nil {
		return nil, err
	}
	if raw.kind != jsonscan.Object {
		raw = newObject()
	}
	b := &builder{root: raw, room: max(roomToExpand, 2*raw.size()), targets: map[string]*node{}}
	for references := maxReferences; ; references /= 2 {
		b.left, b.cut, b.references = b.room, false, references
		root := b.schema(raw, 0, []*node{raw})
		if b.left >= 0 || references == 0 {
			return &Schema{root: flatten(root), cut: b.cut}, nil
		}
	}
}

// Titled returns the schema with a title, unless it has one.
func (s *Schema) Titled(title string) *Schema {
	if title == "" || s.root.get("title") != nil {
		return s
	}
	return &Schema{root: s.root.with("title", newString(title)), cut: s.cut}
}

// A builder makes the tree without references. It goes through the schema again, with fewer references followed, when
// there is not enough room.
type builder struct {
	root       *node
	anchors    map[string]*node // built when the first is asked for
	targets    map[string]*node // what lookup has found
	room, left int
	references int
	cut        bool
}

// schema returns the schema for n, which is as the server sent it. depth is the number of references on the way to it,
// and path has the schemas that they led to.
func (b *builder) schema(n *node, depth int, path []*node) *node {
	if n.isFlag("false") {
		return newObject(member{"not", newObject()})
	}
	if n.kind != jsonscan.Object || b.left < 0 && depth > 0 {
		return newObject()
	}
	return orNull(n, b.referred(n, b.keywords(n, depth, path), depth, path))
}

// referred puts what a schema refers to together with the rest of it.
func (b *builder) referred(n, rest *node, depth int, path []*node) *node {
	ref, ok := reference(n)
	if !ok {
		return rest
	}
	target, known := b.targets[ref]
	if !known {
		target = b.lookup(ref)
		b.targets[ref] = target
	}
	if target == nil || target == n {
		b.cut = true
		return rest
	}
	return combine(b.follow(target, depth, path), rest)
}

// reference returns what the schema refers to. $dynamicRef and $recursiveRef are taken for $ref, which is what they are
// in a document on its own.
func reference(n *node) (string, bool) {
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if v := n.get(keyword); v.is(jsonscan.String) {
			return v.text, true
		}
	}
	return "", false
}

func (b *builder) follow(target *node, depth int, path []*node) *node {
	entries := 0
	for _, p := range path {
		if p == target {
			entries++
		}
	}
	if depth >= b.references || entries >= maxEntries {
		b.cut = true
		return b.spend(cutOff(target, b.left > 0))
	}
	return b.schema(target, depth+1, append(path[:len(path):len(path)], target))
}

// cutOff is what is left of a schema that is not entered: its type, and what it says about itself while there is room.
func cutOff(target *node, room bool) *node {
	left := newObject()
	types := typesOf(target.get("type"))
	if len(types) == 0 && target.get("properties").is(jsonscan.Object) {
		types = []string{"object"}
	}
	if len(types) > 0 {
		left.members = append(left.members, member{"type", typeNode(types)})
	}
	for _, name := range []string{"title", "description"} {
		if v := target.get(name); room && v.is(jsonscan.String) {
			left.members = append(left.members, member{name, v})
		}
	}
	return complete(left)
}

// combine puts what stands beside a reference together with what it leads to. Annotations replace those of the target;
// anything else holds in addition.
func combine(target, beside *node) *node {
	if len(beside.members) == 0 {
		return target
	}
	for _, m := range beside.members {
		if !slices.Contains(annotations, m.name) {
			return beside.with("allOf", newArray(append(listOf(beside.get("allOf")), target)...))
		}
	}
	for _, m := range beside.members {
		target = target.with(m.name, m.value)
	}
	return target
}

func listOf(n *node) []*node {
	if n == nil {
		return nil
	}
	return n.list[:len(n.list):len(n.list)]
}

// lookup finds what a reference means: a JSON pointer (RFC 6901) or an anchor in the same document. There is nothing to
// find elsewhere, since nothing is fetched.
func (b *builder) lookup(ref string) *node {
	fragment, local := strings.CutPrefix(ref, "#")
	if !local {
		base, after, _ := strings.Cut(ref, "#")
		if id := stringOf(b.root.get("$id")); id == "" || strings.TrimSuffix(id, "#") != base {
			return nil
		}
		fragment = after
	}
	if fragment = unescapeFragment(fragment); fragment == "" {
		return b.root
	}
	if fragment[0] != '/' {
		return b.anchor(fragment)
	}
	n := b.root
	for _, token := range strings.Split(fragment[1:], "/") {
		if n = step(n, unescapePointer.Replace(token)); n == nil {
			return nil
		}
	}
	return n
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

// spend counts what goes into the result.
func (b *builder) spend(n *node) *node {
	b.left -= n.size()
	return n
}
