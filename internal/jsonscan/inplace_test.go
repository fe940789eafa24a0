package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unsafe"
)

// padding makes a string long enough to be decoded in place.
var padding = strings.Repeat("x", inPlaceMin)

// FuzzInPlace compares with encoding/json what is read in place, and what Since makes of it afterwards.
func FuzzInPlace(f *testing.F) {
	for _, s := range []string{
		"", `\n`, `a\nb\u00e9\"`, `\ud83d\ude00\ud800x`, "\xff", "\\n\xff\xfe\\t", `\n\x`, "\\n\x01", `\`, `\n","\t`, `\u0000\/`,
		"é\\n\xe2\x82",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		data := `[{"a":"` + s + `"},"` + padding + s + `", "` + s + padding + `\n",7]`
		var want any
		valid := json.Unmarshal([]byte(data), &want) == nil
		d := NewOwned([]byte(data))
		start := d
		got := tree(&d)
		if err := d.End(); (err == nil) != valid {
			t.Fatalf("%q: %v, encoding/json says valid=%v", s, err, valid)
		}
		if !valid {
			return
		}
		if !same(got, want) {
			t.Fatalf("%q decodes to something else", s)
		}
		var again any
		if err := json.Unmarshal(d.Since(&start), &again); err != nil || !same(again, want) {
			t.Fatalf("%q: what was read is %.200q (%v)", s, d.Since(&start), err)
		}
	})
}

func TestALongStringIsDecodedWhereItStands(t *testing.T) {
	text := strings.Repeat("a line\\n", 10_000)
	data := []byte(`{"text":"` + text + `","more":[1,2]}`)
	original := string(data)
	d := NewOwned(data)
	start := d
	var got string
	for name := range d.Object() {
		if string(name) == "text" {
			got = d.Text()
		}
	}
	if want := strings.Repeat("a line\n", 10_000); d.End() != nil || got != want {
		t.Fatalf("%d bytes, want %d: %v", len(got), len(want), d.Err())
	}
	at := uintptr(unsafe.Pointer(unsafe.StringData(got))) - uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	if at != uintptr(strings.Index(original, text)) {
		t.Error("the text has memory of its own")
	}
	if since := string(d.Since(&start)); since != original {
		t.Errorf("what was read comes back as %.100q", since)
	}
}

func TestADecoderThatOwnsNothingWritesNothing(t *testing.T) {
	data := []byte(`["` + strings.Repeat(`a\n`, 10_000) + `"]`)
	original := bytes.Clone(data)
	d := New(data)
	for range d.Array() {
		d.Text()
	}
	if d.End() != nil || !bytes.Equal(data, original) {
		t.Error("the data was written to")
	}
}

// A short string does not keep a long message alive.
func TestAStringThatIsASmallPartIsCopied(t *testing.T) {
	data := []byte(`["` + strings.Repeat("x", inPlaceMin) + `\n","` + strings.Repeat("y", 20*inPlaceMin) + `"]`)
	d := NewOwned(data)
	for i := range d.Array() {
		text := d.Text()
		at := uintptr(unsafe.Pointer(unsafe.StringData(text))) - uintptr(unsafe.Pointer(unsafe.SliceData(data)))
		if shared := at < uintptr(len(data)); shared != (i == 1) {
			t.Errorf("string %d: shared %v", i, shared)
		}
	}
}

// lines is a text with a line break, quotes and a letter beyond ASCII in each line, as logs have them, and as JSON.
func lines(size int) []byte {
	line := `00000001 a line of a file with \"quoted\" words and an é, as long as lines usually are\n`
	return []byte(`{"content":[{"type":"text","text":"` + strings.Repeat(line, size/len(line)) + `"}]}`)
}

func BenchmarkLongText(b *testing.B) {
	data := lines(1 << 20)
	b.Run("skip", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if !Valid(data) {
				b.Fatal("invalid")
			}
		}
	})
	for name, decoder := range map[string]func([]byte) Decoder{"copied": New, "in place": NewOwned} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			own := make([]byte, len(data))
			for b.Loop() {
				copy(own, data)
				d := decoder(own)
				tree(&d)
			}
		})
	}
}
