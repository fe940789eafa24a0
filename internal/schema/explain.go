package schema

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// explain says where the instance fails and why, from an error of the library: one error inside the other for each
// schema on the way, and the reason innermost.
func (s *Schema) explain(err error) error {
	var path strings.Builder
	var at *node
	for {
		n := s.failing(err)
		inner := errors.Unwrap(err)
		if n == nil || inner == nil {
			break
		}
		if n.parent == at {
			path.WriteString(n.step)
		}
		at, err = n, inner
	}
	reason := s.readable(err.Error())
	if where := strings.TrimPrefix(path.String(), "."); where != "" {
		reason = excerpt(where, maxError/3) + ": " + reason
	}
	return errors.New(clip(reason))
}

const maxError = 500

// failing returns the schema that an error of the library is about, nil if it is a bare reason.
func (s *Schema) failing(err error) *node {
	rest, ok := strings.CutPrefix(err.Error(), "validating "+idScheme)
	if !ok {
		return nil
	}
	number, _, _ := strings.Cut(rest, ":")
	return s.numbered(number)
}

func (s *Schema) numbered(number string) *node {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(s.nodes) {
		return nil
	}
	return s.nodes[i]
}

var (
	// What the library writes about schemas, which it knows by their numbers.
	frames       = regexp.MustCompile(`validating ` + idScheme + `\d+: `)
	alternatives = regexp.MustCompile(`\[` + idScheme + `\d+(?: ` + idScheme + `\d+)*\]`)
	numbers      = regexp.MustCompile(idScheme + `\d+`)
	// What it writes in its own way: null, and numbers as fractions.
	nulls     = regexp.MustCompile(`<invalid reflect\.Value>|<nil>`)
	fractions = regexp.MustCompile(`: (-?\d+/\d+) (is (?:not|less|greater)[a-z ]*) (-?\d+\.\d{6})`)
)

// readable takes the numbers of schemas out of the library's text.
func (s *Schema) readable(reason string) string {
	const anything = "not: validated against <anonymous schema>" // false, as the library has it
	reason = shorten(reason, 64<<10)                             // alternatives may have failed in many ways
	reason = strings.ReplaceAll(reason, anything, "no value is allowed here")
	reason = nulls.ReplaceAllLiteralString(reason, "null")
	reason = fractions.ReplaceAllStringFunc(reason, decimal)
	reason = strings.ReplaceAll(reason, "Unicode code points", "characters")
	reason = frames.ReplaceAllString(reason, "")
	reason = alternatives.ReplaceAllStringFunc(reason, func(list string) string {
		return fmt.Sprintf("%d alternatives", strings.Count(list, idScheme))
	})
	reason = numbers.ReplaceAllStringFunc(reason, func(id string) string {
		if n := s.numbered(strings.TrimPrefix(id, idScheme)); n != nil {
			return "the schema at " + excerpt(n.keyword, 60)
		}
		return id
	})
	reason = strings.ReplaceAll(reason, ":\n", ": ")
	return strings.ReplaceAll(reason, "\n", "; ")
}

// decimal writes the numbers of a match of fractions as they are usually written.
func decimal(match string) string {
	parts := fractions.FindStringSubmatch(match)
	value, ok := new(big.Rat).SetString(parts[1])
	if !ok {
		return match
	}
	number := value.RatString()
	if !value.IsInt() {
		f, _ := value.Float64()
		number = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return ": " + number + " " + parts[2] + " " + strings.TrimRight(strings.TrimRight(parts[3], "0"), ".")
}

// clip bounds the text of an error. It keeps both ends: the library has the keyword first and the limit last.
func clip(s string) string { return shorten(s, maxError) }

func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit*2/3, len(s)-limit/4
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return excerpt(s, head) + s[tail:]
}

// excerpt is the start of s, at most limit bytes and a mark that there is more.
func excerpt(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "..."
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_$-]+$`)

func memberStep(name string) string {
	if plainName.MatchString(name) {
		return "." + excerpt(name, 60)
	}
	return "[" + strconv.Quote(excerpt(name, 60)) + "]"
}

func anyMember(string) string { return ".*" }
func anyItem(string) string   { return "[*]" }
