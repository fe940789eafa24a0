package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed62b61957/mcp/internal/schema"
)

// FuzzParseBytes: what is taken agrees with the schema, in the order of the text; an error has a place in the text; and
// what was read can be merged with itself and expanded without a trace of the values in an error.
func FuzzParseBytes(f *testing.F) {
	paths, err := filepath.Glob("testdata/wild/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		`{"servers":{"a":{"url":"http://a","oauth":{"clientId":"b","scope":["c"],"callbackPort":1}},"a":{}}}`,
		`{"mcpServers":{"a":{"command":"b","args":["${c}",1],"env":{"D":true}}},"inputs":[{"id":"e","options":[""]}]}`,
		`{"servers":{"a":{"enabled":false,"timeout":1e1,"x":{}}}}`,
		`{"a":{"url":null}}`,
	} {
		f.Add([]byte(text))
	}
	compiled, err := schema.Compile(Schema())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseBytes(data, nil)
		if err == nil {
			text, _, _ := plain(data)
			if err := compiled.Validate(text); err != nil && err != schema.ErrTooComplex {
				t.Fatalf("%q is read, and the schema says: %v", data, err)
			}
		} else {
			havePlaces(t, data, err.(Errors))
		}
		order := -1
		for _, s := range file.Servers {
			if !isName(s.Name) || s.entry.place.at <= order {
				t.Fatalf("%q: server %q is not in its place", data, s.Name)
			}
			order = s.entry.place.at
			if s.IsOverride() != (s.Type == "") {
				t.Fatalf("%q: server %q has the type %q", data, s.Name, s.Type)
			}
		}
		merged, _ := Merge(file, file, Policy{})
		if len(merged.Servers) != len(file.Servers) {
			t.Fatalf("%q: merged with itself it has other servers", data)
		}
		if _, err := file.Expand(nil); err != nil {
			havePlaces(t, data, err.(Errors))
		}
		const value = "a value that is\na secret"
		_, err = file.Expand(func(string) (string, bool) { return value, true })
		if err != nil && strings.Contains(err.Error(), "a secret") {
			t.Fatalf("%q: %v", data, err)
		}
	})
}

func havePlaces(t *testing.T, data []byte, errs Errors) {
	t.Helper()
	lines := bytes.Split(data, []byte("\n"))
	for _, e := range errs {
		if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len(lines[e.Line-1])+1 {
			t.Fatalf("%q: %v is not in the text", data, e)
		}
		if strings.ContainsFunc(e.Error(), func(c rune) bool { return !strconv.IsPrint(c) }) {
			t.Fatalf("%q: %q is not a line of text", data, e)
		}
	}
}

// FuzzPlain: JSON stays as it is, everything else at least as long as it was, and nothing but comments and commas goes.
func FuzzPlain(f *testing.F) {
	f.Add([]byte("{// a\n\"b\": [1, /* c */ 2,],}"))
	f.Add([]byte(`["//", "\"/*", ",]"]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, offset, reason := plain(data)
		if reason != "" {
			if !bytes.HasPrefix(data[offset:], []byte("/*")) || json.Valid(data) {
				t.Fatalf("%q: %s at %d", data, reason, offset)
			}
			return
		}
		if json.Valid(data) && !bytes.Equal(out, data) {
			t.Fatalf("%q is JSON, and becomes %q", data, out)
		}
		if len(out) != len(data) || bytes.Count(out, []byte("\n")) != bytes.Count(data, []byte("\n")) {
			t.Fatalf("%q becomes %q", data, out)
		}
		for i := range out {
			if out[i] != data[i] && out[i] != ' ' {
				t.Fatalf("%q becomes %q", data, out)
			}
		}
		if !json.Valid(out) {
			return
		}
		if again, _, _ := plain(out); !bytes.Equal(again, out) {
			t.Fatalf("%q becomes %q, and that %q", data, out, again)
		}
	})
}

// FuzzExpand: a text with escapes is what it was, and what a lookup gives comes through once, as it is.
func FuzzExpand(f *testing.F) {
	for _, text := range []string{"${A}", "${env:A:-b}", "$${A}${B}", "${input:a", "${${A}}", "$$${", "${A:-${B}}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		escaped := strings.ReplaceAll(text, "${", "$${")
		if got, missing, reason := expand(escaped, nil); got != text || missing != nil || reason != "" {
			t.Fatalf("%q becomes %q (%v, %s)", escaped, got, missing, reason)
		}
		asked := 0
		got, missing, reason := expand(text, func(name string) (string, bool) {
			asked++
			if name == "" || strings.HasPrefix(name, "env:env:") {
				t.Fatalf("%q asks for %q", text, name)
			}
			return "${A}", true
		})
		if reason != "" {
			if !strings.Contains(text, "${") || got != "" {
				t.Fatalf("%q: %s, but %q", text, reason, got)
			}
			return
		}
		if missing != nil || strings.Count(got, "${A}") < asked || asked > strings.Count(text, "${") {
			t.Fatalf("%q becomes %q, and %d were asked for", text, got, asked)
		}
		if !hasReference(text) && got != text {
			t.Fatalf("%q becomes %q", text, got)
		}
		if _, missing, _ := expand(text, nil); len(missing) > asked {
			t.Fatalf("%q: %d missing, %d asked for", text, len(missing), asked)
		}
	})
}
