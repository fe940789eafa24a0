package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

const (
	weatherSchema = `{"type":"object","properties":{"temperature":{"type":"number"},"conditions":{"type":"string"},
		"humidity":{"type":"number","minimum":0,"maximum":100},"station":{"$ref":"#/$defs/station"}},
		"required":["temperature","conditions","humidity"],"additionalProperties":false,
		"$defs":{"station":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":["string","null"]}}}}}`
	weather = `{"temperature":22.5,"conditions":"Partly cloudy","humidity":65,"station":{"id":7,"name":null}}`
)

func BenchmarkCompile(b *testing.B) {
	for name, schema := range map[string]string{
		"small":     weatherSchema,
		"recursive": `{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compile(b, schema)
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	for name, c := range map[string]struct{ schema, instance string }{
		"small": {weatherSchema, weather},
		"10k":   {`{"type":"array","items":` + weatherSchema + `}`, ""},
		"fails": {weatherSchema, strings.Replace(weather, "65", `"65"`, 1)},
		// The rates of the cost model, one by one.
		"visits":         {`{"items":{"allOf":[` + strings.Repeat(`true,`, 9) + `true]}}`, "[" + strings.Repeat("1,", 999) + "1]"},
		"failing visits": {`{"items":{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 9) + `true]}}`, "[" + strings.Repeat("1,", 999) + "1]"},
		"numbers":        {`{"items":{"minimum":0}}`, "[" + strings.Repeat("1.5,", 999) + "1]"},
		"pattern":        {`{"pattern":"(a?){20}(a|b)*$"}`, `"` + strings.Repeat("ab", 5000) + `"`},
		"unique":         {`{"uniqueItems":true}`, `[1,{"a":"b","c":2.5},[3,4,null]]`},
	} {
		if c.instance == "" { // its definitions stay where the reference finds them
			c.schema = strings.ReplaceAll(c.schema, "#/$defs", "#/items/$defs")
			c.instance = "[" + strings.Repeat(weather+",", 9_999) + weather + "]"
		}
		b.Run(name, func(b *testing.B) {
			s := compile(b, c.schema)
			raw := json.RawMessage(c.instance)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Validate(raw); (err == nil) == (name == "fails") {
					b.Fatal(err)
				}
			}
		})
	}
}
