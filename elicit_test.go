package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestElicitRequest(t *testing.T) {
	roundTrip[ElicitRequest](t, `{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}},
		"_meta":{"k":1}}`)
	roundTrip[ElicitRequest](t, `{"mode":"url","message":"m","url":"https://h/?a=1&b=2","elicitationId":"1"}`)
	r, _ := read[ElicitRequest](t, `{"message":"m","requestedSchema":[]}`)
	assert.Equal(t, ElicitForm, r.Mode, "the default")
	schema, err := r.Schema()
	require.NoError(t, err)
	assert.Empty(t, schema.Fields)
	_, _, err = decodeResult[ElicitRequest]([]byte(`{"mode":{}}`))
	require.Error(t, err)
}

func TestElicitResult(t *testing.T) { // field case 51
	filled := map[string]any{"n": 1}
	meta := Meta{"k": json.RawMessage("1")}
	for want, result := range map[string]ElicitResult{
		`{"action":"decline"}`:                    {Action: ElicitDecline, Content: filled},
		`{"action":"cancel","_meta":{"k":1}}`:     {Action: ElicitCancel, Content: filled, Meta: meta},
		`{"action":"accept"}`:                     {Action: ElicitAccept},
		`{"action":"accept","content":{}}`:        {Action: ElicitAccept, Content: map[string]any{}},
		`{"action":"accept","content":{"n":1}}`:   {Action: ElicitAccept, Content: filled},
		`{"action":"accept","content":{"n":"<"}}`: {Action: ElicitAccept, Content: map[string]any{"n": "<"}},
	} {
		assert.Equal(t, want, written(t, result))
	}
	var r ElicitResult
	require.NoError(t, json.Unmarshal([]byte(`{"action":"accept","content":{"n":9007199254740993,"s":["a"]}}`), &r))
	assert.Equal(t, map[string]any{"n": json.Number("9007199254740993"), "s": []any{"a"}}, r.Content)
	r = ElicitResult{}
	require.NoError(t, json.Unmarshal([]byte(`{"action":"accept","content":null}`), &r))
	assert.Nil(t, r.Content)
}

const everyField = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
	"z":{"type":"string","title":"Zed","description":"d","minLength":3,"maxLength":5,"pattern":"^[a-z]+$",
		"format":"x","default":"abc"},
	"num":{"type":"number","minimum":0.1,"maximum":9007199254740993,"default":0.30},
	"int":{"type":"integer","default":5},
	"yes":{"type":"boolean","default":false},
	"plain":{"type":"string","enum":["r","g"],"default":"g"},
	"titled":{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0"}]},
	"legacy":{"type":"string","enum":["a","b"],"enumNames":["A"]},
	"many":{"type":"array","items":{"type":"string","enum":["r","g"]},"minItems":1,"maxItems":2,"default":["r","g"]},
	"manyTitled":{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]}},
	"optional":{"anyOf":[{"type":"integer","minimum":1},{"type":"null"}],"title":"O","default":null},
	"listed":{"type":["null","boolean"]},
	"untyped":{"enum":["x"]},
	"nested":{"type":"object","properties":{}},
	"list":{"type":"array","items":{"type":"object"}},
	"either":{"anyOf":[{"type":"string"},{"type":"integer"}]},
	"broken":{"type":5,"minLength":"1","enum":"x"}
},"required":["num","ghost"]}`

func TestEveryFormOfField(t *testing.T) {
	s, err := ParseElicitSchema([]byte(everyField))
	require.NoError(t, err)
	var got []string
	for i := range s.Fields {
		f := &s.Fields[i]
		got = append(got, f.Name+" "+string(f.Type))
		assert.Equal(t, f.Name == "num" || f.Name == "ghost", f.Required, f.Name)
		assert.Equal(t, f.Name != "ghost", f.Schema != nil, f.Name)
		f.Schema = nil
	}
	assert.Equal(t, []string{"z text", "num number", "int integer", "yes boolean", "plain choice", "titled choice",
		"legacy choice", "many choices", "manyTitled choices", "optional integer", "listed boolean", "untyped choice",
		"nested other", "list other", "either other", "broken other", "ghost other"}, got, "in the order they were sent")
	assert.Equal(t, []ElicitField{
		{Name: "z", Title: "Zed", Description: "d", Type: FieldText, MinLength: ptr(int64(3)), MaxLength: ptr(int64(5)),
			Pattern: "^[a-z]+$", Format: "x", Default: "abc"},
		{Name: "num", Type: FieldNumber, Required: true, Minimum: "0.1", Maximum: "9007199254740993",
			Default: json.Number("0.30")},
		{Name: "int", Type: FieldInteger, Default: json.Number("5")},
		{Name: "yes", Type: FieldBoolean, Default: false},
		{Name: "plain", Type: FieldChoice, Options: []ElicitOption{{"r", "r"}, {"g", "g"}}, Default: "g"},
		{Name: "titled", Type: FieldChoice, Options: []ElicitOption{{"#f00", "Red"}, {"#0f0", "#0f0"}}},
		{Name: "legacy", Type: FieldChoice, Options: []ElicitOption{{"a", "A"}, {"b", "b"}}},
		{Name: "many", Type: FieldChoices, Options: []ElicitOption{{"r", "r"}, {"g", "g"}}, MinItems: ptr(int64(1)),
			MaxItems: ptr(int64(2)), Default: []string{"r", "g"}},
		{Name: "manyTitled", Type: FieldChoices, Options: []ElicitOption{{"r", "Red"}, {"g", "Green"}}},
		{Name: "optional", Title: "O", Type: FieldInteger, Minimum: "1"},
	}, s.Fields[:10])
	assert.Equal(t, "Zed", s.Fields[0].Label())
	assert.Equal(t, "num", s.Fields[1].Label())
}

func TestSchemasThatAreNone(t *testing.T) {
	_, err := ParseElicitSchema([]byte(`[]`))
	require.EqualError(t, err, "mcp: requested schema: expected an object, found an array")
	for _, text := range []string{`{}`, `{"properties":null}`, `{"properties":[]}`, `{"properties":{"a":true}}`} {
		s, err := ParseElicitSchema([]byte(text))
		require.NoError(t, err)
		assert.Empty(t, s.Fields)
		require.NoError(t, s.Validate(nil))
	}
}

func TestADefaultThatDoesNotFitIsLeftOut(t *testing.T) {
	for _, property := range []string{
		`{"type":"string","default":5}`, `{"type":"string","maxLength":1,"default":"ab"}`, `{"type":"integer",
			"default":1.5}`,
		`{"type":"string","enum":["a"],"default":"b"}`, `{"type":"array","items":{"enum":["a"]},"default":["b"]}`,
		`{"type":"boolean","default":"true"}`, `{"type":"object","default":{}}`,
	} {
		s, notes := read[ElicitSchema](t, `{"properties":{"f":`+property+`}}`)
		assert.Nil(t, s.Fields[0].Default, property)
		assert.Equal(t, []string{"properties.f: ignored a default that the field does not take"}, notes)
	}
}

func TestFillLeavesWhatTheUserGave(t *testing.T) {
	s, err := ParseElicitSchema([]byte(everyField))
	require.NoError(t, err)
	given := map[string]any{"z": "", "int": nil, "extra": 1, "yes": true}
	filled := s.Fill(given)
	assert.Equal(t, map[string]any{"z": "", "num": json.Number("0.30"), "int": json.Number("5"), "yes": true, "plain": "g",
		"many": []string{"r", "g"}, "extra": 1}, filled)
	assert.Equal(t, map[string]any{"z": "", "int": nil, "extra": 1, "yes": true}, given, "not changed")
	filled["many"].([]string)[0] = "changed"
	assert.Equal(t, []string{"r", "g"}, s.Fill(nil)["many"])
}

func TestValues(t *testing.T) {
	type color string
	for _, c := range []struct {
		property string
		value    any
		want     string
	}{
		{`{"type":"string"}`, "", ""},
		{`{"type":"string"}`, color("r"), ""},
		{`{"type":"string"}`, 5, "must be text"},
		{`{"type":"string","minLength":2,"maxLength":3}`, "é😀", ""},
		{`{"type":"string","minLength":2}`, "é", "must have at least 2 characters"},
		{`{"type":"string","maxLength":1}`, "ab", "must have at most 1 character"},
		{`{"type":"string","pattern":"b+"}`, "abc", ""},
		{`{"type":"string","pattern":"^b"}`, "abc", "must match the pattern ^b"},
		{`{"type":"string","pattern":"(?=b)"}`, "abc", ""}, // beyond package regexp
		{`{"type":"string","pattern":"^b` + strings.Repeat("x?", 1500) + `"}`, "abc", ""},
		{`{"type":"string","format":"email"}`, "me@example.com", ""},
		{`{"type":"string","format":"email"}`, "me", "must be an e-mail address"},
		{`{"type":"string","format":"email"}`, "a@b@c", "must be an e-mail address"},
		{`{"type":"string","format":"uri"}`, "https://h/?a", ""},
		{`{"type":"string","format":"uri"}`, "mailto:me@h", ""},
		{`{"type":"string","format":"uri"}`, "/path", "must be a URL, such as https://example.com"},
		{`{"type":"string","format":"date"}`, "2024-02-29", ""},
		{`{"type":"string","format":"date"}`, "2025-02-29", "must be a date, such as 2025-12-31"},
		{`{"type":"string","format":"date-time"}`, "2025-01-02t03:04:05.6z", ""},
		{`{"type":"string","format":"date-time"}`, "2025-01-02T03:04:05+01:00", ""},
		{`{"type":"string","format":"date-time"}`, "2025-01-02", "must be a date and time, such as 2025-12-31T18:30:00Z"},
		{`{"type":"string","format":"uuid"}`, "x", ""},
		{`{"type":"number"}`, 1.5, ""},
		{`{"type":"number"}`, "1", "must be a number"},
		{`{"type":"number","minimum":9007199254740993}`, uint64(9007199254740993), ""},
		{`{"type":"number","minimum":9007199254740993}`, int64(9007199254740992), "must be at least 9007199254740993"},
		{`{"type":"number","maximum":0.1}`, json.Number("0.1"), ""},
		{`{"type":"number","maximum":0.1}`, json.Number("0.10000000000000000001"), "must be at most 0.1"},
		{`{"type":"number"}`, json.Number("1e999999999"), "is out of range"},
		{`{"type":"number"}`, json.Number("1e-99999"), "is out of range"}, // a few bytes, much work
		{`{"type":"number","maximum":1e999999999}`, 1, ""},
		{`{"type":"integer"}`, 5.0, ""},
		{`{"type":"integer"}`, json.Number("1e2"), ""},
		{`{"type":"integer"}`, 1.5, "must be a whole number"},
		{`{"type":"boolean"}`, false, ""},
		{`{"type":"boolean"}`, "yes", "must be true or false"},
		{`{"enum":["a","b"]}`, color("b"), ""},
		{`{"enum":["a","b"],"enumNames":["A","B"]}`, "A", "must be one of: A, B"},
		{`{"enum":["a","b"]}`, 1, "must be one of: a, b"},
		{`{"enum":["0","1","2","3","4","5","6","7","8","9",
			"10"]}`, "x", "must be one of: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..."},
		{`{"type":"array","items":{"enum":["a","b"]},"minItems":1}`, []string{"a", "b"}, ""},
		{`{"type":"array","items":{"enum":["a","b"]},"minItems":1}`, []color{}, "must have at least 1 choice"},
		{`{"type":"array","items":{"enum":["a","b"]},"maxItems":1}`, []any{"a", "b"}, "must have at most 1 choice"},
		{`{"type":"array","items":{"enum":["a","b"]}}`, []string{"a", "c"}, "each must be one of: a, b"},
		{`{"type":"array","items":{"enum":["a","b"]}}`, "a", "must be a list of choices"},
		{`{"type":"array","items":{"enum":["a","b"]}}`, []any{"a", 1}, "must be a list of choices"},
		{`{"type":"object"}`, "free", ""},
		{`{"type":"object"}`, map[string]any{}, "must be text, a number, true or false, or a list of texts"},
	} {
		s, err := ParseElicitSchema([]byte(`{"properties":{"f":` + c.property + `},"required":["f"]}`))
		require.NoError(t, err)
		err = s.Validate(map[string]any{"f": c.value})
		if c.want == "" {
			require.NoError(t, err, c.property)
			continue
		}
		require.EqualError(t, err, "f: "+c.want, c.property)
		var field *ElicitFieldError
		require.ErrorAs(t, err, &field)
		assert.Equal(t, &ElicitFieldError{Field: "f", Label: "f", Reason: c.want}, field)
	}
}

func TestAllThatIsWrongIsReported(t *testing.T) {
	s, err := ParseElicitSchema([]byte(`{"properties":{"b":{"type":"string","title":"Bee"},"a":{"type":"integer"},
		"c":{"type":"boolean"}},
		"required":["a","b"]}`))
	require.NoError(t, err)
	err = s.Validate(map[string]any{"a": "secret", "y": []any{1}, "x": nil, "ok": []string{"free"}})
	require.EqualError(t, err, "Bee: is required\na: must be a number\n"+
		"x: must be text, a number, true or false, or a list of texts\n"+
		"y: must be text, a number, true or false, or a list of texts")
	require.ErrorContains(t, s.Validate(map[string]any{"a": make(chan int)}), "the content cannot be sent: ")
}

func TestAnAcceptedFormIsCompleted(t *testing.T) {
	r, _ := read[ElicitRequest](t, `{"requestedSchema":{"properties":{"a":{"type":"integer",
		"default":9007199254740993},"b":{"type":"string"}},
		"required":["a"]}}`)
	content, err := r.complete(nil)
	require.NoError(t, err)
	assert.Equal(t, `{"a":9007199254740993}`, written(t, content))
	_, err = r.complete(map[string]any{"b": 1})
	require.EqualError(t, err, "b: must be text")
	content, err = (&ElicitRequest{}).complete(nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{}, content)
}

func FuzzElicitSchema(f *testing.F) {
	f.Add([]byte(everyField), "a", 1.5)
	f.Add([]byte(`{"properties":{"f":{"anyOf":[{"anyOf":[]}],"default":[null]}},"required":["f","f"]}`), "", 0.0)
	f.Fuzz(func(t *testing.T, schema []byte, text string, number float64) {
		s, err := ParseElicitSchema(schema)
		if err != nil {
			return
		}
		if err := s.Validate(s.Fill(nil)); err != nil {
			var field *ElicitFieldError // a default that was kept fits its field
			for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
				require.ErrorAs(t, err, &field)
				require.Equal(t, "is required", field.Reason)
			}
		}
		for _, field := range s.Fields {
			_ = s.Validate(map[string]any{field.Name: text})
			_ = s.Validate(map[string]any{field.Name: number})
			_ = s.Validate(map[string]any{field.Name: []string{text}})
		}
	})
}
