package skills

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// entryWith is an entry with this frontmatter.
func entryWith(t testing.TB, frontmatter string) *Skill {
	t.Helper()
	s := &Skill{URI: "skill://x/SKILL.md"}
	require.NoError(t, json.Unmarshal([]byte(frontmatter), &s.Frontmatter))
	return s
}

func TestFieldsThatAgree(t *testing.T) {
	for yaml, json := range map[string]string{
		"# c\na: text":                `{"a":"text"}`,
		"a: text":                     `{"a":"text"}`,
		"a: 'text'":                   `{"a":"text"}`,
		"a: 1.0":                      `{"a":1}`,
		"a:  1.0 # c":                 `{"a":"1.0"}`,
		"a: +10":                      `{"a":10}`,
		"a: 0x1f":                     `{"a":31}`,
		"a: 010":                      `{"a":8}`,
		"a: 0010":                     `{"a":10}`,
		"a: 1_000":                    `{"a":1000}`,
		"a: 1e3":                      `{"a":1000.0}`,
		"a: .5":                       `{"a":0.5}`,
		"a: 123456789012345678901234": `{"a":123456789012345678901234}`,
		"a: yes":                      `{"a":true}`,
		"a: Yes":                      `{"a":"Yes"}`,
		"a: false":                    `{"a":false}`,
		"a:":                          `{"a":null}`,
		"a: ~":                        `{"a":null}`,
		"a: 2025-01-31":               `{"a":"2025-01-31"}`,
		"a: [1, 'b', {c: d}]":         `{"a":[1,"b",{"c":"d"}]}`,
		"a:\n- b: >-\n    x\n    y":   `{"a":[{"b":"x y"}]}`,
		"1: x":                        `{"1":"x"}`,
		"a: b\nc: d":                  `{"c":"d","a":"b"}`,
	} {
		body, err := entryWith(t, json).checkFrontmatter("---\n" + yaml + "\n---\nBody\n")
		assert.NoError(t, err, yaml)
		assert.Equal(t, "Body\n", body)
	}
}

func TestFieldsThatDiffer(t *testing.T) {
	for _, c := range []struct{ yaml, json, field, want, got string }{
		{"a: text", `{"a":"Text"}`, "a", `"Text"`, `"text"`},
		{"A: text", `{"a":"text"}`, "A", "nothing", `"text"`},
		{"a: text", `{"a":"text","b":null}`, "b", "null", "nothing"},
		{"a: '1'", `{"a":1}`, "a", "1", `"1"`},
		{"a: 1", `{"a":2}`, "a", "2", `"1"`},
		{"a: 123456789012345678901234", `{"a":123456789012345678901235}`, "a", "123456789012345678901235", `"123456789012345678901234"`},
		{"a: 'true'", `{"a":true}`, "a", "true", `"true"`},
		{"a: true", `{"a":false}`, "a", "false", `"true"`},
		{"a: x", `{"a":false}`, "a", "false", `"x"`},
		{"a: ''", `{"a":null}`, "a", "null", `""`},
		{"a: [b]", `{"a":"b"}`, "a", `"b"`, `["b"]`},
		{"a: b", `{"a":["b"]}`, "a", `["b"]`, `"b"`},
		{"a: {b: c}", `{"a":["b"]}`, "a", `["b"]`, `{"b":"c"}`},
		{"a: {b: c}", `{"a":{"b":"d"}}`, "a.b", `"d"`, `"c"`},
		{"a: [b, c]", `{"a":["b"]}`, "a[1]", "nothing", `"c"`},
		{"a: [b]", `{"a":["b",{"c":1}]}`, "a[1]", `{"c":1}`, "nothing"},
		{"a: [b, {c: d}]", `{"a":["b",{"c":1}]}`, "a[1].c", "1", `"d"`},
		{"text", `{"a":1}`, "", `{"a":1}`, `"text"`},
		{"a: " + strings.Repeat("é", 200), `{"a":1}`, "a", "1", `"` + strings.Repeat("é", 49) + "..."},
	} {
		body, err := entryWith(t, c.json).checkFrontmatter("---\n" + c.yaml + "\n---\nBody\n")
		assert.Equal(t, &VerifyError{
			Skill: "skill://x/SKILL.md", URI: "skill://x/SKILL.md", What: CheckFrontmatter,
			Field: c.field, Want: c.want, Got: c.got,
		}, err, c.yaml)
		assert.Empty(t, body)
	}
}

func TestWhereFrontmatterIs(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: b\n---\nBody":             "Body",
		"---\r\na: b\r\n---\r\nBody\r\n":   "Body\r\n",
		"\ufeff---\na: b\n--- \t\nBody":    "Body",
		"---\na: b\n---":                   "",
		"---\na: b\n---\n---\nBody\n---\n": "---\nBody\n---\n",
	} {
		body, err := entryWith(t, `{"a":"b"}`).checkFrontmatter(text)
		assert.NoError(t, err, text)
		assert.Equal(t, want, body, text)
	}
	long := "# " + strings.Repeat("x", maxFrontmatter-len("a: b\n")-len("# \n"))
	_, err := entryWith(t, `{"a":"b"}`).checkFrontmatter("---\na: b\n" + long + "\n---\n")
	assert.NoError(t, err, "as long as allowed")
	for text, reason := range map[string]string{
		"":                                  "there is none",
		" ---\na: b\n---\n":                 "there is none",
		"\n---\na: b\n---\n":                "there is none",
		"----\na: b\n---\n":                 "there is none",
		"---\na: b\n":                       "does not end",
		"---\na: b\n ---\n":                 "does not end",
		"---\na: b\nx" + long + "\n---\n":   "does not end within 65536 bytes",
		"---\na: b\n---\nBody \xff":         "not UTF-8",
		"---\na: b\na: b\n---\n":            "a key that was there before",
		"---\n{a: b}: c\n---\n":             "unexpected text",
		"---\n" + strings.Repeat("[", 1000): "does not end",
		"---\na: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "\n---\n": "nested too deeply",
	} {
		_, err := entryWith(t, `{"a":"b"}`).checkFrontmatter(text)
		assert.ErrorContains(t, err, reason, text)
	}
}
