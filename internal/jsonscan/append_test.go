package jsonscan

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a<b && c>d", "\"\\\b\f\n\r\t\x00\x7f", "é😀\u2028", "\xff\xfe", "a\xc3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendString(nil, s)
		var back, want string
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &back); err != nil || back != want {
			t.Fatalf("%q became %s, which reads as %q (%v)", s, got, back, err)
		}
		if strings.ContainsAny(string(got), "\n\r\u2028\u2029") {
			t.Fatalf("%q became %s, which has a line end in it", s, got)
		}
	})
}

func TestAppendValueKeepsTextAndNumbers(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{map[string]any{"q": "a<b && c>d", "n": int64(9007199254740993)}, `{"n":9007199254740993,"q":"a<b && c>d"}`},
		{json.RawMessage("{\n \"a\": 1.10,\r\n \"b\": \"<\"\n}"), `{"a":1.10,"b":"<"}`},
		{json.RawMessage(`{ "a" : 1 }`), `{ "a" : 1 }`},
		{json.RawMessage(nil), `null`},
		{nil, `null`},
		{struct {
			A json.Number `json:"a"`
		}{"123456789012345678901234567890"}, `{"a":123456789012345678901234567890}`},
	} {
		got, err := AppendValue([]byte("x"), c.in)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%v: got %s, %v; want x%s", c.in, got, err, c.want)
		}
	}
	for _, bad := range []any{json.RawMessage(`{"a":`), json.RawMessage(`1 2`), make(chan int)} {
		if got, err := AppendValue(nil, bad); err == nil {
			t.Errorf("%v: accepted as %s", bad, got)
		}
	}
}

// FuzzAppendValue compares with encoding/json what is written without it.
func FuzzAppendValue(f *testing.F) {
	for _, s := range []string{
		`{"b":[1,2.5,-0,1e99,"x<&>",true,null],"a":{"":{}},"é\n":[]}`, `[[[[1]]]]`, `null`, `"\u2028"`, `9007199254740993`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		got, err := AppendValue(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		if string(got) != strings.TrimSuffix(want.String(), "\n") && !same(decoded(t, got), decoded(t, want.Bytes())) {
			t.Fatalf("%s became %s, not %s", text, got, want.Bytes())
		}
	})
}

func decoded(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAppendValueOfWhatLeadsBackToItself(t *testing.T) {
	loop := map[string]any{}
	loop["again"] = []any{loop}
	if b, err := AppendValue(nil, loop); err == nil {
		t.Errorf("%d bytes", len(b))
	}
}

func TestMembersAreWrittenInTheirOrder(t *testing.T) {
	members, want := map[string]any{}, "{"
	for i := range 26 {
		members[string(rune('a'+i))] = i
		want += `,"` + string(rune('a'+i)) + `":` + strconv.Itoa(i)
	}
	want = strings.Replace(want, ",", "", 1) + "}"
	for range 10 {
		if got, err := AppendValue(nil, members); err != nil || string(got) != want {
			t.Fatalf("%s, %v", got, err)
		}
	}
	for _, empty := range []any{map[string]any(nil), []any(nil)} {
		if got, err := AppendValue(nil, empty); err != nil || string(got) != "null" {
			t.Errorf("%#v became %s, %v", empty, got, err)
		}
	}
}
