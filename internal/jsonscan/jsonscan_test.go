package jsonscan

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/quick"
)

// tree decodes with the Decoder into what encoding/json would give.
func tree(d *Decoder) any {
	switch d.Kind() {
	case Object:
		m := map[string]any{}
		for name := range d.Object() {
			key := string(name)
			m[key] = tree(d)
		}
		return m
	case Array:
		list := []any{}
		for range d.Array() {
			list = append(list, tree(d))
		}
		return list
	case String:
		return d.Text()
	case Bool:
		return d.Bool()
	case Number:
		return json.Number(d.Raw())
	default:
		d.Skip()
		return nil
	}
}

// same compares two decoded values; map iteration order and NaN do not occur.
func same(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `null`, `true`, `-0.5e+10`, `"a\u00e9\n\ud83d\ude00\ud800x"`, "\"\xff\xfe\"", `{"a":[1,{"b":null}],"a":2}`, `[1,]`, `{"a" 1}`,
		`01`, `1.`, `"\x"`, "\"\x01\"", `[[[`, ` 1 `, `1 2`, `"` + strings.Repeat("x", 40) + `\""`, `nul`, `{"k\u0065y":1}`, "\"12345\x1f78\"", "\"1234\x80\xc3\xa978\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		valid := json.Valid(data)
		if got := Valid(data); got != valid {
			t.Fatalf("Valid(%q) = %v, encoding/json says %v", data, got, valid)
		}
		d := New(data)
		got := tree(&d)
		if err := d.End(); (err == nil) != valid {
			t.Fatalf("decoding %q: %v, encoding/json says valid=%v", data, err, valid)
		}
		known := NewValid(data)
		raw := known.Raw()
		if !valid {
			return // but it must not have panicked
		}
		if want := strings.Trim(string(data), " \t\r\n"); string(raw) != want || known.End() != nil {
			t.Fatalf("%q is passed as %q: %v", data, raw, known.End())
		}
		var want any
		std := json.NewDecoder(strings.NewReader(string(data)))
		std.UseNumber()
		if err := std.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !same(got, want) {
			t.Fatalf("%q decodes to %v, encoding/json gives %v", data, got, want)
		}
	})
}

func TestDepthIsBoundedLikeEncodingJSON(t *testing.T) {
	for _, depth := range []int{9_999, 10_000, 10_001, 1_000_000} {
		data := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		if got, want := Valid(data), json.Valid(data); got != want {
			t.Errorf("depth %d: valid %v, want %v", depth, got, want)
		}
		d := New(data)
		for range d.Array() {
			d.Skip()
		}
		if got, want := d.End() == nil, json.Valid(data); got != want {
			t.Errorf("depth %d, walked: valid %v, want %v", depth, got, want)
		}
	}
}

func TestPlainRunFindsTheFirstSpecialByte(t *testing.T) {
	plain := func(data []byte) bool {
		want := len(data)
		for i, c := range data {
			if c < 0x20 || c == '"' || c == '\\' {
				want = i
				break
			}
		}
		return plainRun(data, 0) == want
	}
	if err := quick.Check(plain, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
	for c := range 256 { // each byte beside each neighbour that a borrow could come from
		for _, before := range []byte{0x00, 0x1f, 0x20, '!', '"', '#', '[', '\\', ']', 0x7f, 0x80, 0xff} {
			if data := []byte{'a', 'b', before, byte(c), 'c', 'd', 'e', 'f'}; !plain(data) {
				t.Errorf("wrong for %q", data)
			}
		}
	}
}

func TestUnreadValuesArePassedOver(t *testing.T) {
	d := New([]byte(`{"a":{"x":[1,2]},"b":"two","c":[1,2,3],"d":4}`))
	var b string
	var sum, last int64
	for name := range d.Object() {
		switch string(name) {
		case "b":
			b = d.Text()
		case "c":
			for i := range d.Array() {
				if i == 1 {
					break // leaving a loop early passes over the rest
				}
				sum += d.Int64()
			}
		case "d":
			last = d.Int64()
		}
	}
	if err := d.End(); err != nil || b != "two" || sum != 1 || last != 4 {
		t.Errorf("b=%q sum=%d last=%d err=%v", b, sum, last, err)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	d := New([]byte(`{"content":[{"text":"a"},{"text":5}]}`))
	for range d.Object() {
		for range d.Array() {
			for range d.Object() {
				d.Text()
			}
		}
	}
	if err := d.End(); err == nil || err.Error() != "content[1].text: expected a string, found a number" {
		t.Errorf("got %v", err)
	}
}

// A message of some megabytes with a mistake at the bottom would take seconds if its path were written out.
func TestLongPathsAreCut(t *testing.T) {
	data := strings.Repeat(`{"`+strings.Repeat("é", 500)+`":`, 9_000) + "1e999" + strings.Repeat("}", 9_000)
	var last func(d *Decoder)
	last = func(d *Decoder) {
		if d.Kind() != Object {
			d.Float64()
			return
		}
		for range d.Object() {
			last(d)
		}
	}
	d := New([]byte(data))
	last(&d)
	err := d.End()
	if want := strings.Repeat("é", 100) + "...: number out of range"; err == nil || err.Error() != want {
		t.Errorf("got %.300v", err)
	}
}

func TestNullIsTheZeroValueOfEveryKind(t *testing.T) {
	d := New([]byte(`[null,null,null,null,null,null]`))
	for i := range d.Array() {
		switch i {
		case 0:
			if d.Text() != "" {
				t.Error("text")
			}
		case 1:
			if d.Bool() {
				t.Error("bool")
			}
		case 2:
			if d.Int64() != 0 {
				t.Error("int")
			}
		case 3:
			if d.Float64() != 0 {
				t.Error("float")
			}
		case 4:
			for range d.Object() {
				t.Error("object")
			}
		case 5:
			for range d.Array() {
				t.Error("array")
			}
		}
	}
	if err := d.End(); err != nil {
		t.Error(err)
	}
}

func TestIntegers(t *testing.T) {
	for text, want := range map[string]int64{"9007199254740993": 9007199254740993, "-1": -1, "1e3": 1000, "2.0": 2, "9223372036854775807": math.MaxInt64} {
		d := New([]byte(text))
		if got := d.Int64(); got != want || d.End() != nil {
			t.Errorf("%s: got %d, %v", text, got, d.Err())
		}
	}
	for _, text := range []string{"1.5", "1e30", `"1"`, "9223372036854775808"} {
		d := New([]byte(text))
		if d.Int64(); d.End() == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestReadingAllocatesNothingButTheStrings(t *testing.T) {
	data := []byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}`)
	var text string
	allocs := testing.AllocsPerRun(100, func() {
		d := New(data)
		for name := range d.Object() {
			if string(name) != "result" {
				continue
			}
			for name := range d.Object() {
				if string(name) != "content" {
					continue
				}
				for range d.Array() {
					for name := range d.Object() {
						if string(name) == "text" {
							text = d.Text()
						}
					}
				}
			}
		}
	})
	if text != "hello" || allocs > 1 {
		t.Errorf("%q with %v allocations, want 1", text, allocs)
	}
}

func BenchmarkSkip(b *testing.B) {
	data := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("lorem ipsum dolor ", 1<<16) + `"}]}`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if !Valid(data) {
			b.Fatal("invalid")
		}
	}
}
