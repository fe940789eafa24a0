package jsonscan

import (
	"encoding/json"
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
