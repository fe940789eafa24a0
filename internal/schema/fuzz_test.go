package schema

import "testing"

// FuzzSchema has nothing to compare with: no input may panic, overflow the stack, or run into the fuzzer's own limit.
func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"type":["string","null"]}}}`, `{"a":{"b":null}}`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"anyOf":[{"items":{"$ref":"#/$defs/x"}},{"not":{"const":1}}]}}}`, `[[1,[2]]]`},
		{`{` + seven + `,"items":[{"enum":[1,"a",null]}],"additionalItems":{"multipleOf":0.5},"dependencies":{"a":["b"]}}`, `["a",1.5]`},
		{`{"$dynamicAnchor":"n","properties":{"c":{"items":{"$dynamicRef":"#n"}}},"unevaluatedProperties":false}`, `{"c":[{}],"d":1}`},
		{`{"$id":"http://h/","$defs":{"a":{"$id":"a","$anchor":"b"}},"allOf":[{"$ref":"a#b"}],"propertyNames":{"pattern":"^(a|b)+$"}}`, `{"ab":1}`},
		{`{"uniqueItems":true,"contains":{"minimum":9007199254740993},"maxContains":1}`, `[9007199254740993,1e3,[],{}]`},
		{`{"if":{"required":["a"]},"then":false,"else":{"minProperties":1},"oneOf":[true,false]}`, `{"b":-0.0}`},
		{`true`, `"\ud800"`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, instance []byte) {
		s, err := Compile(schema)
		if err != nil {
			if len(err.Error()) > 600 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if err := s.Validate(instance); err != nil && len(err.Error()) > 600 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
