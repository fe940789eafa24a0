package transport

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/seed62b61957/mcp/internal/jsonscan"
)

// ID is the id of a request: an integer or a string, kept exactly as it was on the wire, since an answer must echo it.
// The zero ID stands for a message without one. IDs are comparable and serve as map keys.
type ID struct {
	// text is the JSON text, where number alone does not give it back: strings, null, and odd spellings of numbers.
	text   string
	number int64
	kind   idKind
}

type idKind uint8

const (
	idNone idKind = iota
	idInteger
	idText
	idNull
)

// IntID returns the ID of an integer.
func IntID(n int64) ID { return ID{number: n, kind: idInteger} }

// ParseID reads the JSON text of an id. JSON null gives an ID that is not valid but was there (see [ID.IsNull]).
func ParseID(text []byte) (ID, error) {
	switch {
	case len(text) == 0:
		return ID{}, errors.New("empty id")
	case bytes.Equal(text, []byte("null")):
		return ID{kind: idNull}, nil
	case text[0] == '"' || text[0] == '-' || '0' <= text[0] && text[0] <= '9':
		if n, ok := canonicalInt(text); ok {
			return IntID(n), nil
		}
		if c := text[len(text)-1]; c <= ' ' || !jsonscan.Valid(text) {
			return ID{}, errors.New("the id is malformed")
		}
		return ID{text: string(text), kind: idText}, nil
	}
	return ID{}, errors.New("an id is a string or a number")
}

// IsValid reports whether there is an id that can be answered: neither absent nor null.
func (id ID) IsValid() bool { return id.kind == idInteger || id.kind == idText }

// IsNull reports whether the id was sent as null, as in an answer to something that could not be parsed.
func (id ID) IsNull() bool { return id.kind == idNull }

// Int64 gives the integer that the id stands for: 1, and also "1" and 1.0, since some servers answer with another
// spelling than they were asked with.
func (id ID) Int64() (int64, bool) {
	switch id.kind {
	case idInteger:
		return id.number, true
	case idText:
		text := id.text
		if text[0] == '"' {
			n, ok := canonicalInt([]byte(text[1 : len(text)-1]))
			return n, ok
		}
		f, err := strconv.ParseFloat(text, 64)
		if n := int64(f); err == nil && float64(n) == f && -1<<53 < n && n < 1<<53 {
			return n, true
		}
	}
	return 0, false
}

// Size is how many bytes the id holds beyond its own fixed size.
func (id ID) Size() int { return len(id.text) }

// Append adds the JSON text of the id to b: null where there is none.
func (id ID) Append(b []byte) []byte {
	switch id.kind {
	case idInteger:
		return strconv.AppendInt(b, id.number, 10)
	case idText:
		return append(b, id.text...)
	default:
		return append(b, "null"...)
	}
}

// String returns the JSON text of the id, "" where there is none.
func (id ID) String() string {
	if id.kind == idNone {
		return ""
	}
	return string(id.Append(nil))
}

// MarshalJSON returns the text that the id came with.
func (id ID) MarshalJSON() ([]byte, error) { return id.Append(nil), nil }

// UnmarshalJSON reads an id as [ParseID] does.
func (id *ID) UnmarshalJSON(text []byte) (err error) {
	*id, err = ParseID(text)
	return err
}

// canonicalInt parses text if it is an integer in the one spelling that strconv gives back.
func canonicalInt(text []byte) (int64, bool) {
	digits := text
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(text) > 1 {
		return 0, false
	}
	var n int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if text[0] == '-' {
		n = -n
	}
	return n, true
}
