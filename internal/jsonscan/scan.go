package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth is the nesting that encoding/json allows as well; it bounds the recursion.
const maxDepth = 10_000

// Valid reports whether data is one JSON value, possibly with white space around it.
func Valid(data []byte) bool {
	d := Decoder{data: data}
	d.Skip()
	return d.End() == nil
}

// skipSpace returns the index of the first byte at or after i that is not white space.
func skipSpace(data []byte, i int) int {
	if i < len(data) && data[i] > ' ' {
		return i // as nearly always: few servers send any
	}
	return skipSpaces(data, i)
}

func skipSpaces(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the index after the value that starts at i. It returns the index of the offending byte and a reason
// when there is none.
func skipValue(data []byte, i, depth int) (end int, reason string) {
	if i >= len(data) {
		return i, reasonEnd
	}
	switch c := data[i]; {
	case c == '"':
		return skipString(data, i)
	case c == '{' || c == '[':
		return skipComposite(data, i, depth)
	case c == '-' || '0' <= c && c <= '9':
		return skipNumber(data, i)
	case c == 't':
		return skipLiteral(data, i, "true")
	case c == 'f':
		return skipLiteral(data, i, "false")
	case c == 'n':
		return skipLiteral(data, i, "null")
	}
	return i, "expected a value"
}

const (
	reasonEnd     = "unexpected end"
	reasonControl = "control character in a string"
	reasonEscape  = "malformed escape"
)

func skipLiteral(data []byte, i int, literal string) (int, string) {
	if len(data)-i < len(literal) || string(data[i:i+len(literal)]) != literal {
		return i, "expected " + literal
	}
	return i + len(literal), ""
}

func skipComposite(data []byte, i, depth int) (int, string) {
	if depth >= maxDepth {
		return i, "nested too deeply"
	}
	object := data[i] == '{'
	closing := data[i] + 2 // '{' to '}' and '[' to ']'
	if i = skipSpace(data, i+1); i < len(data) && data[i] == closing {
		return i + 1, ""
	}
	var reason string
	for {
		if object {
			if i, reason = skipKey(data, i); reason != "" {
				return i, reason
			}
		}
		if i, reason = skipValue(data, skipSpace(data, i), depth+1); reason != "" {
			return i, reason
		}
		i = skipSpace(data, i)
		switch {
		case i >= len(data):
			return i, reasonEnd
		case data[i] == closing:
			return i + 1, ""
		case data[i] != ',':
			return i, "expected a comma"
		}
		i = skipSpace(data, i+1)
	}
}

// skipValid passes an object or an array that is valid.
func skipValid(data []byte, i int) int {
	for depth := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = plainRun(data, i+1)
			for i < len(data) && data[i] != '"' {
				i = plainRun(data, i+2) // behind a backslash and what it stands before
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(data)
}

// skipKey passes a member's name and its colon.
func skipKey(data []byte, i int) (int, string) {
	if i >= len(data) {
		return i, reasonEnd
	}
	if data[i] != '"' {
		return i, "expected a name"
	}
	i, reason := skipString(data, i)
	if reason != "" {
		return i, reason
	}
	if i = skipSpace(data, i); i >= len(data) {
		return i, reasonEnd
	}
	if data[i] != ':' {
		return i, "expected a colon"
	}
	return i + 1, ""
}

func skipNumber(data []byte, i int) (int, string) {
	if data[i] == '-' {
		i++
	}
	first := i
	i = skipDigits(data, i)
	if i == first || data[first] == '0' && i > first+1 {
		return first, "malformed number"
	}
	if i < len(data) && data[i] == '.' {
		first = i + 1
		if i = skipDigits(data, first); i == first {
			return i, "malformed number"
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		first = i
		if i = skipDigits(data, first); i == first {
			return i, "malformed number"
		}
	}
	return i, ""
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	return i
}

// skipString passes a string, whose opening quote is at i, and checks its escapes.
func skipString(data []byte, i int) (int, string) {
	return skipRest(data, plainRun(data, i+1))
}

// skipRest is skipString from the end of a plain run on.
func skipRest(data []byte, i int) (int, string) {
	for ; ; i = plainRun(data, i) {
		switch {
		case i >= len(data):
			return i, reasonEnd
		case data[i] == '"':
			return i + 1, ""
		case data[i] != '\\':
			return i, reasonControl
		}
		if i+1 < len(data) && shortEscape[data[i+1]] != 0 {
			i += 2
			continue
		}
		n := escapeLen(data[i:])
		if n == 0 {
			return i, reasonEscape
		}
		i += n
	}
}

// escapeLen is the length of the escape sequence at the start of s, 0 if it is not one.
func escapeLen(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	if shortEscape[s[1]] != 0 {
		return 2
	}
	if s[1] == 'u' {
		if _, ok := hex4(s[2:]); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads the four hexadecimal digits of a \u escape.
func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range s[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainRun returns the index of the first byte at or after i that ends a run of ordinary string content: a quote, a
// backslash, or a control character. It looks at eight bytes at once: a borrow reaches the high bit of a byte that is
// below the bound, and only a byte at or after the first match can be wrong about it, so the lowest match is right.
func plainRun(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		control := (w - 0x20*lowBits) &^ w
		quote := w ^ '"'*lowBits
		backslash := w ^ '\\'*lowBits
		match := (control | (quote-lowBits)&^quote | (backslash-lowBits)&^backslash) & highBits
		if match != 0 {
			return i + bits.TrailingZeros64(match)/8
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
