package jsonscan

import (
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"strings"
)

// A Decoder reads one value at a time, in order. Its methods read the next value whatever it is: null reads as the zero
// value, a value of another kind is an error. The first error sticks: later reads return zero values, and loops end.
type Decoder struct {
	data  []byte
	i     int
	depth int
	err   *SyntaxError

	valid   bool      // data is known to be valid
	keep    bool      // data stay alive as long as what is read
	own     bool      // data may be written to
	inPlace []rewrite // what was written over
}

// New returns a Decoder over data, which it shares (see the package's documentation).
func New(data []byte) Decoder { return Decoder{data: data} }

// NewValid returns a Decoder over data that was found to be valid before: objects and arrays that are passed, or
// returned as they are, are not checked again. What it makes of other data is unspecified, but stays within them.
func NewValid(data []byte) Decoder { return Decoder{data: data, valid: true} }

// A SyntaxError says what is wrong, and where.
type SyntaxError struct {
	Reason string
	Path   string // where in the value: content[2].text; the beginning of a long one
	Offset int    // in bytes
}

func (e *SyntaxError) Error() string {
	if e.Path != "" {
		return e.Path + ": " + e.Reason
	}
	return e.Reason + " at offset " + strconv.Itoa(e.Offset)
}

// within puts the name of an enclosing member or element in front of the path. Of a path that becomes too long the
// beginning is kept: with long names at every level, all of it would take time and memory without end.
func (e *SyntaxError) within(name string) {
	if e.Path != "" && !strings.HasPrefix(e.Path, "[") {
		name += "."
	}
	if e.Path = name + e.Path; len(e.Path) > maxPath {
		e.Path = strings.ToValidUTF8(e.Path[:maxPath], "") + "..."
	}
}

const maxPath = 200

// Err returns the first error, nil if there is none.
func (d *Decoder) Err() error {
	if d.err == nil {
		return nil
	}
	return d.err
}

// End returns the first error, or one if anything but white space follows what was read.
func (d *Decoder) End() error {
	if d.err == nil {
		if d.i = skipSpace(d.data, d.i); d.i < len(d.data) {
			d.fail(d.i, "unexpected data after the value")
		}
	}
	return d.Err()
}

// Offset tells how many bytes were read. In a loop over members or elements, before anything of one is read, that is
// where its value starts.
func (d *Decoder) Offset() int { return d.i }

// Fail makes the value that comes next an error.
func (d *Decoder) Fail(reason string) { d.fail(d.i, reason) }

func (d *Decoder) fail(at int, reason string) {
	if d.err == nil {
		d.err = &SyntaxError{Reason: reason, Offset: at}
	}
}

// Kind is the kind of a JSON value, named by the byte that it may start with.
type Kind byte

// The kinds of values. None is the end of the data, and whatever cannot start a value.
const (
	None   Kind = 0
	Null   Kind = 'n'
	Bool   Kind = 't'
	Number Kind = '0'
	String Kind = '"'
	Array  Kind = '['
	Object Kind = '{'
)

func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	}
	return "nothing"
}

// Kind tells what comes next, without reading it.
func (d *Decoder) Kind() Kind {
	if d.err != nil {
		return None
	}
	if d.i = skipSpace(d.data, d.i); d.i >= len(d.data) {
		return None
	}
	switch c := d.data[d.i]; {
	case c == '"' || c == '{' || c == '[' || c == 'n':
		return Kind(c)
	case c == 't' || c == 'f':
		return Bool
	case c == '-' || '0' <= c && c <= '9':
		return Number
	}
	return None
}

// want reports whether a value of the kind comes next. It passes null, and fails on anything else.
func (d *Decoder) want(kind Kind) bool {
	switch got := d.Kind(); {
	case got == kind:
		return true
	case got == Null:
		d.Skip()
	case d.err != nil:
	case got == None && d.i >= len(d.data):
		d.fail(d.i, reasonEnd)
	default:
		d.fail(d.i, "expected "+kind.String()+", found "+got.String())
	}
	return false
}

// Skip passes the next value.
func (d *Decoder) Skip() { d.skip() }

// skip passes the next value and returns its bytes, nil after an error.
func (d *Decoder) skip() []byte {
	if d.err != nil {
		return nil
	}
	start := skipSpace(d.data, d.i)
	if d.valid && start < len(d.data) && (d.data[start] == '{' || d.data[start] == '[') {
		d.i = skipValid(d.data, start)
		return d.data[start:d.i:d.i]
	}
	end, reason := skipValue(d.data, start, d.depth)
	if reason != "" {
		d.fail(end, reason)
		return nil
	}
	d.i = end
	return d.data[start:end:end]
}

// Raw returns the text of the next value, null included; nil after an error.
func (d *Decoder) Raw() json.RawMessage { return d.skip() }

// Bool reads a boolean.
func (d *Decoder) Bool() bool {
	return d.want(Bool) && string(d.skip()) == "true"
}

// Float64 reads a number.
func (d *Decoder) Float64() float64 {
	if !d.want(Number) {
		return 0
	}
	start := d.i
	f, err := strconv.ParseFloat(string(d.skip()), 64)
	if err != nil && d.err == nil {
		d.fail(start, "number out of range")
	}
	return f
}

// Int64 reads an integer in any spelling: 1000, 1e3 and 1000.0 are the same.
func (d *Decoder) Int64() int64 {
	if !d.want(Number) {
		return 0
	}
	start := d.i
	text := string(d.skip())
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if d.err == nil && (err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63) {
		d.fail(start, "expected an integer")
		return 0
	}
	return int64(f)
}

// Object walks the members of an object: it yields each name, and the body of the loop may read that member's value.
// What it leaves unread is passed over. A name is valid until the next one. Members with the same name are all yielded.
func (d *Decoder) Object() iter.Seq[[]byte] {
	return func(yield func(name []byte) bool) {
		d.walk(Object, func(name []byte, _ int) bool { return yield(name) })
	}
}

// Array walks the elements of an array, as Object walks members.
func (d *Decoder) Array() iter.Seq[int] {
	return func(yield func(index int) bool) {
		d.walk(Array, func(_ []byte, index int) bool { return yield(index) })
	}
}

func (d *Decoder) walk(kind Kind, yield func(name []byte, index int) bool) {
	if !d.want(kind) {
		return
	}
	if d.depth++; d.depth > maxDepth {
		d.fail(d.i, "nested too deeply")
		return
	}
	defer func() { d.depth-- }()
	closing := d.data[d.i] + 2 // '{' to '}' and '[' to ']'
	if d.i = skipSpace(d.data, d.i+1); d.i < len(d.data) && d.data[d.i] == closing {
		d.i++
		return
	}
	more := true
	for index := 0; ; index++ {
		var name []byte
		if kind == Object {
			if name = d.name(); d.err != nil {
				return
			}
		}
		start := skipSpace(d.data, d.i)
		d.i = start
		if more {
			more = yield(name, index)
		}
		if d.i == start {
			d.Skip()
		}
		if d.err != nil {
			if kind == Object {
				d.err.within(string(name))
			} else {
				d.err.within("[" + strconv.Itoa(index) + "]")
			}
			return
		}
		if !d.separator(closing) {
			return
		}
	}
}

// name reads the name of a member and its colon.
func (d *Decoder) name() []byte {
	start := d.i
	end, reason := skipKey(d.data, start)
	if reason != "" {
		d.fail(end, reason)
		return nil
	}
	d.i = end
	stop := plainRun(d.data, start+1)
	if content := d.data[start+1 : stop]; d.data[stop] == '"' && validUTF8(content) {
		return content
	}
	closing, _ := skipString(d.data, start)
	return unescape(d.data[start+1 : closing-1])
}

// separator passes the comma before the next element, or the closing bracket, and reports which.
func (d *Decoder) separator(closing byte) (more bool) {
	d.i = skipSpace(d.data, d.i)
	switch {
	case d.i >= len(d.data):
		d.fail(d.i, reasonEnd)
	case d.data[d.i] == closing:
		d.i++
	case d.data[d.i] == ',':
		d.i = skipSpace(d.data, d.i+1)
		return true
	default:
		d.fail(d.i, "expected a comma")
	}
	return false
}
