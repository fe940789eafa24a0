package yaml

import "strings"

// flow reads a sequence or a mapping in brackets (section 7.4).
func (p *parser) flow() Node {
	n, closing := Node{Kind: Sequence}, byte(']')
	if p.rest()[0] == '{' {
		n.Kind, closing = Mapping, '}'
	}
	known := map[string]bool{}
	p.col++
	for p.skipFlow(); !p.take(closing); p.skipFlow() {
		if n.Kind == Mapping {
			p.addKey(&n, known, p.flowKey())
			n.Items = append(n.Items, p.flowValue())
		} else {
			n.Items = append(n.Items, p.flowNode())
		}
		if p.skipFlow(); !p.take(',') && !strings.HasPrefix(p.rest(), string(closing)) {
			p.fail("a bracket that is not closed, or no comma")
			return Node{}
		}
	}
	return n
}

// skipFlow passes over white space, line breaks and comments.
func (p *parser) skipFlow() {
	for p.row < len(p.lines) && p.lineIsOver() {
	}
}

// take passes over a character if it comes next.
func (p *parser) take(c byte) bool {
	if rest := p.rest(); rest == "" || rest[0] != c {
		return false
	}
	p.col++
	return true
}

func (p *parser) flowKey() string {
	n := p.flowNode()
	if n.Kind != Scalar {
		p.fail("a key that is not a text")
	}
	return n.Text
}

// flowValue reads what follows a key, which may be nothing.
func (p *parser) flowValue() Node {
	if p.skipFlow(); !p.take(':') {
		return null()
	}
	if p.skipFlow(); strings.HasPrefix(p.rest(), ",") || strings.HasPrefix(p.rest(), "}") {
		return null()
	}
	return p.flowNode()
}

func (p *parser) flowNode() Node {
	rest := p.rest()
	if rest == "" {
		p.fail("a bracket that is not closed")
		return Node{}
	}
	switch rest[0] {
	case '[', '{':
		return p.nested(p.flow)
	case '"', '\'':
		return Node{Text: p.quoted()}
	}
	if !startsPlain(rest) {
		p.fail("a value cannot start like this")
		return Node{}
	}
	end := 0
	for end < len(rest) && !endsFlowPlain(rest, end) {
		end++
	}
	p.col += end
	return Node{Text: strings.TrimRight(rest[:end], " \t"), Plain: true}
}

// endsFlowPlain reports whether a plain scalar in brackets is over at a place of the line. A "#" is never at its start.
func endsFlowPlain(line string, at int) bool {
	switch line[at] {
	case ',', '[', ']', '{', '}':
		return true
	case '#':
		return strings.IndexByte(" \t", line[at-1]) >= 0
	case ':':
		return at+1 == len(line) || strings.IndexByte(" \t,[]{}", line[at+1]) >= 0
	}
	return false
}
