package yaml

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Scalar Kind = iota
	Sequence
	Mapping
)

// A Node is a value.
type Node struct {
	Kind  Kind
	Text  string   // of a scalar
	Plain bool     // the scalar has no quotes and is no block: it may stand for null, a boolean or a number
	Keys  []string // of a mapping, in the order of the text
	Items []Node   // of a sequence, or the values that belong to Keys
}

// An Error says what could not be read, and where.
type Error struct {
	Line   int // from 1
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Parse reads one value. Nothing at all is a plain scalar without text, which stands for null.
func Parse(text string) (Node, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	p := parser{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	for i, line := range p.lines {
		if !readable(line) {
			return Node{}, &Error{i + 1, "a character that YAML does not allow"}
		}
	}
	n := null()
	if p.next() {
		n = p.block(-1)
	}
	if p.next() {
		p.fail("indented less than what it follows, or not part of it")
	}
	if p.err != nil {
		return Node{}, p.err
	}
	return n, nil
}

// readable reports whether a line holds nothing but what may be there (YAML 1.2, section 5.1): what JSON allows in a
// string, and tabs.
func readable(line string) bool {
	return utf8.ValidString(line) && !strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' })
}

func null() Node { return Node{Plain: true} }

const maxDepth = 32

// A parser is at a column (in bytes) of a row, counted from 0. The first error sticks and ends the text, so that all
// loops end.
type parser struct {
	lines    []string
	row, col int
	depth    int
	err      *Error
}

func (p *parser) fail(reason string) {
	if p.err == nil {
		p.err = &Error{p.row + 1, reason}
	}
	p.row, p.col = len(p.lines), 0
}

// rest is what is left of the line.
func (p *parser) rest() string {
	if p.row >= len(p.lines) {
		return ""
	}
	return p.lines[p.row][p.col:]
}

func (p *parser) nextLine() { p.row, p.col = p.row+1, 0 }

func (p *parser) skipSpace() {
	rest := p.rest()
	p.col += len(rest) - len(strings.TrimLeft(rest, " \t"))
}

// next goes to the next line that has more than a comment, at its indentation. It stays where it is if it is there.
func (p *parser) next() bool {
	for p.row < len(p.lines) {
		line := p.lines[p.row]
		p.col = indentation(line)
		switch {
		case strings.HasPrefix(strings.TrimLeft(line, " \t"), "#"), blank(line):
			p.nextLine()
		case line[p.col] == '\t':
			p.fail("a tab in the indentation")
		case p.col == 0 && marker(line):
			p.fail("more than one document")
		default:
			return true
		}
	}
	return false
}

// endLine passes over a comment to the next line.
func (p *parser) endLine() {
	if p.err != nil {
		return
	}
	rest := p.rest()
	trimmed := strings.TrimLeft(rest, " \t")
	if trimmed != "" && (trimmed[0] != '#' || len(trimmed) == len(rest)) {
		p.fail("unexpected text after a value")
		return
	}
	p.nextLine()
}

func blank(line string) bool { return strings.Trim(line, " \t") == "" }

// marker reports whether a line begins or ends a document, or gives a directive (section 9.1).
func marker(line string) bool {
	return line[0] == '%' || spaceAfter(line, "---") || spaceAfter(line, "...")
}

// spaceAfter reports whether s begins with a token that white space or the end follows.
func spaceAfter(s, token string) bool {
	rest, ok := strings.CutPrefix(s, token)
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
