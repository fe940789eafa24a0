package skills

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed62b61957/mcp/internal/yaml"
)

// FuzzDecodePage: an entry that is not refused keeps every rule that reading relies on.
func FuzzDecodePage(f *testing.F) {
	digest := digestPrefix + strings.Repeat("0", digestLength)
	f.Add([]byte(`{"skills":[{"uri":"a:b/SKILL.md","frontmatter":{"name":"b","description":"c"},"resources":[` +
		`{"uri":"a:b/SKILL.md","digest":"` + digest + `","size":1},` +
		`{"uri":"a:b/c%20d/e","digest":"` + digest + `","size":2}]}],"nextCursor":"x"}`))
	f.Add([]byte(`{"skills":[` +
		`{"uri":"a://b/SKILL.md","frontmatter":{"name":"b","description":"c"},"resources":"dynamic"},null]}`))
	f.Add([]byte(`{"skills":null,"nextCursor":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, _, err := decodePage(data)
		if err == nil && !json.Valid(data) {
			t.Fatalf("took %q", data)
		}
		for _, entry := range entries {
			if s := decodeSkill(entry); s.Refused == nil {
				soundEntry(t, s)
			}
		}
	})
}

func soundEntry(t *testing.T, s *Skill) {
	t.Helper()
	root := strings.TrimSuffix(s.URI, "SKILL.md")
	own, total, paths := 0, int64(0), map[string]bool{}
	for _, f := range s.Files {
		if f.URI == s.URI {
			own++
		}
		inside := strings.HasPrefix(f.URI, root) && fs.ValidPath(f.Path) && f.Path != "."
		if !inside || paths[f.Path] || !isDigest(f.Digest) || f.Size < 0 {
			t.Fatalf("%q has the file %+v", s.URI, f)
		}
		total += f.Size
		paths[f.Path] = true
	}
	if own != 1 || total > maxSize || len(s.Files) > maxFiles || s.Name == "" || s.Description == "" {
		t.Fatalf("%+v", s)
	}
}

// FuzzFrontmatter: the frontmatter of any file agrees with itself as JSON, and the body is the end of the file.
func FuzzFrontmatter(f *testing.F) {
	f.Add("---\nname: x\ndescription: >-\n  a\n  b\n---\nBody")
	f.Add("---\na: [b, {c: 'd'}]\ne:\n- f: 1\n---\n")
	f.Add("\ufeff---\r\na: \"\\u00e9\"\r\n---\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		front, body, err := split(text)
		if err != nil {
			return
		}
		if !strings.HasSuffix(text, body) || len(front) > maxFrontmatter {
			t.Fatalf("%q is split into %q and %q", text, front, body)
		}
		tree, err := yaml.Parse(front)
		if err != nil || tree.Kind != yaml.Mapping || !utf8.ValidString(text) {
			return
		}
		s := &Skill{Frontmatter: map[string]json.RawMessage{}}
		for i, name := range tree.Keys {
			value, err := json.Marshal(plainValue(&tree.Items[i]))
			if err != nil {
				t.Fatal(err)
			}
			s.Frontmatter[name] = value
		}
		if got, err := s.checkFrontmatter(text); err != nil || got != body {
			t.Fatalf("%q: %v", text, err)
		}
		s.Frontmatter["another"+strings.Repeat("!", len(text))] = json.RawMessage("1")
		if _, err := s.checkFrontmatter(text); err == nil {
			t.Fatalf("%q agrees with a field that it does not have", text)
		}
	})
}
