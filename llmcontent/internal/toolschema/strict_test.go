package toolschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Strict mode is used up to its limits, and not beyond.
func TestLimitsOfStrictMode(t *testing.T) {
	property := func(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }
	properties := func(n int) string {
		return `{"type":"object","properties":{` + repeat(n, ",", func(i int) string {
			return fmt.Sprintf(`"p%d":{"type":"string"}`, i)
		}) + `}}`
	}
	enum := func(n, length int) string {
		return `{"type":"string","enum":[` + repeat(n, ",", func(i int) string {
			return fmt.Sprintf(`"%0*d"`, length, i)
		}) + `]}`
	}
	nested := func(levels int) string {
		return strings.Repeat(`{"type":"object","properties":{"a":`, levels) + `{"type":"string"}` +
			strings.Repeat(`}}`, levels)
	}
	for name, test := range map[string]struct{ within, beyond string }{
		"properties":        {properties(5000), properties(5001)},
		"levels":            {nested(10), nested(11)},
		"listed values":     {property(enum(250, 3)), property(`{"anyOf":[` + enum(999, 3) + `,` + enum(2, 3) + `]}`)},
		"a long list":       {property(enum(251, 59)), property(enum(251, 60))},
		"a list of 250":     {property(enum(250, 100)), property(enum(251, 100))},
		"text":              {property(enum(200, 590)), property(enum(200, 601))},
		"format":            {property(`{"type":"string","format":"ipv6"}`), property(`{"type":"string","format":"uri"}`)},
		"pattern":           {property(`{"type":"string","pattern":"a?"}`), property(`{"type":"string","pattern":"(?:a)"}`)},
		"no pattern":        {property(`{"type":"string","pattern":"[*].txt"}`), property(`{"type":"string","pattern":"*.txt"}`)},
		"values":            {property(`{"enum":["a",1]}`), property(`{"enum":["a",{}]}`)},
		"values of a type":  {property(`{"type":"number","enum":[1,2.5]}`), property(`{"type":"string","enum":[1,2]}`)},
		"integers":          {property(`{"type":"integer","enum":[1.0,2e2]}`), property(`{"type":"integer","enum":[1.5]}`)},
		"a value of a type": {property(`{"type":"string","const":"a"}`), property(`{"type":"string","const":null}`)},
		"alternatives": {
			property(`{"anyOf":[{"type":"object","properties":{"b":{"type":"string"}}}]}`),
			property(`{"type":"object","properties":{"a":{"type":"string"}},
				"anyOf":[{"type":"object","properties":{"b":{"type":"string"}}}]}`),
		},
		"closed":            {`{"additionalProperties":false}`, `{"additionalProperties":true}`},
		"closed in between": {property(`{"type":"object","additionalProperties":false}`), property(`{"type":"object"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			assert.True(t, isStrict(t, test.within))
			assert.False(t, isStrict(t, test.beyond))
		})
	}
	for _, keyword := range []string{
		`"minLength":1`, `"maxLength":1`, `"uniqueItems":true`, `"oneOf":[{}]`, `"allOf":[{}]`, `"not":{}`, `"if":{}`,
		`"patternProperties":{"a":{}}`, `"prefixItems":[{}]`, `"dependentRequired":{}`, `"contains":{}`,
	} {
		assert.False(t, isStrict(t, property(`{"type":"string",`+keyword+`}`)), keyword)
	}
}

func isStrict(t *testing.T, schema string) bool {
	t.Helper()
	s, err := Parse([]byte(schema))
	require.NoError(t, err)
	p, err := s.Convert(OpenAIStrict)
	require.NoError(t, err)
	return p.Strict
}
