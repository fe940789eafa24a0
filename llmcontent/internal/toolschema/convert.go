package toolschema

import (
	"encoding/json"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// A Target is what a schema is made for.
type Target int

// The targets. Those of OpenAI's two APIs are the same, and Plain without the strict mode.
const (
	Plain Target = iota
	OpenAIStrict
	Anthropic
	Gemini
)

// maxOutput bounds what a conversion writes.
const maxOutput = 4 << 20

// Parameters is a schema for a model, and the way back from what the model answers.
type Parameters struct {
	JSON   json.RawMessage
	Strict bool // OpenAI's strict mode can be used; only for OpenAIStrict
	shape  *shape
	below  map[string]string // what new names stand for below a reference that was cut
}

// Convert makes the schema one that the target accepts. One that does not allow OpenAI's strict mode stays plain.
func (s *Schema) Convert(target Target) (*Parameters, error) {
	p := new(Parameters)
	root, renames := s.root, map[string]string(nil)
	switch target {
	case OpenAIStrict:
		if tight := strictRoot(s); tight != nil {
			root, p.Strict = tight, true
		}
	case Anthropic:
		renames = anthropicKeys.renames(root)
		root = rename(root, renames)
	case Gemini:
		renames = geminiKeys.renames(root)
		g := &gemini{renames: renames, left: maxOutput}
		if root = g.root(root); g.left < 0 {
			return nil, errTooLarge
		}
	}
	if root.size() > maxOutput {
		return nil, errTooLarge
	}
	p.JSON, p.shape = root.encode(nil), shapeOf(root)
	if s.cut {
		p.below = inverted(renames)
	}
	return p, nil
}

// rename gives properties other names. What a schema is about is not touched: defaults and lists of values keep theirs.
func rename(n *node, renames map[string]string) *node {
	if len(renames) == 0 {
		return n
	}
	out := &node{kind: n.kind, text: n.text}
	for _, m := range n.members {
		v := m.value
		switch forms[m.name] {
		case formSchema, formItems:
			v = rename(v, renames)
		case formSwitch:
			if v.kind == jsonscan.Object {
				v = rename(v, renames)
			}
		case formSchemas:
			list := newArray()
			for _, e := range v.list {
				list.list = append(list.list, rename(e, renames))
			}
			v = list
		case formSchemaMap:
			v = renameMap(m.name != "patternProperties", v, renames)
		case formNames:
			v = newStrings(renameAll(stringsOf(v), renames))
		case formNameLists:
			lists := newObject()
			for _, p := range v.members {
				lists.members = append(lists.members,
					member{renamed(p.name, renames), newStrings(renameAll(stringsOf(p.value), renames))})
			}
			v = lists
		}
		out.members = append(out.members, member{m.name, v})
	}
	if properties := n.get("properties"); properties != nil {
		out.marks = marksFor(properties, renames)
	}
	return out
}

func renameMap(names bool, v *node, renames map[string]string) *node {
	out := newObject()
	for _, p := range v.members {
		name := p.name
		if names {
			name = renamed(name, renames)
		}
		out.members = append(out.members, member{name, rename(p.value, renames)})
	}
	return out
}

func renamed(name string, renames map[string]string) string {
	if other, ok := renames[name]; ok {
		return other
	}
	return name
}

func inverted(renames map[string]string) map[string]string {
	originals := make(map[string]string, len(renames))
	for original, name := range renames {
		originals[name] = original
	}
	return originals
}

func renameAll(names []string, renames map[string]string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, renamed(name, renames))
	}
	return out
}

// marksFor notes the original names of properties that were renamed.
func marksFor(properties *node, renames map[string]string) *marks {
	originals := map[string]string{}
	for _, p := range properties.members {
		if name, ok := renames[p.name]; ok {
			originals[name] = p.name
		}
	}
	if len(originals) == 0 {
		return nil
	}
	return &marks{originals: originals}
}

// marks say how the values that a model gives for a schema differ from those that the tool takes.
type marks struct {
	originals map[string]string // of the renamed properties
	optional  map[string]bool   // properties whose null stands for nothing
	text      textual
}

// textual says that a model gives a value as JSON text.
type textual int

const (
	notTextual textual = iota
	objectText         // an object
	anyText            // an object or a list; any other text is meant as it is
)

// A shape is what is left of a schema to take arguments back: where values are, and their marks. It is nil where there
// is nothing to take back.
type shape struct {
	marks
	properties map[string]*shape
	every      []*shape // for any property, since nobody tries its pattern
	others     []*shape // for properties that have no schema of their own
	prefix     []*shape
	items      []*shape // for elements after those
	contains   []*shape // for any element
	also       []*shape // schemas for the same value
}

func shapeOf(n *node) *shape {
	s := &shape{properties: map[string]*shape{}}
	found := n.marks != nil
	if found {
		s.marks = *n.marks
	}
	below := func(n *node) *shape {
		inner := shapeOf(n)
		found = found || inner != nil
		return inner
	}
	for _, m := range n.members {
		switch m.name {
		case "properties":
			for _, p := range m.value.members {
				s.properties[p.name] = below(p.value)
			}
		case "items", "unevaluatedItems":
			s.items = append(s.items, below(m.value))
		case "contains":
			s.contains = append(s.contains, below(m.value))
		case "prefixItems":
			for _, e := range m.value.list {
				s.prefix = append(s.prefix, below(e))
			}
		case "additionalProperties", "unevaluatedProperties":
			s.others = append(s.others, below(m.value))
		case "patternProperties":
			for _, p := range m.value.members {
				s.every = append(s.every, below(p.value))
			}
		case "anyOf", "oneOf", "allOf":
			for _, e := range m.value.list {
				s.also = append(s.also, below(e))
			}
		case "if", "then", "else":
			s.also = append(s.also, below(m.value))
		case "dependentSchemas":
			for _, p := range m.value.members {
				s.also = append(s.also, below(p.value))
			}
		}
	}
	if !found {
		return nil
	}
	return s
}
