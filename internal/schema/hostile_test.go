package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// alive fails the test when f takes longer than anything here may on a slow machine under the race detector.
func alive(t *testing.T, f func()) {
	t.Helper()
	start := time.Now()
	f()
	assert.Less(t, time.Since(start), time.Minute)
}

func TestSchemasWithoutEndAreRefused(t *testing.T) {
	for _, schema := range []string{
		`{"$ref":"#"}`,
		`{` + seven + `,"$ref":"#"}`,
		`{"$dynamicRef":"#"}`,
		`{"$dynamicRef":"#x","$dynamicAnchor":"x"}`,
		`{"$anchor":"x","$ref":"#x"}`,
		`{"$id":"http://h/x","$ref":"http://h/x"}`,
		`{"allOf":[{"$ref":"#"}]}`,
		`{"anyOf":[{"$ref":"#"},true]}`,
		`{"oneOf":[true,{"$ref":"#"}]}`,
		`{"not":{"$ref":"#"}}`,
		`{"if":{"$ref":"#"}}`,
		`{"if":true,"then":{"$ref":"#"}}`,
		`{"if":false,"else":{"$ref":"#"}}`,
		`{"dependentSchemas":{"a":{"$ref":"#"}}}`,
		`{` + seven + `,"dependencies":{"a":{"$ref":"#"}}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"allOf":[{"not":{"$dynamicRef":"#b"}}]},"b":{"$dynamicAnchor":"b","$ref":"#/$defs/a"}}}`,
		`{"$ref":"#/x/y","x":{"y":{"anyOf":[{"$ref":"#/x/y"}]}}}`,
	} {
		_, err := Compile(json.RawMessage(schema))
		assert.ErrorContains(t, err, "refers to itself without end", schema)
	}
}

// nest wraps a value in so many objects or arrays.
func nest(opening string, levels int, value, closing string) string {
	return strings.Repeat(opening, levels) + value + strings.Repeat(closing, levels)
}

func TestExponentialSchemasAreRefusedAtOnce(t *testing.T) {
	doubling := func(levels int) string { // each definition applies the next one twice
		var defs []string
		for i := range levels {
			defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
		}
		return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s,"d%d":{"type":"null"}}}`, strings.Join(defs, ","), levels)
	}
	twice := func(keyword string) string {
		branch := `{"properties":{"a":{"$ref":"#"}},"items":{"$ref":"#"},"required":["b"]}`
		return fmt.Sprintf(`{%q:[%s,%s]}`, keyword, branch, branch)
	}
	objects, arrays := nest(`{"a":`, 200, `{}`, `}`), nest(`[`, 200, ``, `]`)
	for _, c := range []struct{ name, schema, instance string }{
		{"doubling", doubling(40), `1`},
		{"anyOf", twice("anyOf"), objects},
		{"oneOf", twice("oneOf"), arrays},
		{"allOf", twice("allOf"), arrays},
		{"properties beside each other", `{"properties":{"a":{"$ref":"#"}},"patternProperties":{"a":{"$ref":"#"},".":{"$ref":"#"}}}`, objects},
		{"items and contains", `{"items":{"$ref":"#"},"contains":{"$ref":"#"},"minContains":0}`, arrays},
		{"unevaluated", `{"not":{"unevaluatedProperties":{"$ref":"#"}},"unevaluatedProperties":{"$ref":"#"}}`, objects},
		{"if", `{"if":{"properties":{"a":{"$ref":"#"}}},"then":{"properties":{"a":{"$ref":"#"}}}}`, objects},
		{"beyond what is followed", `{"properties":{"a":{"$ref":"#"}}}`, nest(`{"a":`, 9000, `1`, `}`)},
		{"failing text", `{"anyOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":"object","properties":{"a":{"$ref":"#"}},"required":["c"]}}}`,
			nest(`{"a":`, 16, `1`, `}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			alive(t, func() {
				s := compile(t, c.schema)
				assert.ErrorIs(t, s.Validate(json.RawMessage(c.instance)), ErrTooComplex)
			})
		})
	}
}

func TestLargeInstancesAreBoundedToo(t *testing.T) {
	many := func(count int, v string) string { return "[" + strings.Repeat(v+",", count) + v + "]" }
	var splits []string // all different, and all the same to a hash that joins the strings
	for i := range 100 {
		for j := range 100 {
			splits = append(splits, fmt.Sprintf(`["%s","%s","%s"]`, strings.Repeat("x", i), strings.Repeat("x", j), strings.Repeat("x", 200-i-j)))
		}
	}
	flood := "[" + strings.Join(splits, ",") + "]"
	names := make([]string, 5000)
	for i := range names {
		names[i] = fmt.Sprintf(`"%d"`, i)
	}
	members := make([]string, 700_000)
	for i := range members {
		members[i] = fmt.Sprintf(`"%d":1`, i)
	}
	for _, c := range []struct{ name, schema, instance string }{
		{"pattern on a long string", `{"pattern":"(x?){1000}(x|y)*z"}`, `"` + strings.Repeat("x", 1<<20) + `"`},
		{"patternProperties", `{"patternProperties":{"(x?){1000}(x|y)*z":true}}`, `{"` + strings.Repeat("x", 1<<20) + `":1}`},
		{"propertyNames", `{"propertyNames":{"pattern":"(x?){1000}(x|y)*z"}}`, `{"` + strings.Repeat("x", 1<<20) + `":1}`},
		{"colliding elements", `{"uniqueItems":true}`, flood},
		{"uniqueItems at every level", `{"uniqueItems":true,"items":{"$ref":"#"}}`, nest("[", 200, many(100_000, "1"), "]")},
		{"enum of numbers", `{"items":{"enum":` + many(5000, "0.1") + `}}`, many(5000, "1")},
		{"alternatives quote a long string", `{"anyOf":[` + strings.Repeat(`{"minLength":99999999},`, 99) + `{"minLength":99999999}]}`, `"` + strings.Repeat("x", 4<<20) + `"`},
		{"alternatives quote a long name", `{"anyOf":[` + strings.Repeat(`{"additionalProperties":false},`, 99) + `false]}`, `{"` + strings.Repeat("x", 4<<20) + `":1}`},
		{"each level quotes a long string", nest(`{"allOf":[`, 60, `{"minLength":99999999}`, `]}`), `"` + strings.Repeat("x", 4<<20) + `"`},
		{"each level quotes a long name", nest(`{"allOf":[`, 60, `{"additionalProperties":false}`, `]}`), `{"` + strings.Repeat("x", 4<<20) + `":1}`},
		{"each level prints a long name", `{"propertyNames":` + nest(`{"allOf":[`, 60, `{"type":"null"}`, `]}`) + `}`, `{"` + strings.Repeat("x", 4<<20) + `":1}`},
		{"alternatives quote what is required", `{"anyOf":` + many(500, `{"$ref":"#/$defs/r"}`) + `,"$defs":{"r":{"required":["` + strings.Repeat("x", 500_000) + `"]}}}`, `{}`},
		{"members times subschemas", nest(`{"allOf":[`, 60, `{"additionalProperties":true}`, `]}`), `{` + strings.Join(members, ",") + `}`},
		{"required names times objects", `{"items":{"required":[` + strings.Join(names, ",") + `]}}`, many(50_000, "{}")},
	} {
		t.Run(c.name, func(t *testing.T) {
			alive(t, func() { assert.ErrorIs(t, compile(t, c.schema).Validate(json.RawMessage(c.instance)), ErrTooComplex) })
		})
	}
}

// What is admitted just below a limit must end well: no stack overflow, and in time.
func TestWhatIsAdmittedEnds(t *testing.T) {
	levels := 0
	alive(t, func() {
		s := compile(t, `{"anyOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}],"$defs":{"x":{"type":"object","properties":{"a":{"$ref":"#"}},"required":["c"]}}}`)
		for levels = 1; levels < 40; levels++ {
			err := s.Validate(json.RawMessage(nest(`{"a":`, levels, `1`, `}`)))
			require.Error(t, err)
			if errors.Is(err, ErrTooComplex) {
				break
			}
		}
	})
	assert.Greater(t, levels, 8)
	assert.Less(t, levels, 20)

	alive(t, func() { // a long way in place, taken at every level
		s := compile(t, nest(`{"allOf":[`, 40, `{"items":{"$ref":"#"},"type":"array"}`, `]}`))
		deepest := 0
		for depth := 1; depth <= maxDepth; depth++ {
			err := s.Validate(json.RawMessage(nest(`[`, depth, `1`, `]`)))
			require.Error(t, err)
			if errors.Is(err, ErrTooComplex) {
				break
			}
			deepest = depth
		}
		assert.Greater(t, deepest, 20)
	})
}

func TestLargeButHarmlessIsChecked(t *testing.T) {
	row := `{"id":1,"name":"some name","tags":["a","b"],"price":9.5,"parent":null}`
	rows := `{"rows":[` + strings.Repeat(row+",", 9_999) + row + `]}`
	s := compile(t, `{"type":"object","required":["rows"],"properties":{"rows":{"type":"array","items":{
		"type":"object","additionalProperties":false,"required":["id","name"],"properties":{
			"id":{"type":"integer"},"name":{"type":"string","minLength":1},"price":{"type":"number","minimum":0},
			"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true},
			"parent":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}}}}`)
	alive(t, func() { matches(t, s, rows) })

	set := compile(t, `{"type":"array","uniqueItems":true,"items":{"type":"string"}}`)
	var words []string
	for i := range 100_000 {
		words = append(words, fmt.Sprintf(`"word %d"`, i))
	}
	alive(t, func() { matches(t, set, "["+strings.Join(words, ",")+"]") })

	// What the schema does not look into may be as deep as it likes.
	alive(t, func() { matches(t, compile(t, `{"type":"array"}`), nest("[", 9_999, "", "]")) })
}

func TestLargestSchemasCompileInTime(t *testing.T) {
	var chain, wide []string
	for i := range maxSchemas - 10 {
		chain = append(chain, fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1))
		wide = append(wide, fmt.Sprintf(`"d%d":{"$ref":"#"}`, i))
	}
	for name, schema := range map[string]string{
		"chain":     `{"$ref":"#/$defs/d0","$defs":{` + strings.Join(chain, ",") + fmt.Sprintf(`,"d%d":{"items":{"$ref":"#"}}}}`, len(chain)),
		"recursive": `{"properties":{` + strings.Join(wide, ",") + `}}`,
		"deep text": nest(`{"not":`, 120, `{"title":"`+strings.Repeat("x", maxText/2)+`"}`, `}`),
	} {
		t.Run(name, func(t *testing.T) {
			alive(t, func() {
				s := compile(t, schema)
				_ = s.Validate(json.RawMessage(nest(`[`, 200, ``, `]`)))
			})
		})
	}
}
