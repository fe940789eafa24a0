package schema

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

var typeNames = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

// assertions translates the keywords that have no subschemas (2020-12 validation, section 6). What is not for
// validation, such as titles, defaults and examples, is left out.
func (t *translator) assertions(n *node, keywords object) error {
	s, k := n.lib, reading{keywords: keywords}
	if s.Types = k.types(); len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil // the library says "want" instead of "want one of"
	}
	s.Enum = k.list("enum")
	if value, ok := keywords["const"]; ok {
		s.Const = &value
	}
	s.MinLength, s.MaxLength = k.count("minLength"), k.count("maxLength")
	s.MinItems, s.MaxItems = k.count("minItems"), k.count("maxItems")
	s.MinContains, s.MaxContains = k.count("minContains"), k.count("maxContains")
	s.MinProperties, s.MaxProperties = k.count("minProperties"), k.count("maxProperties")
	s.UniqueItems = k.flag("uniqueItems")
	s.Required = k.names("required")
	s.DependentRequired = k.nameLists("dependentRequired")
	s.MultipleOf = k.float("multipleOf")
	k.bounds(s)
	s.Pattern = k.text("pattern")
	if k.err != nil {
		return k.err
	}
	if s.MultipleOf != nil && *s.MultipleOf <= 0 {
		return expected("multipleOf", "a number above 0")
	}
	return t.patterns(n, keywords)
}

// A reading keeps the first mistake; what comes after it does not matter.
type reading struct {
	keywords object
	err      error
}

func (k *reading) fail(keyword, what string) {
	if k.err == nil {
		k.err = expected(keyword, what)
	}
}

// read returns the value of a keyword; ok is false when there is none, or one that is not a T.
func read[T any](k *reading, keyword, what string) (value T, ok bool) {
	v, found := k.keywords[keyword]
	if !found {
		return value, false
	}
	if value, ok = v.(T); !ok {
		k.fail(keyword, what)
	}
	return value, ok
}

func (k *reading) list(keyword string) []any {
	list, _ := read[array](k, keyword, "a list")
	return list
}

func (k *reading) flag(keyword string) bool {
	flag, _ := read[bool](k, keyword, "a boolean")
	return flag
}

func (k *reading) text(keyword string) string {
	s, _ := read[text](k, keyword, "a string")
	return string(s)
}

func (k *reading) types() []string {
	if name, ok := k.keywords["type"].(text); ok {
		return k.knownTypes(array{name})
	}
	names, ok := read[array](k, "type", "a string or a list of strings")
	if !ok {
		return nil
	}
	return k.knownTypes(names)
}

func (k *reading) knownTypes(list array) []string {
	names := k.strings("type", list)
	if len(names) == 0 {
		k.fail("type", "at least one name")
	}
	for _, name := range names {
		if !slices.Contains(typeNames, name) && k.err == nil {
			k.err = fmt.Errorf("type: there is no type %v", text(name))
		}
	}
	return names
}

func (k *reading) strings(keyword string, list array) []string {
	names := make([]string, 0, len(list))
	for _, v := range list {
		name, ok := v.(text)
		if !ok {
			k.fail(keyword, "a list of strings")
		}
		names = append(names, string(name))
	}
	return names
}

func (k *reading) names(keyword string) []string {
	list, ok := read[array](k, keyword, "a list of strings")
	if !ok {
		return nil
	}
	return k.strings(keyword, list)
}

func (k *reading) nameLists(keyword string) map[string][]string {
	all, ok := read[object](k, keyword, "an object")
	if !ok {
		return nil
	}
	lists := make(map[string][]string, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list, ok := all[name].(array)
		if !ok {
			k.fail(keyword, "lists of strings")
		}
		lists[name] = k.strings(keyword, list)
	}
	return lists
}

// count reads a number of things, which may be written as 2.0.
func (k *reading) count(keyword string) *int {
	f := k.float(keyword)
	if f == nil {
		return nil
	}
	if *f < 0 || *f != math.Trunc(*f) {
		k.fail(keyword, "an integer of 0 or more")
	}
	n := int(min(*f, math.MaxInt32)) // nothing has so many
	return &n
}

func (k *reading) float(keyword string) *float64 {
	v, ok := k.keywords[keyword]
	if !ok {
		return nil
	}
	var f float64
	switch v := v.(type) {
	case int64:
		f = float64(v)
	case uint64:
		f = float64(v)
	case float64:
		f = v
	default:
		k.fail(keyword, "a number")
	}
	return &f
}
