package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// A decoder reads the types of the protocol in one pass over the bytes of a message, which it shares.
//
// Servers get types wrong, so there are three grades of trouble. A syntax error sticks and ends everything. A value
// that cannot be done without rejects what it belongs to: the entry of a list, which is set aside, or else the whole.
// Anything else is ignored, with a note that says where. Neither notes nor rejections hold values, only paths.
type decoder struct {
	jsonscan.Decoder
	bad   string // the first reason why the value at hand cannot be used
	notes []string
	more  int // notes beyond maxNotes

	path  [maxPath]step
	depth int // may be over maxPath, the rest is not recorded

	found        bool // whether mustText found one, in the block at hand
	inToolResult bool // which tool blocks may not be in
}

// step is a member's name, or an index where there is no name.
type step struct {
	name  []byte
	index int
}

const (
	maxPath  = 12 // what the protocol's own types need at most
	maxNotes = 16
)

// decoded is a type that reads itself. It starts at the value and ends behind it.
type decoded interface{ decode(d *decoder) }

// decodable is a pointer to T that is decoded.
type decodable[T any] interface {
	*T
	decoded
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decodeInto reads one JSON value into v, and returns notes on what was tolerated. v shares data.
func decodeInto(data []byte, v decoded) (notes []string, err error) {
	return decodeFrom(jsonscan.New(data), v)
}

// decodeFrom is decodeInto with a decoder that may do more than read.
func decodeFrom(source jsonscan.Decoder, v decoded) (notes []string, err error) {
	d := openDecoder(source)
	defer d.release()
	if d.Kind() == jsonscan.Null {
		d.reject("nothing there, found null")
	}
	v.decode(d)
	notes, err = d.notes, d.end()
	if d.more > 0 {
		notes = append(notes, fmt.Sprintf("and %d more", d.more))
	}
	return notes, err
}

func openDecoder(source jsonscan.Decoder) *decoder {
	d := decoders.Get().(*decoder)
	d.Decoder = source
	return d
}

func (d *decoder) release() {
	*d = decoder{}
	decoders.Put(d)
}

// decodeResult reads one JSON value as a T. What it returns shares data.
func decodeResult[T any, P decodable[T]](data []byte) (*T, []string, error) {
	v := new(T)
	notes, err := decodeInto(data, P(v))
	if err != nil {
		return nil, notes, err
	}
	return v, notes, nil
}

// unmarshal is what UnmarshalJSON does: encoding/json reuses its buffer, so it is copied, and null changes nothing.
func unmarshal(data []byte, v decoded) error {
	if string(data) == "null" {
		return nil
	}
	if _, err := decodeInto(bytes.Clone(data), v); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}

func (d *decoder) end() error {
	if err := d.End(); err != nil {
		return err
	}
	if d.bad != "" {
		return errors.New(d.bad)
	}
	return nil
}

// reject says that the value at hand cannot be used.
func (d *decoder) reject(reason string) {
	if d.bad == "" {
		d.bad = d.where(reason)
	}
}

// note says that something was tolerated here.
func (d *decoder) note(text string) {
	if len(d.notes) < maxNotes { // a path costs something
		text = d.where(text)
	}
	d.addNote(text)
}

func (d *decoder) addNote(text string) {
	if len(d.notes) >= maxNotes {
		d.more++
		return
	}
	d.notes = append(d.notes, text)
}

// where puts the path in front of text.
func (d *decoder) where(text string) string {
	if d.depth == 0 {
		return text
	}
	var b strings.Builder
	for i, s := range d.path[:min(d.depth, maxPath)] {
		switch {
		case s.name == nil:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.Write(s.name)
	}
	if d.depth > maxPath {
		b.WriteString("...")
	}
	b.WriteString(": ")
	b.WriteString(text)
	return b.String()
}

// at records where the decoder is within the innermost object or array.
func (d *decoder) at(s step) {
	if d.depth <= maxPath {
		d.path[d.depth-1] = s
	}
}

// members walks an object; anything else is rejected. The body may read the value or leave it.
func (d *decoder) members() iter.Seq[[]byte] {
	return func(yield func(name []byte) bool) {
		if !d.must(jsonscan.Object) {
			return
		}
		d.depth++
		for name := range d.Object() {
			d.at(step{name: name})
			if !yield(name) {
				break
			}
		}
		d.depth--
	}
}

// entries walks an array that is there, and passes over null entries.
func (d *decoder) entries() iter.Seq[int] {
	return func(yield func(index int) bool) {
		d.depth++
		for i := range d.Array() {
			d.at(step{index: i})
			if d.Kind() == jsonscan.Null {
				d.note("skipped a null entry")
			} else if !yield(i) {
				break
			}
		}
		d.depth--
	}
}

// must reports whether a value of the kind comes next. Null counts as absent; any other kind is rejected.
func (d *decoder) must(kind jsonscan.Kind) bool {
	got := d.Kind()
	if got == kind {
		return true
	}
	if got != jsonscan.None && got != jsonscan.Null {
		d.reject("expected " + kind.String() + ", found " + got.String())
	}
	d.Skip() // with nothing there, this is the error
	return false
}

// is reports whether a value of the kind comes next. Null counts as absent; any other kind is ignored.
func (d *decoder) is(kind jsonscan.Kind) bool {
	got := d.Kind()
	if got == kind {
		return true
	}
	if got != jsonscan.None && got != jsonscan.Null {
		d.note("ignored, expected " + kind.String() + ", found " + got.String())
	}
	d.Skip()
	return false
}

// mustText reads a string that cannot be done without.
func (d *decoder) mustText() string {
	if !d.must(jsonscan.String) {
		return ""
	}
	d.found = true
	return d.Text()
}

func (d *decoder) text() string {
	if !d.is(jsonscan.String) {
		return ""
	}
	return d.Text()
}

func (d *decoder) bool() bool { return d.is(jsonscan.Bool) && d.Bool() }

// flag reads a boolean that may also be absent.
func (d *decoder) flag() *bool {
	if !d.is(jsonscan.Bool) {
		return nil
	}
	b := d.Bool()
	return &b
}

func (d *decoder) integer() *int64 {
	if !d.is(jsonscan.Number) {
		return nil
	}
	one := jsonscan.New(d.Raw()) // so that the error does not stick
	n := one.Int64()
	if one.Err() != nil {
		d.note("ignored, not an integer")
		return nil
	}
	return &n
}

// measure reads a number that a float64 is good enough for, and reports whether there was one.
func (d *decoder) measure() (f float64, ok bool) {
	if !d.is(jsonscan.Number) {
		return 0, false
	}
	one := jsonscan.New(d.Raw())
	if f = one.Float64(); one.Err() != nil {
		d.note("ignored, out of range")
		return 0, false
	}
	return f, true
}

// number reads a measure that may also be absent.
func (d *decoder) number() *float64 {
	f, ok := d.measure()
	if !ok {
		return nil
	}
	return &f
}

// object reads an object as it is, nil if there is none.
func (d *decoder) object() json.RawMessage {
	if !d.is(jsonscan.Object) {
		return nil
	}
	return d.Raw()
}

// objects reads an object of raw values.
func (d *decoder) objects() map[string]json.RawMessage {
	if !d.is(jsonscan.Object) {
		return nil
	}
	m := make(map[string]json.RawMessage)
	for name := range d.Object() {
		m[string(name)] = d.Raw()
	}
	return m
}

// texts reads a list of strings.
func texts[S ~string](d *decoder) []S {
	if !d.is(jsonscan.Array) {
		return nil
	}
	list := []S{}
	for range d.entries() {
		if d.is(jsonscan.String) {
			list = append(list, S(d.Text()))
		}
	}
	return list
}

// mustList reads a list of objects that cannot be done without. Entries that cannot be used are set aside.
func mustList[T any, P decodable[T]](d *decoder) []*T {
	if !d.must(jsonscan.Array) {
		return nil
	}
	items := []*T{}
	for range d.entries() {
		if item := new(T); d.try(P(item)) {
			items = append(items, item)
		}
	}
	return items
}

// values reads a list of objects. Entries that cannot be used are set aside.
func values[T any, P decodable[T]](d *decoder) []T {
	if !d.is(jsonscan.Array) {
		return nil
	}
	items := []T{}
	for range d.entries() {
		var zero T
		items = append(items, zero)
		if last := len(items) - 1; !d.try(P(&items[last])) {
			items = items[:last]
		}
	}
	return items
}

// try reads a value that may be set aside, and reports whether it can be used.
func (d *decoder) try(v decoded) bool {
	outer := d.bad
	d.bad = ""
	v.decode(d)
	reason := d.bad
	d.bad = outer
	if reason != "" {
		d.addNote(reason + ", set aside")
	}
	return reason == ""
}

// optional reads an object of its own that nothing else depends on, nil if there is none.
func optional[T any, P decodable[T]](d *decoder) *T {
	if !d.is(jsonscan.Object) {
		return nil
	}
	v := new(T)
	P(v).decode(d)
	return v
}
