package toolschema

import (
	"errors"
	"slices"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

const (
	maxText  = 1 << 20
	maxDepth = 128
)

// A node is a JSON value whose members have an order. Nodes do not change once they are built, and may be shared.
type node struct {
	kind    jsonscan.Kind
	text    string // of a string; the JSON text of a number, a boolean and null
	list    []*node
	members []member
	marks   *marks // of a schema that was converted
}

type member struct {
	name  string
	value *node
}

func newObject(members ...member) *node { return &node{kind: jsonscan.Object, members: members} }
func newArray(list ...*node) *node      { return &node{kind: jsonscan.Array, list: list} }
func newString(s string) *node          { return &node{kind: jsonscan.String, text: s} }

func newStrings(list []string) *node {
	n := newArray()
	for _, s := range list {
		n.list = append(n.list, newString(s))
	}
	return n
}

func newBool(b bool) *node {
	n := &node{kind: jsonscan.Bool, text: "false"}
	if b {
		n.text = "true"
	}
	return n
}

func newNull() *node { return &node{kind: jsonscan.Null, text: "null"} }

// get returns the value of a member, nil if there is none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// with returns a copy in which a member has another value; a new one comes last.
func (n *node) with(name string, value *node) *node {
	members := make([]member, 0, len(n.members)+1)
	found := false
	for _, m := range n.members {
		if m.name == name {
			m.value, found = value, true
		}
		members = append(members, m)
	}
	if !found {
		members = append(members, member{name, value})
	}
	return &node{kind: jsonscan.Object, members: members, marks: n.marks}
}

// without returns a copy that lacks some members, or the node itself if it has none of them.
func (n *node) without(names ...string) *node {
	kept := make([]member, 0, len(n.members))
	for _, m := range n.members {
		if !slices.Contains(names, m.name) {
			kept = append(kept, m)
		}
	}
	if len(kept) == len(n.members) {
		return n
	}
	return &node{kind: jsonscan.Object, members: kept, marks: n.marks}
}

func (n *node) is(kind jsonscan.Kind) bool { return n != nil && n.kind == kind }
func (n *node) isFlag(s string) bool       { return n.is(jsonscan.Bool) && n.text == s }

// stringOf returns the text of a string, "" for anything else.
func stringOf(n *node) string {
	if n.is(jsonscan.String) {
		return n.text
	}
	return ""
}

// stringsOf returns the strings in a list, each of them once.
func stringsOf(n *node) []string {
	if !n.is(jsonscan.Array) {
		return nil
	}
	var out []string
	seen := make(map[string]bool, len(n.list))
	for _, e := range n.list {
		if e.kind == jsonscan.String && !seen[e.text] {
			seen[e.text] = true
			out = append(out, e.text)
		}
	}
	return out
}

// parse reads one JSON value with a number of levels. Of members with the same name the last counts, at the place of
// the first.
func parse(data []byte, levels int) (*node, error) {
	d := jsonscan.New(data)
	n := parseValue(&d, levels)
	if err := d.End(); err != nil {
		return nil, err
	}
	return n, nil
}

func parseValue(d *jsonscan.Decoder, levels int) *node {
	n := &node{kind: d.Kind()}
	if levels == 0 && (n.kind == jsonscan.Object || n.kind == jsonscan.Array) {
		d.Fail("nested too deeply")
		return n
	}
	switch n.kind {
	case jsonscan.Object:
		index := map[string]int{}
		for name := range d.Object() {
			key := string(name)
			value := parseValue(d, levels-1)
			if at, again := index[key]; again {
				n.members[at].value = value
				continue
			}
			index[key] = len(n.members)
			n.members = append(n.members, member{key, value})
		}
	case jsonscan.Array:
		for range d.Array() {
			n.list = append(n.list, parseValue(d, levels-1))
		}
	case jsonscan.String:
		n.text = d.Text()
	default:
		n.text = string(d.Raw())
	}
	return n
}

var errTooLarge = errors.New("it becomes too large")

// encode appends the JSON text of a value, without white space.
func (n *node) encode(b []byte) []byte {
	switch n.kind {
	case jsonscan.Object:
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(jsonscan.AppendString(b, m.name), ':')
			b = m.value.encode(b)
		}
		return append(b, '}')
	case jsonscan.Array:
		b = append(b, '[')
		for i, e := range n.list {
			if i > 0 {
				b = append(b, ',')
			}
			b = e.encode(b)
		}
		return append(b, ']')
	case jsonscan.String:
		return jsonscan.AppendString(b, n.text)
	}
	return append(b, n.text...)
}

func (n *node) String() string { return string(n.encode(nil)) }

// size is roughly the length of the JSON text.
func (n *node) size() int {
	total := len(n.text) + 2
	for _, e := range n.list {
		total += e.size() + 1
	}
	for _, m := range n.members {
		total += len(m.name) + m.value.size() + 4
	}
	return total
}
