package yaml

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a text in quotes, of one line or several (sections 7.3.1 and 7.3.2).
func (p *parser) quoted() string {
	quote := p.rest()[0]
	p.col++
	var out []byte
	kept := 0 // how much of out is not white space that a line break swallows
	for p.row < len(p.lines) {
		rest := p.rest()
		switch {
		case rest == "":
			out = p.foldQuoted(out[:kept+len(bytes.TrimRight(out[kept:], " \t"))], " ")
			kept = len(out)
		case rest[0] == quote && quote == '\'' && strings.HasPrefix(rest, "''"):
			out = append(out, '\'')
			p.col += 2
		case rest[0] == quote:
			p.col++
			return string(out)
		case rest == `\` && quote == '"':
			out = p.foldQuoted(out, "")
			kept = len(out)
		case rest[0] == '\\' && quote == '"':
			var size int
			if out, size = unescape(out, rest); size == 0 {
				p.fail("an escape that is none")
				return ""
			}
			p.col += size
			kept = len(out)
		default:
			out = append(out, rest[0])
			p.col++
		}
	}
	p.fail("a quote that is not closed")
	return ""
}

// foldQuoted writes what the line break here stands for, as [folded] does, and goes on to the next text.
func (p *parser) foldQuoted(out []byte, alone string) []byte {
	p.nextLine()
	from := p.row
	for p.row < len(p.lines) && blank(p.lines[p.row]) {
		p.nextLine()
	}
	p.skipSpace()
	return append(out, folded(p.row-from, alone)...)
}

var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// unescape appends what the escape at the front of s stands for, and says how long it is: 0 if it is none. It takes
// pairs of surrogates as JSON has them.
func unescape(out []byte, s string) ([]byte, int) {
	if len(s) < 2 {
		return out, 0
	}
	if text, ok := escapes[s[1]]; ok {
		return append(out, text...), 2
	}
	r, size := hexEscape(s)
	if utf16.IsSurrogate(r) {
		low, more := hexEscape(s[size:])
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return out, 0
		}
		size += more
	}
	if size == 0 || !utf8.ValidRune(r) {
		return out, 0
	}
	return utf8.AppendRune(out, r), size
}

func hexEscape(s string) (r rune, size int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	if digits == 0 || len(s) < 2+digits {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:2+digits], 16, 31)
	if err != nil {
		return 0, 0
	}
	return rune(n), 2 + digits
}
