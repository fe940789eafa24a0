package schema

import (
	"fmt"
	"maps"
	"strings"
)

type dialect string

const (
	draft202012 dialect = "json-schema.org/draft/2020-12/schema"
	draft07     dialect = "json-schema.org/draft-07/schema"
)

// dialectOf reads $schema, which is absent in the dialect of the enclosing schema.
func dialectOf(s object, enclosing dialect) (dialect, error) {
	value, ok := s["$schema"]
	if !ok {
		return enclosing, nil
	}
	uri, _ := value.(text)
	name := strings.TrimSuffix(string(uri), "#")
	for _, scheme := range []string{"https://", "http://"} {
		name = strings.TrimPrefix(name, scheme)
	}
	switch d := dialect(name); d {
	case draft202012, draft07:
		return d, nil
	}
	return "", fmt.Errorf("$schema %v is not supported, only draft 2020-12 and draft-07 are", value)
}

// modern returns the keywords of s in terms of 2020-12. Its subschemas are those of s, not copies.
func (d dialect) modern(s object) (object, error) {
	if d == draft202012 {
		return s, nil
	}
	// draft-07 core, section 8.3: "All other properties in a "$ref" object MUST be ignored."
	if ref, ok := s["$ref"]; ok {
		return object{"$ref": ref}, nil
	}
	m := maps.Clone(s)
	for _, later := range []string{"$anchor", "$dynamicAnchor", "$dynamicRef", "prefixItems", "minContains", "maxContains",
		"dependentSchemas", "dependentRequired", "unevaluatedItems", "unevaluatedProperties"} {
		delete(m, later)
	}
	if tuple, ok := s["items"].(array); ok {
		delete(m, "items")
		m["prefixItems"] = tuple
		if rest, ok := s["additionalItems"]; ok {
			m["items"] = rest
		}
	}
	if err := splitDependencies(m); err != nil {
		return nil, err
	}
	return m, nil
}

// splitDependencies writes draft-07's dependencies as the two keywords that came after it.
func splitDependencies(m object) error {
	value, ok := m["dependencies"]
	if !ok {
		return nil
	}
	all, ok := value.(object)
	if !ok {
		return expected("dependencies", "an object")
	}
	names, schemas := object{}, object{}
	for name, dependency := range all {
		if list, ok := dependency.(array); ok {
			names[name] = list
		} else {
			schemas[name] = dependency
		}
	}
	m["dependentRequired"], m["dependentSchemas"] = names, schemas
	return nil
}

func expected(keyword, what string) error { return fmt.Errorf("%s: expected %s", keyword, what) }
