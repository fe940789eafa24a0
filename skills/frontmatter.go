package skills

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed62b61957/mcp/internal/yaml"
)

const maxFrontmatter = 64 << 10

// checkFrontmatter compares the frontmatter of a SKILL.md with that of the entry, field by field (SEP-2640, Frontmatter
// Verification), and returns what comes after it.
func (s *Skill) checkFrontmatter(text string) (body string, err error) {
	refused := &VerifyError{Skill: s.URI, URI: s.URI, What: CheckFrontmatter}
	if !utf8.ValidString(text) {
		refused.Reason = "the file is not UTF-8"
		return "", refused
	}
	front, body, err := split(text)
	if err != nil {
		refused.Reason = err.Error()
		return "", refused
	}
	tree, err := yaml.Parse(front)
	if err != nil {
		refused.Reason = err.Error()
		return "", refused
	}
	entry := make(map[string]any, len(s.Frontmatter))
	for name, raw := range s.Frontmatter {
		entry[name] = decodeJSON(raw)
	}
	if d := compare("", &tree, entry); d != nil {
		refused.Field, refused.Want, refused.Got = d.field, d.want, d.got
		return "", refused
	}
	return body, nil
}

// decodeJSON reads a value that is known to be JSON, with numbers as they are written.
func decodeJSON(raw json.RawMessage) (v any) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	_ = d.Decode(&v) // it was read before
	return v
}

// split takes a SKILL.md apart: the frontmatter is what is between two lines of three dashes, the first of which begins
// the file.
func split(text string) (front, body string, err error) {
	fence, rest := cutLine(strings.TrimPrefix(text, "\ufeff"))
	if !isFence(fence) {
		return "", "", errors.New("there is none")
	}
	for at := 0; at < len(rest) && at <= maxFrontmatter; {
		line, after := cutLine(rest[at:])
		if isFence(line) {
			return rest[:at], after, nil
		}
		at = len(rest) - len(after)
	}
	return "", "", fmt.Errorf("it does not end within %d bytes", maxFrontmatter)
}

func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return line, rest
}

func isFence(line string) bool { return strings.TrimRight(line, " \t\r") == "---" }
