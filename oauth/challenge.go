package oauth

import "strings"

// A Challenge is one demand for credentials that a response makes in its WWW-Authenticate header (RFC 9110, section
// 11.6.1). It should have parameters or a Token68, or neither.
type Challenge struct {
	Scheme  string            // as it was sent: "Bearer"; compare without regard to case
	Params  map[string]string // by name in lower case; of a name that is repeated, the first
	Token68 string            // what the schemes of old send in place of parameters
}

// Bounds of what [ParseChallenges] reads. A response may be made by anyone.
const (
	maxChallengeBytes  = 64 << 10
	maxChallenges      = 64
	maxChallengeParams = 64
)

// ParseChallenges reads the values of all WWW-Authenticate headers of a response: header.Values("WWW-Authenticate").
// There may be several challenges in each. What does not follow the grammar is skipped, and costs neither the
// parameters nor the challenges around it. Tolerated are parameters without a comma between them, and values that
// should be quoted and are not.
//
// The first 64 KiB of all values are read, the first 64 challenges, and 64 parameters of each; a value that goes beyond
// the 64 KiB is ignored as a whole.
func ParseChallenges(values []string) []Challenge {
	var p challengeParser
	left := maxChallengeBytes
	for _, v := range values {
		if left -= len(v); left < 0 {
			break
		}
		p.parse(v)
	}
	return p.found
}

// challengeParser reads one header value after the other. A comma separates both parameters and challenges, so what
// follows a token tells what it is: "=" makes it the name of a parameter, all else a scheme.
type challengeParser struct {
	s     string // what is left of the value
	found []Challenge
	open  bool // the last of found takes parameters: it is of this value, and within the bound
}

func (p *challengeParser) parse(value string) {
	p.s, p.open = value, false
	for first := true; p.s != ""; first = false {
		element := p.skip() || first
		name := p.token()
		switch {
		case name == "":
			p.garbage()
		case p.equals():
			p.param(name)
		case element:
			p.scheme(name)
		}
	}
}

func (p *challengeParser) scheme(name string) {
	if p.open = len(p.found) < maxChallenges; !p.open {
		return
	}
	p.found = append(p.found, Challenge{Scheme: name, Token68: p.token68()})
}

func (p *challengeParser) param(name string) {
	value, ok := p.value()
	if !ok || !p.open {
		return
	}
	c := &p.found[len(p.found)-1]
	if c.Params == nil {
		c.Params = make(map[string]string)
	}
	name = strings.ToLower(name)
	if _, repeated := c.Params[name]; !repeated && len(c.Params) < maxChallengeParams {
		c.Params[name] = value
	}
}

// skip drops white space and commas, and reports whether there was a comma.
func (p *challengeParser) skip() bool {
	rest := strings.TrimLeft(p.s, " \t,")
	comma := strings.Contains(p.s[:len(p.s)-len(rest)], ",")
	p.s = rest
	return comma
}

// token takes a token (RFC 9110, section 5.6.2), "" if there is none.
func (p *challengeParser) token() string {
	n := 0
	for n < len(p.s) && isTokenChar(p.s[n]) {
		n++
	}
	token := p.s[:n]
	p.s = p.s[n:]
	return token
}

// equals takes the "=" between a name and its value, with the white space that RFC 9110 (section 11.2) calls bad.
func (p *challengeParser) equals() bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.s, " \t"), "=")
	if !ok {
		return false
	}
	p.s = strings.TrimLeft(rest, " \t")
	return true
}

// token68 takes what stands in place of parameters (RFC 9110, section 11.2), "" if there is nothing of the kind. It
// ends its list element, which tells it from the name of a parameter.
func (p *challengeParser) token68() string {
	text := strings.TrimLeft(p.s, " \t")
	n := 0
	for n < len(text) && isToken68Char(text[n]) {
		n++
	}
	if n == 0 {
		return ""
	}
	for n < len(text) && text[n] == '=' {
		n++
	}
	rest := strings.TrimLeft(text[n:], " \t")
	if rest != "" && rest[0] != ',' {
		return ""
	}
	p.s = rest
	return text[:n]
}

// value takes the value of a parameter; ok is false for a quoted one that does not end, which takes all that is left.
func (p *challengeParser) value() (value string, ok bool) {
	if !strings.HasPrefix(p.s, `"`) {
		n := strings.IndexAny(p.s, " \t,")
		if n < 0 {
			n = len(p.s)
		}
		value, p.s = p.s[:n], p.s[n:]
		return value, true
	}
	var b strings.Builder
	for i := 1; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '"':
			p.s = p.s[i+1:]
			return b.String(), true
		case c == '\\' && i+1 < len(p.s):
			i++
			b.WriteByte(p.s[i])
		default:
			b.WriteByte(c)
		}
	}
	p.s = ""
	return "", false
}

// garbage drops what no rule knows, up to the next comma that is not quoted.
func (p *challengeParser) garbage() {
	quoted := false
	for i := 0; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			p.s = p.s[i:]
			return
		}
	}
	p.s = ""
}

func isTokenChar(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func isToken68Char(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("-._~+/", c) >= 0
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
