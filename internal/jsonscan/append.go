package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// AppendString appends s as a JSON string. It escapes what JSON requires, so that <, > and & go out as they are, and
// the two separators that some peers take for line ends. Invalid UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				b = append(append(b, s[start:i]...), "\uFFFD"...)
				start = i + n
			case r == '\u2028' || r == '\u2029':
				b = append(append(b, s[start:i]...), '\\', 'u', '2', '0', '2', hex[r&0xf])
				start = i + n
			}
			i += n
			continue
		}
		i++
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i-1]...)
		start = i
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(append(b, s[start:]...), '"')
}

// AppendValue appends v as encoding/json would write it, compact and without HTML escapes. Raw JSON is checked. What
// arguments of tools are mostly made of needs no reflection.
func AppendValue(b []byte, v any) ([]byte, error) { return appendValue(b, v, 0) }

// maxFast is the nesting up to which values are written here. Deeper ones, which may lead back to themselves, are left
// to encoding/json.
const maxFast = 100

func appendValue(b []byte, v any, depth int) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case string:
		return AppendString(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case json.RawMessage:
		return AppendRaw(b, v)
	case []any:
		if v != nil && depth < maxFast {
			return appendArray(b, v, depth+1)
		}
	case map[string]any:
		if v != nil && depth < maxFast {
			return appendObject(b, v, depth+1)
		}
	}
	return appendReflected(b, v)
}

func appendArray(b []byte, list []any, depth int) (_ []byte, err error) {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, v, depth); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

// appendObject writes the members in the order of their names, as encoding/json does.
func appendObject(b []byte, members map[string]any, depth int) (_ []byte, err error) {
	var few [16]string
	names := few[:0]
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, name), ':')
		if b, err = appendValue(b, members[name], depth); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func appendReflected(b []byte, v any) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooled {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return b, err
	}
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...), nil
}

// AppendRaw appends JSON text without line breaks, null if there is none. They stand only between tokens; a carriage
// return has to go as well, since some peers end a line there. Text that is not one JSON value is an error.
func AppendRaw(b []byte, raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return append(b, "null"...), nil
	}
	if !Valid(raw) {
		return b, errors.New("invalid JSON")
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return append(b, raw...), nil
	}
	buf := bytes.NewBuffer(b)
	err := json.Compact(buf, raw)
	return buf.Bytes(), err
}

// maxPooled keeps one large message from staying in memory for good.
const maxPooled = 64 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
