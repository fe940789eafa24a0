package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// maxTimeout is how long a call of package mcp may take by default, whatever its timeout. One that is longer is most
// likely written in another unit.
const maxTimeout = time.Hour

// A decoder reads one entry. Its first error sticks.
type decoder struct {
	spots map[string]spot
	err   *Error
}

func (d *decoder) fail(err *Error) {
	if d.err == nil {
		d.err = err
	}
}

// decodeObject reads the members that rows describe, and returns the others.
func decodeObject[T any](d *decoder, path string, list []member, rows []row[T], into *T) map[string]json.RawMessage {
	var extra map[string]json.RawMessage
	known := make(map[string]place)  // by name
	first := make(map[string]member) // by field
	for _, m := range list {
		if d.err != nil {
			break
		}
		if at, ok := known[m.name]; ok {
			d.fail(duplicate(path+m.name, at, m.key))
			break
		}
		known[m.name] = m.key
		r := find(rows, m.name)
		if r == nil {
			if extra == nil {
				extra = make(map[string]json.RawMessage)
			}
			extra[m.name] = bytes.Clone(m.raw)
			continue
		}
		if m.kind() == jsonscan.Null {
			continue // programs that write configurations have it for what is not set
		}
		before := *into
		d.spots[path+r.field] = spot{m.place, path + m.name}
		d.read(path+r.field, m.value, r.into(into))
		if other, ok := first[r.field]; ok && !reflect.DeepEqual(before, *into) {
			d.fail(m.key.fail(path+m.name, "conflicts with "+other.name+" at "+other.key.seenFrom(m.key)))
		}
		first[r.field] = m
	}
	return extra
}

// read reads a value into what the pointer points to.
func (d *decoder) read(field string, v value, into any) {
	switch into := into.(type) {
	case *string:
		*into = d.text(field, v)
	case required:
		*into.to = d.nonEmpty(field, v)
	case *bool:
		*into = d.flag(field, v)
	case inverse:
		*into.to = !d.flag(field, v)
	case *[]string:
		*into = d.list(field, v)
	case *map[string]string:
		*into = d.table(field, v)
	case *Type:
		*into = choice(d, field, v, types)
	case *Registration:
		*into = choice(d, field, v, registrations)
	case **OAuth:
		*into = d.oauth(field, v)
	case seconds:
		*into.to = d.timeout(field, v)
	case port:
		*into.to = d.port(field, v)
	case scopes:
		*into.to = d.scopes(field, v)
	case labels:
		*into.to = d.labels(field, v)
	}
}

// is reports whether the value is of the kind, and fails if it is not.
func (d *decoder) is(field string, v value, kind jsonscan.Kind) bool {
	if got := v.kind(); got != kind {
		d.wrong(field, v, "must be "+kind.String()+", not "+got.String())
	}
	return d.err == nil
}

// wrong fails with the name of the field as it is written.
func (d *decoder) wrong(field string, v value, reason string) {
	if at, ok := d.spots[field]; ok {
		field = at.name
	}
	d.fail(v.fail(field, reason))
}

func (d *decoder) text(field string, v value) string {
	if !d.is(field, v, jsonscan.String) {
		return ""
	}
	if !utf8.Valid(v.raw) { // it would be read as another path, or another password
		d.wrong(field, v, "is not in UTF-8")
	}
	return v.text()
}

func (d *decoder) nonEmpty(field string, v value) string {
	text := d.text(field, v)
	if strings.TrimSpace(text) == "" {
		d.wrong(field, v, "is empty")
	}
	return text
}

func (d *decoder) flag(field string, v value) bool {
	return d.is(field, v, jsonscan.Bool) && v.raw[0] == 't'
}

// scalar reads a text. People write numbers and booleans without quotes where a program gets a text anyway.
func (d *decoder) scalar(field string, v value) string {
	d.spots[field] = spot{v.place, field}
	switch v.kind() {
	case jsonscan.Number, jsonscan.Bool:
		return string(v.raw)
	}
	return d.text(field, v)
}

func (d *decoder) list(field string, v value) []string {
	if !d.is(field, v, jsonscan.Array) {
		return nil
	}
	var list []string
	for i, element := range v.array() {
		list = append(list, d.scalar(field+"["+strconv.Itoa(i)+"]", element))
	}
	return list
}

func (d *decoder) table(field string, v value) map[string]string {
	if !d.is(field, v, jsonscan.Object) {
		return nil
	}
	var table map[string]string
	known := make(map[string]place)
	for _, m := range v.object() {
		if at, ok := known[m.name]; ok {
			d.fail(duplicate(field+"."+m.name, at, m.key))
			return nil
		}
		known[m.name] = m.key
		if m.kind() == jsonscan.Null {
			continue
		}
		if table == nil {
			table = make(map[string]string)
		}
		table[m.name] = d.scalar(field+"."+m.name, m.value)
	}
	return table
}

// choice reads one of several words.
func choice[T any](d *decoder, field string, v value, words map[string]T) T {
	word := d.text(field, v)
	choice, ok := words[word]
	if !ok {
		known := slices.Sorted(maps.Keys(words))
		d.wrong(field, v, "must be one of "+strings.Join(known, ", "))
	}
	return choice
}

func (d *decoder) oauth(field string, v value) *OAuth {
	if !d.is(field, v, jsonscan.Object) {
		return nil
	}
	o := new(OAuth)
	o.Extra = decodeObject(d, field+".", v.object(), oauthRows, o)
	return o
}

func (d *decoder) timeout(field string, v value) time.Duration {
	if !d.is(field, v, jsonscan.Number) {
		return 0
	}
	number, _ := strconv.ParseFloat(string(v.raw), 64) // infinite where it is too large
	timeout := number * float64(v.src.unit)
	switch {
	case timeout < 1:
		d.wrong(field, v, "must be more than 0")
	case timeout > float64(maxTimeout):
		d.wrong(field, v, "must be an hour at most; the unit is "+v.src.unit.String())
	}
	return time.Duration(min(timeout, float64(maxTimeout)))
}

func (d *decoder) port(field string, v value) int {
	if !d.is(field, v, jsonscan.Number) {
		return 0
	}
	n, err := strconv.Atoi(string(v.raw))
	if err != nil || n < 1 || n > 65535 {
		d.wrong(field, v, "must be a whole number from 1 to 65535")
	}
	return n
}

func (d *decoder) scopes(field string, v value) string {
	if v.kind() == jsonscan.Array {
		return strings.Join(d.texts(d.spots[field].name, v), " ")
	}
	return d.nonEmpty(field, v)
}

func (d *decoder) texts(field string, v value) []string {
	var list []string
	for i, element := range v.array() {
		list = append(list, d.text(field+"["+strconv.Itoa(i)+"]", element))
	}
	return list
}

// labels reads what a user can choose: texts, or objects with a value that the label stands for.
func (d *decoder) labels(field string, v value) []string {
	if !d.is(field, v, jsonscan.Array) {
		return nil
	}
	var list []string
	for i, element := range v.array() {
		field := field + "[" + strconv.Itoa(i) + "]"
		if element.kind() == jsonscan.Object {
			for _, m := range element.object() {
				if m.name == "value" {
					element, field = m.value, field+".value"
				}
			}
		}
		list = append(list, d.text(field, element))
	}
	return list
}
