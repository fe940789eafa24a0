package yaml

import "strings"

// block reads the value that starts here and belongs to a line of less indentation.
func (p *parser) block(parent int) Node {
	if p.dash() {
		return p.nested(p.sequence)
	}
	if _, _, ok := p.key(); ok {
		return p.nested(p.mapping)
	}
	return p.scalar(parent)
}

// nested reads a value that holds others.
func (p *parser) nested(read func() Node) Node {
	if p.depth++; p.depth > maxDepth {
		p.fail("nested too deeply")
		return Node{}
	}
	defer func() { p.depth-- }()
	return read()
}

func (p *parser) dash() bool { return spaceAfter(p.rest(), "-") }

// at goes to the next line, and reports whether it has this indentation.
func (p *parser) at(indent int) bool { return p.next() && p.col == indent }

func (p *parser) sequence() Node {
	n := Node{Kind: Sequence}
	indent := p.col
	for {
		p.col++
		n.Items = append(n.Items, p.item(indent))
		if !p.at(indent) || !p.dash() {
			return n
		}
	}
}

// item reads an entry of a sequence, which may be a sequence or mapping that starts on the same line.
func (p *parser) item(indent int) Node {
	if p.lineIsOver() {
		if p.next() && p.col > indent {
			return p.block(indent)
		}
		return null()
	}
	return p.block(indent)
}

func (p *parser) mapping() Node {
	n := Node{Kind: Mapping}
	indent := p.col
	known := map[string]bool{}
	for {
		key, after, ok := p.key()
		if !ok {
			p.fail("neither a key nor part of a value")
			return n
		}
		p.addKey(&n, known, key)
		p.col += after
		n.Items = append(n.Items, p.value(indent))
		if !p.at(indent) {
			return n
		}
	}
}

func (p *parser) addKey(n *Node, known map[string]bool, key string) {
	switch {
	case key == "<<":
		p.fail("merge keys are not supported")
	case known[key]:
		p.fail("a key that was there before")
	}
	known[key] = true
	n.Keys = append(n.Keys, key)
}

// value reads what belongs to a key. A sequence may have the same indentation as the key.
func (p *parser) value(indent int) Node {
	if !p.lineIsOver() {
		return p.scalar(indent)
	}
	if p.next() && (p.col > indent || p.col == indent && p.dash()) {
		return p.block(indent)
	}
	return null()
}

// lineIsOver passes over white space, and goes to the next line if there is no more than a comment.
func (p *parser) lineIsOver() bool {
	p.skipSpace()
	if rest := p.rest(); rest != "" && rest[0] != '#' {
		return false
	}
	p.nextLine()
	return true
}

// key finds the key at the front of the line, and how long it is together with its colon.
func (p *parser) key() (key string, after int, ok bool) {
	rest := p.rest()
	if rest == "" {
		return "", 0, false
	}
	if rest[0] == '"' || rest[0] == '\'' {
		one := parser{lines: []string{rest}} // a key has one line
		key = one.quoted()
		if one.err != nil {
			return "", 0, false
		}
		one.skipSpace()
		return key, one.col + 1, spaceAfter(one.rest(), ":")
	}
	if !startsPlain(rest) {
		return "", 0, false
	}
	rest, _ = cutComment(rest)
	for i := 0; i < len(rest); i++ {
		if rest[i] == ':' && spaceAfter(rest[i:], ":") {
			return strings.TrimRight(rest[:i], " \t"), i + 1, true
		}
	}
	return "", 0, false
}

// startsPlain reports whether a plain scalar may start like this (section 7.3.3).
func startsPlain(s string) bool {
	switch s[0] {
	case '-', '?', ':':
		return len(s) > 1 && !strings.ContainsRune(" \t,[]{}", rune(s[1]))
	}
	return !strings.ContainsRune(",[]{}#&*!|>'\"%@`", rune(s[0]))
}

// cutComment cuts off a comment, which white space sets apart, together with that.
func cutComment(s string) (text string, found bool) {
	for i := 1; i < len(s); i++ {
		if s[i] == '#' && (s[i-1] == ' ' || s[i-1] == '\t') {
			s, found = s[:i], true
			break
		}
	}
	return strings.TrimRight(s, " \t"), found
}
