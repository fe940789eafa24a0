package yaml

import "strings"

// scalar reads a value that is neither a mapping nor a sequence in block style.
func (p *parser) scalar(parent int) Node {
	rest := p.rest()
	if rest == "" {
		return null() // after an error
	}
	switch rest[0] {
	case '|', '>':
		return Node{Text: p.blockScalar(parent)}
	case '"', '\'':
		n := Node{Text: p.quoted()}
		p.endLine()
		return n
	case '[', '{':
		n := p.nested(p.flow)
		p.endLine()
		return n
	case '&', '*', '!':
		p.fail("anchors, aliases and tags are not supported")
		return Node{}
	}
	if !startsPlain(rest) {
		p.fail("a value cannot start like this")
		return Node{}
	}
	return Node{Text: p.plain(parent), Plain: true}
}

// plain reads a text without quotes, which goes on as long as lines are indented (section 7.3.3).
func (p *parser) plain(parent int) string {
	var out strings.Builder
	text, comment := cutComment(p.rest())
	out.WriteString(text)
	p.nextLine()
	for !comment {
		row := p.row
		for row < len(p.lines) && blank(p.lines[row]) {
			row++
		}
		if row == len(p.lines) || indentation(p.lines[row]) <= parent {
			break
		}
		line := strings.TrimLeft(p.lines[row], " \t")
		if line[0] == '#' {
			break
		}
		if strings.Contains(line, ": ") || strings.HasSuffix(line, ":") {
			p.row = row
			p.fail("a key within a text")
			break
		}
		out.WriteString(folded(row-p.row, " "))
		text, comment = cutComment(line)
		out.WriteString(text)
		p.row = row + 1
	}
	return out.String()
}

// folded is what a line break stands for that empty lines follow: a line break for each of them, or else alone.
func folded(empty int, alone string) string {
	if empty == 0 {
		return alone
	}
	return strings.Repeat("\n", empty)
}

// blockScalar reads a literal or folded text (section 8.1).
func (p *parser) blockScalar(parent int) string {
	style, chomp, indent := p.rest()[0], byte(0), -1
	for p.col++; p.rest() != ""; p.col++ {
		c := p.rest()[0]
		if (c == '+' || c == '-') && chomp == 0 {
			chomp = c
		} else if '1' <= c && c <= '9' && indent < 0 {
			indent = max(parent, 0) + int(c-'0')
		} else {
			break
		}
	}
	p.endLine()
	lines := p.blockLines(parent, indent)
	body := len(lines)
	for body > 0 && lines[body-1] == "" {
		body--
	}
	text := strings.Join(lines[:body], "\n")
	if style == '>' {
		text = foldLines(lines[:body])
	}
	switch {
	case chomp == '+' && body > 0:
		return text + strings.Repeat("\n", len(lines)-body+1)
	case chomp == '+':
		return strings.Repeat("\n", len(lines))
	case chomp == '-' || body == 0:
		return text
	}
	return text + "\n"
}

// blockLines reads the lines of a block, without their indentation: that of the first line with text if indent is less
// than 0.
func (p *parser) blockLines(parent, indent int) (lines []string) {
	widest := 0 // of the lines before that
	for ; p.row < len(p.lines); p.row++ {
		line := p.lines[p.row]
		spaces := indentation(line)
		empty := spaces == len(line)
		switch {
		case empty && indent < 0:
			widest = max(widest, spaces)
		case indent < 0:
			indent = max(spaces, parent+1)
		}
		if !empty && spaces < indent {
			break
		}
		if !empty && widest > indent {
			p.fail("an empty line that is indented further than the text after it")
			break
		}
		if indent < 0 {
			line = ""
		}
		lines = append(lines, line[min(len(line), max(indent, 0)):])
	}
	return lines
}

// foldLines joins lines by spaces, except around those that are indented further (section 8.1.3).
func foldLines(lines []string) string {
	var out strings.Builder
	empty, further, first := 0, false, true
	for _, line := range lines {
		if line == "" {
			empty++
			continue
		}
		was := further
		further = line[0] == ' ' || line[0] == '\t'
		switch {
		case first:
			out.WriteString(strings.Repeat("\n", empty))
		case was || further:
			out.WriteString(strings.Repeat("\n", empty+1))
		default:
			out.WriteString(folded(empty, " "))
		}
		out.WriteString(line)
		empty, first = 0, false
	}
	return out.String()
}
