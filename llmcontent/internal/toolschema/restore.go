package toolschema

import (
	"encoding/json"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// Restore takes arguments that a model gave back to those that the tool expects. Without anything to take back they are
// returned as they are.
func (p *Parameters) Restore(args json.RawMessage) (json.RawMessage, error) {
	if p == nil || p.shape == nil {
		return args, nil
	}
	n, err := parse(args, anyDepth)
	if err != nil {
		return nil, err
	}
	return restorer{p.below}.value(n, []*shape{p.shape}).encode(nil), nil
}

// anyDepth leaves the depth of arguments to the decoder, which has a bound of its own.
const anyDepth = -1

// A restorer knows what names stand for where there are no shapes any more, since a reference was cut: in a schema that
// contains itself, a model goes on with the names that it has seen above.
type restorer struct{ below map[string]string }

func (r restorer) value(v *node, shapes []*shape) *node {
	shapes = expand(nil, shapes)
	if len(shapes) == 0 && len(r.below) == 0 {
		return v
	}
	switch v.kind {
	case jsonscan.Object:
		return r.object(v, shapes)
	case jsonscan.Array:
		out := newArray()
		for i, e := range v.list {
			out.list = append(out.list, r.value(e, elements(i, shapes)))
		}
		return out
	case jsonscan.String:
		return r.text(v, shapes)
	}
	return v
}

// expand appends the shapes and those that the same value may fit as well.
func expand(all, shapes []*shape) []*shape {
	for _, s := range shapes {
		if s != nil {
			all = expand(append(all, s), s.also)
		}
	}
	return all
}

func (r restorer) object(v *node, shapes []*shape) *node {
	out := newObject()
	index := make(map[string]int, len(v.members))
	for _, m := range v.members {
		name, next, absent := r.property(m, shapes)
		if absent {
			continue
		}
		value := r.value(m.value, next)
		if at, again := index[name]; !again {
			index[name] = len(out.members)
			out.members = append(out.members, member{name, value})
		} else if name != m.name { // of both names, the model was told the new one
			out.members[at].value = value
		}
	}
	return out
}

// property returns the name that the tool has for a property, and the schemas that its value may fit. absent says that
// it stands for nothing: strict mode has no alternatives of which one takes null there.
func (r restorer) property(m member, shapes []*shape) (name string, next []*shape, absent bool) {
	name = m.name
	if original, ok := r.below[m.name]; ok {
		name = original
	}
	for _, s := range shapes {
		next = append(next, s.every...)
		known, own := s.properties[m.name]
		if !own {
			next = append(next, s.others...)
			continue
		}
		next = append(next, known)
		if original, ok := s.originals[m.name]; ok {
			name = original
		}
		absent = absent || m.value.kind == jsonscan.Null && s.optional[m.name]
	}
	return name, next, absent
}

func elements(i int, shapes []*shape) (next []*shape) {
	for _, s := range shapes {
		next = append(next, s.contains...)
		if i < len(s.prefix) {
			next = append(next, s.prefix[i])
		} else {
			next = append(next, s.items...)
		}
	}
	return next
}

// text reads what the model was asked to give as JSON text. What is no such text stays what it is.
func (r restorer) text(v *node, shapes []*shape) *node {
	for _, s := range shapes {
		if s.text == notTextual {
			continue
		}
		inner, err := parse([]byte(v.text), anyDepth)
		if err == nil && (inner.kind == jsonscan.Object || inner.kind == jsonscan.Array && s.text == anyText) {
			return r.value(inner, nil)
		}
	}
	return v
}
