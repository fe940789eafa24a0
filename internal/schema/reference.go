package schema

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// A resource is a part of the document with a URI of its own: the root, and each subschema with an $id (2020-12 core,
// section 8.2.1).
type resource struct {
	uri     *url.URL
	root    any
	dialect dialect
	anchors map[string]object
}

// references resolves $ref and $dynamicRef within the document. The library is left only references by the number of a
// subschema, so that it cannot take one for something else than the cost model did.
type references struct {
	byURI   map[string]*resource
	byRoot  map[uintptr]*resource
	dynamic map[string][]object // the schemas with a $dynamicAnchor, by its name
}

// indexReferences finds the resources and anchors of the document.
func indexReferences(doc any) (*references, *resource, error) {
	r := &references{byURI: map[string]*resource{}, byRoot: map[uintptr]*resource{}, dynamic: map[string][]object{}}
	root := &resource{uri: &url.URL{}, root: doc, dialect: draft202012, anchors: map[string]object{}}
	r.byURI[""] = root
	if err := r.index(doc, root); err != nil {
		return nil, nil, err
	}
	if s, ok := doc.(object); ok {
		root = r.enter(s, root)
	}
	return r, root, nil
}

// identity tells one object of the document from another with the same content. The document keeps all of them alive.
func identity(s object) uintptr { return reflect.ValueOf(s).Pointer() }

// enter returns the resource that s is the root of, else the enclosing one.
func (r *references) enter(s object, enclosing *resource) *resource {
	if own := r.byRoot[identity(s)]; own != nil {
		return own
	}
	return enclosing
}

// index walks the places where 2020-12 and draft-07 have schemas. It is lenient: what is malformed is reported when,
// and only if, it can apply.
func (r *references) index(v any, in *resource) error {
	s, ok := v.(object)
	if !ok {
		return nil
	}
	in, err := r.open(s, in)
	if err != nil {
		return err
	}
	if err := r.anchor(s, in); err != nil {
		return err
	}
	for keyword, value := range s {
		switch _, applies := applicators[keyword]; {
		case keyword == "$defs" || keyword == "definitions" || keyword == "dependencies" || keyword == "additionalItems":
		case !applies:
			continue
		}
		if err := r.indexBelow(keyword, value, in); err != nil {
			return err
		}
	}
	return nil
}

func (r *references) indexBelow(keyword string, value any, in *resource) error {
	switch value := value.(type) {
	case array:
		for _, v := range value {
			if err := r.index(v, in); err != nil {
				return err
			}
		}
	case object:
		if applicators[keyword].one != nil || keyword == "additionalItems" {
			return r.index(value, in)
		}
		for _, v := range value {
			if err := r.index(v, in); err != nil {
				return err
			}
		}
	}
	return nil
}

// open starts a resource when s has an $id or, as the root of the document, a dialect.
func (r *references) open(s object, in *resource) (*resource, error) {
	d, err := dialectOf(s, in.dialect)
	if err != nil {
		return nil, err
	}
	isRoot := len(r.byRoot) == 0
	if isRoot {
		in.dialect = d
		r.byRoot[identity(s)] = in
	}
	if d != in.dialect {
		return nil, fmt.Errorf("$schema %v inside a schema of another dialect is not supported", s["$schema"])
	}
	id, ok := s["$id"].(text)
	if _, isRef := s["$ref"]; !ok || isRef && d == draft07 || strings.HasPrefix(string(id), "#") && d == draft07 {
		return in, nil
	}
	uri, err := url.Parse(string(id))
	if err != nil || uri.Fragment != "" {
		return nil, fmt.Errorf("$id %v is not a URI without a fragment", id)
	}
	own := &resource{uri: in.uri.ResolveReference(uri), root: s, dialect: d, anchors: map[string]object{}}
	if isRoot {
		own.anchors = in.anchors
	}
	if other := r.byURI[own.uri.String()]; other != nil && !isRoot {
		return nil, fmt.Errorf("$id %v is used twice", id)
	}
	r.byURI[own.uri.String()] = own
	r.byRoot[identity(s)] = own
	return own, nil
}

func (r *references) anchor(s object, in *resource) error {
	names := []string{"$anchor", "$dynamicAnchor"}
	if in.dialect == draft07 {
		names = []string{"$id"} // draft-07 core, section 8.2.3: {"$id": "#name"}
	}
	for _, keyword := range names {
		name, ok := s[keyword].(text)
		if in.dialect == draft07 {
			if !strings.HasPrefix(string(name), "#") {
				continue
			}
			name = name[1:]
		}
		if !ok || name == "" {
			continue
		}
		if other, ok := in.anchors[string(name)]; ok && identity(other) != identity(s) {
			return fmt.Errorf("anchor %v is used twice", name)
		}
		in.anchors[string(name)] = s
		if keyword == "$dynamicAnchor" {
			r.dynamic[string(name)] = append(r.dynamic[string(name)], s)
		}
	}
	return nil
}

// resolve finds what a reference inside the resource points to, and the resource that it is in.
func (r *references) resolve(ref string, in *resource) (any, *resource, error) {
	relative, err := url.Parse(ref)
	if err != nil {
		return nil, nil, fmt.Errorf("$ref %v is not a URI", text(ref))
	}
	uri := in.uri.ResolveReference(relative)
	fragment := uri.Fragment
	uri.Fragment, uri.RawFragment = "", ""
	target := r.byURI[uri.String()]
	if target == nil {
		return nil, nil, fmt.Errorf("$ref %v points outside of the schema; nothing is fetched", text(ref))
	}
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		if s, ok := target.anchors[fragment]; ok {
			return s, r.enter(s, target), nil
		}
		return nil, nil, fmt.Errorf("$ref %v: there is no such anchor", text(ref))
	}
	v, in, ok := r.follow(fragment, target)
	if !ok {
		return nil, nil, fmt.Errorf("$ref %v points to nothing", text(ref))
	}
	return v, in, nil
}

// resolveDynamic resolves a $dynamicRef (2020-12 core, section 8.2.3.2) where the dynamic scope cannot matter.
func (r *references) resolveDynamic(ref string, in *resource) (any, *resource, error) {
	_, name, _ := strings.Cut(ref, "#")
	if len(r.dynamic[name]) > 1 {
		return nil, nil, fmt.Errorf("$dynamicRef %v: several $dynamicAnchor of one name are not supported", text(ref))
	}
	return r.resolve(ref, in)
}

// follow walks a JSON pointer (RFC 6901) from the root of a resource.
func (r *references) follow(pointer string, in *resource) (any, *resource, bool) {
	v := in.root
	if pointer == "" {
		return v, in, true
	}
	for segment := range strings.SplitSeq(pointer[1:], "/") {
		segment = strings.ReplaceAll(strings.ReplaceAll(segment, "~1", "/"), "~0", "~")
		var ok bool
		switch parent := v.(type) {
		case object:
			v, ok = parent[segment]
		case array:
			i, err := strconv.Atoi(segment)
			if ok = err == nil && 0 <= i && i < len(parent) && strconv.Itoa(i) == segment; ok {
				v = parent[i]
			}
		}
		if !ok {
			return nil, nil, false
		}
		if s, isObject := v.(object); isObject {
			in = r.enter(s, in)
		}
	}
	return v, in, true
}
