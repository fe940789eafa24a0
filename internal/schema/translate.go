package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// lib is how the library has a subschema.
type lib = jsonschema.Schema

// A node is a subschema that can apply to a part of the instance.
type node struct {
	index   int
	lib     *lib
	parent  *node  // nil for the root and for what only a reference reaches
	keyword string // where the parent has it: oneOf/1
	step    string // how it gets from the parent's value to its own: .name, [*], or "" for the same value
	edges   [edgeKinds][]*node

	program      int // size of the pattern
	namePrograms int // sizes of the patterns of patternProperties
}

// An edge tells which values a subschema applies to, given the value of the schema that has it.
type edge int

const (
	inPlace    edge = iota // the same value
	oneMember              // members; of these subschemas at most one applies to a given member
	eachMember             // members; any number of these may apply
	oneItem                // elements; at most one applies to a given element
	eachItem               // elements; any number may apply
	edgeKinds
)

// An applicator is a keyword that has subschemas (2020-12 core, sections 10 and 11): one, a list, or one for each name.
type applicator struct {
	edge  edge
	one   func(*lib) **lib
	list  func(*lib) *[]*lib
	named func(*lib) *map[string]*lib
	step  func(name string) string
}

var applicators = map[string]applicator{
	"allOf":            {edge: inPlace, list: func(s *lib) *[]*lib { return &s.AllOf }},
	"anyOf":            {edge: inPlace, list: func(s *lib) *[]*lib { return &s.AnyOf }},
	"oneOf":            {edge: inPlace, list: func(s *lib) *[]*lib { return &s.OneOf }},
	"not":              {edge: inPlace, one: func(s *lib) **lib { return &s.Not }},
	"if":               {edge: inPlace, one: func(s *lib) **lib { return &s.If }},
	"then":             {edge: inPlace, one: func(s *lib) **lib { return &s.Then }},
	"else":             {edge: inPlace, one: func(s *lib) **lib { return &s.Else }},
	"dependentSchemas": {edge: inPlace, named: func(s *lib) *map[string]*lib { return &s.DependentSchemas }},

	"properties": {
		edge: oneMember, step: memberStep,
		named: func(s *lib) *map[string]*lib { return &s.Properties },
	},
	"additionalProperties": {
		edge: oneMember, step: anyMember,
		one: func(s *lib) **lib { return &s.AdditionalProperties },
	},
	"patternProperties": {
		edge: eachMember, step: anyMember,
		named: func(s *lib) *map[string]*lib { return &s.PatternProperties },
	},
	"unevaluatedProperties": {
		edge: eachMember, step: anyMember,
		one: func(s *lib) **lib { return &s.UnevaluatedProperties },
	},
	"propertyNames": {
		edge: eachMember, step: func(string) string { return ".(name)" },
		one: func(s *lib) **lib { return &s.PropertyNames },
	},

	"prefixItems": {
		edge: oneItem, step: func(index string) string { return "[" + index + "]" },
		list: func(s *lib) *[]*lib { return &s.PrefixItems },
	},
	"items":            {edge: oneItem, step: anyItem, one: func(s *lib) **lib { return &s.Items }},
	"contains":         {edge: eachItem, step: anyItem, one: func(s *lib) **lib { return &s.Contains }},
	"unevaluatedItems": {edge: eachItem, step: anyItem, one: func(s *lib) **lib { return &s.UnevaluatedItems }},
}

// applicatorNames are in a fixed order, so that of several mistakes always the same one is reported.
var applicatorNames = slices.Sorted(maps.Keys(applicators))

// translate makes the library's form of a document: a tree of all subschemas that can apply, each with a number for its
// $id, and references by these numbers only. The root is the first node.
func translate(doc any) ([]*node, error) {
	refs, root, err := indexReferences(doc)
	if err != nil {
		return nil, err
	}
	t := translator{refs: refs, byObject: map[uintptr]*node{}}
	if _, err := t.node(doc, root); err != nil {
		return nil, err
	}
	for len(t.pending) > 0 {
		next := t.pending[0]
		t.pending = t.pending[1:]
		if err := t.link(next); err != nil {
			return nil, err
		}
	}
	return t.nodes, t.adoptOrphans()
}

type translator struct {
	refs     *references
	nodes    []*node
	byObject map[uintptr]*node
	pending  []pendingRef
	programs int
}

type pendingRef struct {
	from    *node
	ref     string
	in      *resource
	resolve func(ref string, in *resource) (any, *resource, error)
}

// idScheme starts the $id of each node. Whatever the library says about a schema has it, so it must be unlikely in an
// instance.
const idScheme = "mcp-schema:"

func (t *translator) add() (*node, error) {
	if len(t.nodes) == maxSchemas {
		return nil, fmt.Errorf("more than %d subschemas", maxSchemas)
	}
	n := &node{index: len(t.nodes), lib: &lib{ID: idScheme + strconv.Itoa(len(t.nodes))}}
	t.nodes = append(t.nodes, n)
	return n, nil
}

// node returns the node of a schema, which it makes at the first time.
func (t *translator) node(v any, in *resource) (*node, error) {
	s, ok := v.(object)
	if !ok {
		return t.boolean(v)
	}
	if n := t.byObject[identity(s)]; n != nil {
		return n, nil
	}
	n, err := t.add()
	if err != nil {
		return nil, err
	}
	t.byObject[identity(s)] = n
	in = t.refs.enter(s, in)
	keywords, err := in.dialect.modern(s)
	if err != nil {
		return nil, err
	}
	if err := t.assertions(n, keywords); err != nil {
		return nil, err
	}
	for _, keyword := range applicatorNames {
		if value, ok := keywords[keyword]; ok {
			if err := t.applicator(n, keyword, value, in); err != nil {
				return nil, err
			}
		}
	}
	return n, t.references(n, keywords, in)
}

func (t *translator) boolean(v any) (*node, error) {
	allowed, ok := v.(bool)
	if !ok {
		return nil, fmt.Errorf("expected a schema (an object or a boolean), found %v", v)
	}
	n, err := t.add()
	if err == nil && !allowed {
		n.lib.Not = &lib{} // without an $id, the form that the library knows
	}
	return n, err
}

func (t *translator) references(n *node, keywords object, in *resource) error {
	for _, r := range []struct {
		keyword string
		resolve func(string, *resource) (any, *resource, error)
	}{{"$ref", t.refs.resolve}, {"$dynamicRef", t.refs.resolveDynamic}} {
		value, ok := keywords[r.keyword]
		if !ok {
			continue
		}
		ref, ok := value.(text)
		if !ok {
			return expected(r.keyword, "a string")
		}
		t.pending = append(t.pending, pendingRef{n, string(ref), in, r.resolve})
	}
	return nil
}

// link puts a reference in place. References wait until the tree is there, so that a chain of them is no recursion.
func (t *translator) link(p pendingRef) error {
	v, in, err := p.resolve(p.ref, p.in)
	if err != nil {
		return err
	}
	target, err := t.node(v, in)
	if err != nil {
		return err
	}
	p.from.edges[inPlace] = append(p.from.edges[inPlace], target)
	if p.from.lib.Ref == "" {
		p.from.lib.Ref = target.lib.ID
		return nil
	}
	second, err := t.add() // a $dynamicRef beside a $ref
	if err != nil {
		return err
	}
	second.parent, second.keyword = p.from, "$dynamicRef"
	second.lib.Ref = target.lib.ID
	second.edges[inPlace] = []*node{target}
	p.from.edges[inPlace] = append(p.from.edges[inPlace], second)
	p.from.lib.AllOf = append(p.from.lib.AllOf, second.lib)
	return nil
}

// applicator translates the subschemas that a keyword has.
func (t *translator) applicator(n *node, keyword string, value any, in *resource) error {
	a := applicators[keyword]
	switch {
	case a.one != nil:
		child, err := t.child(n, a, keyword, "", value, in)
		if err != nil {
			return err
		}
		*a.one(n.lib) = child
	case a.list != nil:
		list, ok := value.(array)
		if !ok || len(list) == 0 {
			return expected(keyword, "a list of schemas")
		}
		for i, v := range list {
			child, err := t.child(n, a, keyword, strconv.Itoa(i), v, in)
			if err != nil {
				return err
			}
			*a.list(n.lib) = append(*a.list(n.lib), child)
		}
	default:
		schemas, ok := value.(object)
		if !ok {
			return expected(keyword, "an object")
		}
		children := map[string]*lib{}
		for _, name := range slices.Sorted(maps.Keys(schemas)) {
			child, err := t.child(n, a, keyword, name, schemas[name], in)
			if err != nil {
				return err
			}
			children[name] = child
		}
		*a.named(n.lib) = children
	}
	return nil
}

func (t *translator) child(n *node, a applicator, keyword, name string, v any, in *resource) (*lib, error) {
	child, err := t.node(v, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", excerpt(join(keyword, name), 60), err)
	}
	child.parent, child.keyword = n, join(keyword, name)
	if a.step != nil {
		child.step = a.step(name)
	}
	n.edges[a.edge] = append(n.edges[a.edge], child)
	return child.lib, nil
}

func join(keyword, name string) string {
	if name == "" {
		return keyword
	}
	return keyword + "/" + name
}

// adoptOrphans hangs what only references reach below the root, where the library looks for it.
func (t *translator) adoptOrphans() error {
	root := t.nodes[0]
	paths := 0
	for i, n := range t.nodes {
		if n.parent == nil && n != root {
			if root.lib.Defs == nil {
				root.lib.Defs = map[string]*lib{}
			}
			root.lib.Defs[strconv.Itoa(i)] = n.lib
		}
		for up := n; up != nil; up = up.parent {
			paths += len(up.keyword) + 1
		}
		if paths > maxPaths {
			return fmt.Errorf("the names of properties are too long")
		}
	}
	return nil
}
