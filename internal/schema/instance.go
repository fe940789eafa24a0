package schema

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// JSON values as the library wants them. The types have names because the library prints values into its errors, again
// and again for a large one: so it prints an excerpt.
type (
	object map[string]any
	array  []any
	text   string
)

func (object) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "the object") }
func (array) Format(f fmt.State, _ rune)  { _, _ = io.WriteString(f, "the array") }
func (t text) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, strconv.Quote(excerpt(string(t), 60)))
}

// A level counts what an instance has at one depth. These are float64 because they are multiplied by costs that
// overflow.
type level struct {
	nodes       float64
	objects     float64
	stringBytes float64 // of strings, and of the names of members, since propertyNames checks them as values
	nameBytes   float64 // of the names that the objects at this depth have
	pairs       float64 // see reader.array
}

// overhead is what a string costs beyond its bytes, in bytes.
const overhead = 8

// decode reads one JSON value, and what it has at each depth.
func decode(raw json.RawMessage) (any, []level, error) {
	d := jsonscan.New(raw)
	r := reader{Decoder: &d}
	value := r.value(0)
	if err := d.End(); err != nil {
		return nil, nil, fmt.Errorf("cannot read the JSON: %s", clip(err.Error()))
	}
	return value, r.levels, nil
}

type reader struct {
	*jsonscan.Decoder
	levels []level
	total  float64 // nodes so far
}

func (r *reader) value(depth int) any {
	if depth == len(r.levels) {
		r.levels = append(r.levels, level{})
	}
	r.levels[depth].nodes++
	r.total++
	switch r.Kind() {
	case jsonscan.Object:
		return r.object(depth)
	case jsonscan.Array:
		return r.array(depth)
	case jsonscan.String:
		s := r.Text()
		r.levels[depth].stringBytes += float64(len(s) + overhead)
		return text(s)
	case jsonscan.Number:
		return r.number()
	case jsonscan.Bool:
		return r.Bool()
	default:
		r.Skip()
		return nil
	}
}

func (r *reader) object(depth int) object {
	members := object{}
	var names float64
	for name := range r.Object() {
		key := string(name)
		names += float64(len(key) + overhead)
		members[key] = r.value(depth + 1)
	}
	r.levels[depth].objects++
	r.levels[depth].nameBytes += names
	if depth+1 < len(r.levels) {
		r.levels[depth+1].stringBytes += names
	}
	return members
}

// array also counts what uniqueItems compares at worst: the library's hash ignores where a string inside an element
// ends, so that a server can make elements that are objects or arrays collide, each with every other one.
func (r *reader) array(depth int) array {
	elements := array{}
	var composite float64
	before := r.total
	for range r.Array() {
		v := r.value(depth + 1)
		switch v.(type) {
		case object, array:
			composite++
		}
		elements = append(elements, v)
	}
	r.levels[depth].pairs += composite * (r.total - before)
	return elements
}

// number keeps integers exact: through float64 they are not, beyond 2^53. (json.Number does not do: the library takes
// it for a string.)
func (r *reader) number() any {
	raw := string(r.Raw())
	if n, err := strconv.ParseInt(raw, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(raw, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		r.Fail("number out of range")
	}
	return f
}
