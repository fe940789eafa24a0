package config

import (
	"strconv"
	"strings"
)

// A reference is ${NAME} or ${NAME:-default}, where the name may have a prefix: ${env:NAME}, ${input:id}. The default
// is taken for what is not set or empty, as in a shell. $${ is a ${ that starts no reference. Whatever else there is in
// a text, a $ among it, is taken as it is.
type reference struct {
	name       string
	byDefault  string
	hasDefault bool
}

// The reasons for which a text cannot be expanded.
const (
	reasonOpen  = "a reference has no } (a ${ that is none is written $${)"
	reasonName  = "a reference has no name that can be looked up (a ${ that is none is written $${)"
	reasonInner = "a default has a reference in it"
	reasonFull  = "what is put in for references has more than 16777216 bytes"
)

// nextReference finds the first reference. It returns the text before it, without escapes, and the rest behind it.
func nextReference(text string) (before string, ref *reference, rest, reason string) {
	i := strings.Index(text, "${")
	switch {
	case i < 0:
		return text, nil, "", ""
	case i > 0 && text[i-1] == '$':
		return text[:i-1] + "${", nil, text[i+2:], ""
	}
	inner, rest, closed := strings.Cut(text[i+2:], "}")
	if !closed {
		return "", nil, "", reasonOpen
	}
	ref = new(reference)
	ref.name, ref.byDefault, ref.hasDefault = strings.Cut(inner, ":-")
	ref.name = strings.TrimPrefix(ref.name, "env:")
	switch {
	case strings.Contains(ref.byDefault, "${"):
		return "", nil, "", reasonInner
	case !isReferable(ref.name):
		return "", nil, "", reasonName
	}
	return text[:i], ref, rest, ""
}

// isReferable knows what may be the name of a reference. It is shown when nothing is known by it, which the text behind
// an operator that only shells have, as in ${A:=b}, is not to be.
func isReferable(name string) bool {
	for _, operator := range []string{":=", ":?", ":+"} {
		if strings.Contains(name, operator) {
			return false
		}
	}
	bad := func(c rune) bool { return strings.ContainsRune(" \"'${", c) || !strconv.IsPrint(c) }
	return name != "" && !strings.HasSuffix(name, ":") && !strings.ContainsFunc(name, bad)
}

// expand replaces the references. It returns the names that lookup does not know.
func expand(text string, lookup Lookup) (expanded string, missing []string, reason string) {
	var b strings.Builder
	for text != "" {
		before, ref, rest, reason := nextReference(text)
		if reason != "" {
			return "", nil, reason
		}
		b.WriteString(before)
		text = rest
		if ref == nil {
			continue
		}
		value, ok := "", false
		if lookup != nil {
			value, ok = lookup(ref.name)
		}
		switch {
		case ref.hasDefault && value == "":
			b.WriteString(ref.byDefault)
		case ok:
			b.WriteString(value)
		default:
			missing = append(missing, ref.name)
		}
	}
	return b.String(), missing, ""
}

func hasReference(text string) bool { return strings.Contains(text, "${") }
