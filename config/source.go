package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"time"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// A source is a text that was read, in which places are counted.
type source struct {
	file  string        // its path, "" if it has none
	dir   string        // what relative paths in it are relative to, "" where there is no working directory
	unit  time.Duration // of timeouts in it
	lines []int         // the offset of each line
}

func newSource(file string, text []byte, o Options) *source {
	s := &source{file: file, dir: o.Dir, unit: o.TimeoutUnit, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// A place is where something starts in a source. The zero value is nowhere.
type place struct {
	src *source
	at  int
}

// position counts lines and columns from 1.
func (p place) position() (line, column int) {
	line = sort.SearchInts(p.src.lines, p.at+1)
	return line, p.at - p.src.lines[line-1] + 1
}

// dir is the folder that a path written here is relative to, "" if no text says it.
func (p place) dir() string {
	if p.src == nil {
		return ""
	}
	return p.src.dir
}

// seenFrom names the place in an error about a text: with the file if that is another one.
func (p place) seenFrom(from place) string {
	line, column := p.position()
	if p.src != from.src && p.src.file != "" {
		return fmt.Sprintf("%s:%d:%d", p.src.file, line, column)
	}
	return fmt.Sprintf("%d:%d", line, column)
}

// fail makes an error that points here.
func (p place) fail(field, reason string) *Error {
	e := &Error{Field: legible(field), Reason: reason}
	if p.src != nil {
		e.File = p.src.file
		e.Line, e.Column = p.position()
	}
	return e
}

// A value is a JSON value, and where it is. Its text is valid JSON.
type value struct {
	place
	raw json.RawMessage
}

// A member is one of an object; key is where its name is.
type member struct {
	value
	name string
	key  place
}

// A key that is there twice leaves it to chance which one counts.
func duplicate(field string, first, second place) *Error {
	return second.fail(field, "was there before, at "+first.seenFrom(second))
}

// parse returns the value of a text, which may have comments and trailing commas.
func parse(src *source, text []byte) (value, *Error) {
	at := place{src: src}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return value{}, at.fail("", "is in UTF-16; save it as UTF-8")
	}
	text, offset, reason := plain(text)
	if reason != "" {
		return value{}, place{src, offset}.fail("", reason)
	}
	d := jsonscan.New(text)
	d.Kind() // passes the white space
	at.at = d.Offset()
	raw := d.Raw()
	var syntax *jsonscan.SyntaxError
	if err := d.End(); errors.As(err, &syntax) {
		reason := "not JSON: " + syntax.Reason
		if offset := syntax.Offset; offset < len(text) && bytes.HasPrefix(text[offset:], []byte(`\`)) {
			reason += ` (a backslash is written \\)`
		}
		return value{}, place{src, syntax.Offset}.fail("", reason)
	}
	return value{at, raw}, nil
}

func (v value) kind() jsonscan.Kind {
	d := jsonscan.New(v.raw)
	return d.Kind()
}

// object returns the members in their order, with duplicates.
func (v value) object() []member {
	var list []member
	d := jsonscan.New(v.raw)
	end := 1
	for name := range d.Object() {
		key := end
		for v.raw[key] != '"' { // white space, and the comma before it
			key++
		}
		at := d.Offset()
		list = append(list, member{
			name:  string(name),
			key:   place{v.src, v.at + key},
			value: value{place{v.src, v.at + at}, d.Raw()},
		})
		end = d.Offset()
	}
	return list
}

func (v value) array() []value {
	var list []value
	d := jsonscan.New(v.raw)
	for range d.Array() {
		at := d.Offset()
		list = append(list, value{place{v.src, v.at + at}, d.Raw()})
	}
	return list
}

func (v value) text() string {
	var s string
	_ = json.Unmarshal(v.raw, &s) // the caller has seen that it is a string
	return s
}
