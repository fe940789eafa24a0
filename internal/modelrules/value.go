package modelrules

import (
	"slices"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// An object keeps the order of its members, which json.Unmarshal does not.
type object []field

type field struct {
	name  string
	value any
}

// A literal is the JSON text of a number or null.
type literal string

func (o object) get(name string) any {
	for _, f := range o {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// parse reads JSON that is known to be valid.
func parse(data []byte) any {
	d := jsonscan.New(data)
	return read(&d)
}

func read(d *jsonscan.Decoder) any {
	switch d.Kind() {
	case jsonscan.Object:
		o := object{}
		for name := range d.Object() {
			key := string(name)
			o = append(o, field{key, read(d)})
		}
		return o
	case jsonscan.Array:
		list := []any{}
		for range d.Array() {
			list = append(list, read(d))
		}
		return list
	case jsonscan.String:
		return d.Text()
	case jsonscan.Bool:
		return d.Bool()
	}
	return literal(d.Raw())
}

func write(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, f := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(jsonscan.AppendString(b, f.name), ':')
			b = write(b, f.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = write(b, e)
		}
		return append(b, ']')
	case string:
		return jsonscan.AppendString(b, v)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case literal:
		return append(b, v...)
	}
	return append(b, "null"...)
}

func stringsOf(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Properties returns the names of all properties in a schema, in alphabetical order: those that values can have, which
// leaves out what stands below not, if and the like.
func Properties(schema []byte) []string {
	var all []string
	collect(parse(schema).(object), &all)
	slices.Sort(all)
	return slices.Compact(all)
}

func collect(schema object, all *[]string) {
	properties, _ := schema.get("properties").(object)
	for _, p := range properties {
		*all = append(*all, p.name)
	}
	for _, inner := range subschemas(schema) {
		collect(inner, all)
	}
}

// subschemas returns the schemas that values have to fit, or parts of them.
func subschemas(schema object) (all []object) {
	add := func(v any) {
		if o, ok := v.(object); ok {
			all = append(all, o)
		}
	}
	for _, m := range schema {
		switch m.name {
		case "properties":
			properties, _ := m.value.(object)
			for _, p := range properties {
				add(p.value)
			}
		case "items":
			add(m.value)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			list, _ := m.value.([]any)
			for _, e := range list {
				add(e)
			}
		}
	}
	return all
}
