package modelrules

import "slices"

// A Sample is a set of arguments, as a model writes them for the schema of a dialect and as the tool expects them.
type Sample struct{ Model, Tool []byte }

// Samples makes arguments for a schema that is given in full and in a dialect: one with all properties, and one with
// the required ones only. It relies on both having their properties and alternatives in the same order.
func Samples(full, dialect []byte) []Sample {
	var samples []Sample
	for _, all := range []bool{true, false} {
		s := sampler{all: all}
		tool, model := s.object(parse(full).(object), parse(dialect).(object))
		samples = append(samples, Sample{Model: write(nil, model), Tool: write(nil, tool)})
	}
	return samples
}

type sampler struct{ all bool }

// anything is a value for a schema that takes everything.
var anything = object{{"any", []any{literal("9007199254740993"), literal("1.50"), nil}}}

func (s sampler) value(full, dialect object) (tool, model any) {
	if values := listed(full); values != nil {
		for _, v := range values {
			if v != literal("null") {
				return v, v
			}
		}
		return nil, nil
	}
	if list := alternatives(full); list != nil && properties(full) == nil {
		i := slices.IndexFunc(list, func(a object) bool { return !slices.Equal(types(a), []string{"null"}) })
		if others := alternatives(dialect); len(others) > i {
			return s.value(list[i], others[i])
		}
		return s.value(list[i], dialect)
	}
	if list := alternatives(dialect); list != nil && properties(dialect) == nil {
		dialect = list[0]
	}
	isText := slices.Equal(types(dialect), []string{"STRING"})
	kind := kindOf(full)
	switch {
	case kind == "object" && isText, kind == "" && isText:
		return anything, string(write(nil, anything))
	case kind == "object" && properties(full) == nil, kind == "":
		return anything, anything
	case kind == "object":
		return s.object(full, dialect)
	case kind == "array":
		return s.array(full, dialect)
	}
	v := map[string]any{"string": "te\u2028xt", "boolean": true, "integer": literal("9007199254740993"),
		"number": literal("1.50"), "null": nil}[kind]
	return v, v
}

func (s sampler) array(full, dialect object) (tool, model any) {
	items, _ := full.get("items").(object)
	if prefix, ok := full.get("prefixItems").([]any); ok {
		items = prefix[0].(object)
	}
	other, _ := dialect.get("items").(object)
	if prefix, ok := dialect.get("prefixItems").([]any); ok {
		other = prefix[0].(object)
	}
	t, m := s.value(items, other)
	return []any{t}, []any{m}
}

func (s sampler) object(full, dialect object) (tool, model any) {
	t, m := object{}, object{}
	others := properties(dialect)
	for i, p := range properties(full) {
		schema, _ := p.value.(object)
		other, _ := others[i].value.(object)
		if s.all || slices.Contains(stringsOf(full.get("required")), p.name) {
			tv, mv := s.value(schema, other)
			t, m = append(t, field{p.name, tv}), append(m, field{others[i].name, mv})
			continue
		}
		if dialect.get("additionalProperties") == false && slices.Contains(stringsOf(dialect.get("required")), p.name) {
			if m = append(m, field{others[i].name, nil}); takesNull(schema) {
				t = append(t, field{p.name, nil})
			}
		}
	}
	return t, m
}

func listed(o object) []any {
	if v := o.get("const"); v != nil {
		return []any{v}
	}
	list, _ := o.get("enum").([]any)
	return list
}

func alternatives(o object) (out []object) {
	for _, name := range []string{"anyOf", "oneOf"} {
		list, _ := o.get(name).([]any)
		for _, e := range list {
			a, _ := e.(object)
			out = append(out, a)
		}
	}
	return out
}

// properties returns those of an object and of all that it has to fit as well.
func properties(o object) object {
	out, _ := o.get("properties").(object)
	parts, _ := o.get("allOf").([]any)
	for _, part := range parts {
		inner, _ := part.(object)
		for _, p := range properties(inner) {
			if !slices.ContainsFunc(out, func(f field) bool { return f.name == p.name }) {
				out = append(out[:len(out):len(out)], p)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func types(o object) []string { return stringsOf(o.get("type")) }

func kindOf(o object) string {
	for _, name := range types(o) {
		if name != "null" || len(types(o)) == 1 {
			return name
		}
	}
	parts, _ := o.get("allOf").([]any)
	for _, part := range parts {
		if inner, ok := part.(object); ok && kindOf(inner) != "" {
			return kindOf(inner)
		}
	}
	switch {
	case properties(o) != nil:
		return "object"
	case o.get("items") != nil:
		return "array"
	case o.get("pattern") != nil || o.get("maxLength") != nil:
		return "string"
	}
	return ""
}

func takesNull(o object) bool {
	if list := alternatives(o); list != nil {
		return slices.ContainsFunc(list, takesNull)
	}
	if values := listed(o); values != nil {
		return slices.Contains(values, any(literal("null")))
	}
	return slices.Contains(types(o), "null") || kindOf(o) == ""
}
