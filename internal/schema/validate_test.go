package schema

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNumbersAreExact(t *testing.T) {
	for _, c := range []struct {
		schema   string
		ok, fail []string
	}{
		{`{"const":9007199254740993}`, []string{"9007199254740993"}, []string{"9007199254740992", "9007199254740994"}},
		{`{"enum":[1,9007199254740993]}`, []string{"9007199254740993", "1", "1.0"}, []string{"9007199254740992"}},
		{`{"const":{"a":[9007199254740993]}}`, []string{`{"a":[9007199254740993]}`}, []string{`{"a":[9007199254740992]}`}},
		{`{"const":18446744073709551615}`, []string{"18446744073709551615"}, []string{"18446744073709551614"}},
		{`{"maximum":9007199254740992}`, []string{"9007199254740992"}, []string{"9007199254740993"}},
		{`{"maximum":9007199254740993}`, []string{"9007199254740993"}, []string{"9007199254740994"}},
		{`{"minimum":9007199254740993}`, []string{"9007199254740993"}, []string{"9007199254740992"}},
		{`{"minimum":-9007199254740993}`, []string{"-9007199254740993"}, []string{"-9007199254740994"}},
		{`{"exclusiveMaximum":9007199254740993}`, []string{"9007199254740992"}, []string{"9007199254740993"}},
		{`{"exclusiveMinimum":9007199254740993}`, []string{"9007199254740994"}, []string{"9007199254740993"}},
		{`{"exclusiveMinimum":-9007199254740993}`, []string{"-9007199254740992"}, []string{"-9007199254740993"}},
		{`{"maximum":9223372036854775807}`, []string{"9223372036854775807"}, []string{"9223372036854775808"}},
		{`{"maximum":18446744073709551615}`, []string{"18446744073709551615"}, []string{"18446744073709551616"}},
		{`{"maximum":9007199254740993,"exclusiveMaximum":5}`, []string{"4"}, []string{"5"}},
		{`{"maximum":0.1}`, []string{"0.1", "0"}, []string{"0.2"}},
		{`{"uniqueItems":true}`, []string{"[9007199254740992,9007199254740993]"}, []string{"[1,1.0]"}},
		{`{"type":"integer"}`, []string{"1.0", "1e3", "9007199254740993"}, []string{"1.5", `"1"`}},
		{`{"type":"number"}`, []string{"9007199254740993", "1.5"}, []string{`"1.5"`}},
		{`{"type":"string"}`, []string{`"1"`}, []string{"1", "9007199254740993"}},
	} {
		s := compile(t, c.schema)
		for _, instance := range c.ok {
			assert.NoError(t, s.Validate(json.RawMessage(instance)), "%s: %s", c.schema, instance)
		}
		for _, instance := range c.fail {
			assert.Error(t, s.Validate(json.RawMessage(instance)), "%s: %s", c.schema, instance)
		}
	}
}

// A bound that is neither a float64 nor next to one may let a little more pass, and never less.
func TestBoundsAreNeverNarrower(t *testing.T) {
	s := compile(t, `{"minimum":-9223372036854775701,"maximum":9223372036854775701}`)
	matches(t, s, "9223372036854775701")
	matches(t, s, "-9223372036854775701")
	fails(t, s, "9223372036854775808")
	fails(t, s, "-9223372036854777856")
}

func TestNoJSON(t *testing.T) {
	s := compile(t, `true`)
	for _, instance := range []string{``, `{`, `[1,]`, `1 2`, `{"a":1e999}`} {
		err := s.Validate(json.RawMessage(instance))
		assert.ErrorContains(t, err, "cannot read the JSON", instance)
	}
}

func TestErrorsSayWhereAndWhy(t *testing.T) {
	for _, c := range []struct{ schema, instance, want string }{
		{`{"type":"object"}`, `[1]`, `type: the array has type "array", want "object"`},
		{`{"type":["object","array"]}`, `null`, `type: null has type "null", want one of "object, array"`},
		{`{"properties":{"rows":{"items":{"properties":{"price":{"type":"integer"}}}}}}`, `{"rows":[{"price":"12"}]}`,
			`rows[*].price: type: "12" has type "string", want "integer"`},
		{`{"properties":{"a b":{"prefixItems":[true,{"const":null}]}}}`, `{"a b":[0,1]}`, `["a b"][1]: const: 1 does not equal null`},
		{`{"additionalProperties":{"type":"string"}}`, `{"x":1}`, `*: type: 1 has type "integer", want "string"`},
		{`{"properties":{"a":{"additionalProperties":false}}}`, `{"a":{"b":1}}`, `a: unexpected additional properties ["b"]`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `a: no value is allowed here`},
		{`{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"minimum":300}}}`, `{"a":2.5}`, `a: minimum: 2.5 is less than 300`},
		{`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"string"}}}`, `{"a":1}`, `a: type: 1 has type "integer", want "string"`},
		{`{"required":["a"]}`, `{}`, `required: missing properties: ["a"]`},
		{`{"enum":["a",null,2]}`, `"b"`, `enum: "b" does not equal any of: ["a" null 2]`},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `(name): maxLength: "ab" contains 2 characters, more than 1`},
		{`{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"null"}}}]}`, `{"a":1}`,
			`anyOf: did not validate against any of 2 alternatives: type: the object has type "object", want "string"; ` +
				`type: 1 has type "integer", want "null"`},
		{`{"oneOf":[{"minimum":1},{"minimum":2}]}`, `3`,
			`oneOf: validated against both the schema at oneOf/0 and the schema at oneOf/1`},
		{`{"not":{"type":"null"}}`, `null`, `not: validated against the schema at not`},
		{`{"contains":{"const":1}}`, `[2]`, `contains: the array does not have an item matching the schema at contains`},
	} {
		err := compile(t, c.schema).Validate(json.RawMessage(c.instance))
		assert.EqualError(t, err, c.want, c.schema)
	}
}

func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	var names []string
	for range 200 {
		names = append(names, `"`+strings.Repeat("é", 100)+`"`)
	}
	for _, c := range []struct{ schema, instance string }{
		{`{"minLength":1000000}`, `"` + long + `"`},
		{`{"pattern":"^x"}`, `"` + long + `"`},
		{`{"enum":["` + long + `",{"a":"` + long + `"}]}`, `["` + long + `"]`},
		{`{"required":[` + strings.Join(names, ",") + `]}`, `{}`},
		{`{"additionalProperties":false}`, `{"` + long + `":1}`},
		{`{"additionalProperties":{"type":"null"}}`, `{"` + long + `":1}`},
		{`{"properties":{"` + long + `":{"type":"null"}}}`, `{"` + long + `":1}`},
		{`{"propertyNames":{"enum":["a"]}}`, `{"` + long + `":1}`},
		{`{"anyOf":[` + strings.Repeat(`{"pattern":"^x"},`, 50) + `{"type":"null"}]}`, `"` + long[:4000] + `"`},
	} {
		err := compile(t, c.schema).Validate(json.RawMessage(c.instance))
		require.Error(t, err)
		assert.NotErrorIs(t, err, ErrTooComplex)
		assert.LessOrEqual(t, len(err.Error()), maxError, err.Error())
		assert.True(t, utf8.ValidString(err.Error()), err.Error())
	}
	_, err := Compile(json.RawMessage(`{"properties":{"` + long + `":{"type":"` + long + `"}}}`))
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 600)
	assert.True(t, utf8.ValidString(err.Error()))

	err = compile(t, `{"minLength":1000000}`).Validate(json.RawMessage(`"` + long + `"`))
	assert.ErrorContains(t, err, "minLength: ")
	assert.ErrorContains(t, err, "fewer than 1000000")
}

// The library's numbers for schemas are an implementation detail, also when the instance has such text.
func TestInstanceCannotConfuseTheExplanation(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"type":"integer"}}}`)
	for _, value := range []string{`validating mcp-schema:999: x`, `mcp-schema:99999999999999999999`, `[mcp-schema:1]`, `: 1/0 is less than 1.000000`} {
		raw, err := json.Marshal(map[string]string{"a": value})
		require.NoError(t, err)
		assert.ErrorContains(t, s.Validate(raw), `a: type: `)
	}
}

func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"$ref":"#"},"b":{"pattern":"^x+$"},"c":{"uniqueItems":true}},"unevaluatedProperties":false}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				assert.NoError(t, s.Validate(json.RawMessage(`{"a":{"b":"xx"},"c":[1,2]}`)))
				assert.Error(t, s.Validate(json.RawMessage(`{"a":{"b":"y"}}`)))
			}
		})
	}
	wg.Wait()
}
