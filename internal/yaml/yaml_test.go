package yaml

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/growth"
)

// show writes a node as JSON, with a mapping as a list of its keys and values, and a plain scalar in angle brackets.
func show(n *Node) any {
	list := []any{}
	for i := range n.Items {
		if n.Kind == Mapping {
			list = append(list, n.Keys[i]+":")
		}
		list = append(list, show(&n.Items[i]))
	}
	switch {
	case n.Kind != Scalar:
		return list
	case n.Plain:
		return "<" + n.Text + ">"
	}
	return n.Text
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", `"<>"`},
		{"a scalar", "a b", `"<a b>"`},
		{"a mapping", "a: b\nc : d\n'e f': g\n\"h\": i\n", `["a:","<b>","c:","<d>","e f:","<g>","h:","<i>"]`},
		{"no value", "a:\nb: # c\nc: ~", `["a:","<>","b:","<>","c:","<~>"]`},
		{"deeper", "a:\n  b:\n    c: d\n  e: f\ng: h", `["a:",["b:",["c:","<d>"],"e:","<f>"],"g:","<h>"]`},
		{"a sequence", "- a\n-\n- b", `["<a>","<>","<b>"]`},
		{"a sequence below a key", "a:\n- b\n- c\nd:\n  - e", `["a:",["<b>","<c>"],"d:",["<e>"]]`},
		{"compact", "- a: b\n  c:\n  - d\n- - e\n  - f\n-\n  g: h", `[["a:","<b>","c:",["<d>"]],["<e>","<f>"],["g:","<h>"]]`},
		{"comments", "# a\n\na: b # c\n  # d\n#e\nf: g#h\n", `["a:","<b>","f:","<g#h>"]`},
		{"a comment below a text", "a: b\n  # c\nd: e", `["a:","<b>","d:","<e>"]`},
		{"Windows", "a: b\r\nc: |\r\n  d\r\n  e\r\n", `["a:","<b>","c:","d\ne\n"]`},

		{"plain", "a: b: c, http://d#e 'f'", `["a:","<b: c, http://d#e 'f'>"]`},
		{"plain, several lines", "a: b\n  c\n\n\n   d # e\nf: g", `["a:","<b c\n\nd>","f:","<g>"]`},
		{"plain, on the next line", "a:\n  b\n  c", `["a:","<b c>"]`},
		{"odd starts", "a: -b\nc: ?d\ne: :f", `["a:","<-b>","c:","<?d>","e:","<:f>"]`},

		{"single quotes", "a: 'it''s \\n # b: '  # c", `["a:","it's \\n # b: "]`},
		{"double quotes", `a: "\x41\u00e9\U0001F600\ud83d\ude00\t\"\\\/\_\e # "`, `["a:","Aé😀😀\t\"\\/` + "\u00a0" + `\u001b # "]`},
		{"quotes, several lines", "a: 'b  \n   c\n\n  d'\ne: \"f \\\n   g\n\n h\\n\n i\"", `["a:","b c\nd","e:","f g\nh\n i"]`},
		{"an escaped tab before a break", "a: \"b\\t \n  c\"", `["a:","b\t c"]`},
		{"an escaped break before empty lines", "a: \"b\\\n\n\n  c\"", `["a:","b\n\nc"]`},

		{"literal", "a: |\n  b\n   c\n\n  d: e # f\n\n\ng: h", `["a:","b\n c\n\nd: e # f\n","g:","<h>"]`},
		{"folded", "a: >\n  b\n  c\n\n  d\n    e\n    f\n  g\n", `["a:","b c\nd\n  e\n  f\ng\n"]`},
		{"folded, from an empty line on", "a: >\n\n  b\n\n\n  c\n", `["a:","\nb\n\nc\n"]`},
		{"strip", "a: |-\n  b\n\nc: >-\n  d\n  e", `["a:","b","c:","d e"]`},
		{"keep", "a: |+ # b\n  c\n\n\nd: >+\n\ne: |\nf: |-", `["a:","c\n\n\n","d:","\n","e:","","f:",""]`},
		{"an indicator", "a: |2-\n    b\n   c\nd:\n- >1\n   e\n  f", `["a:","  b\n c","d:",["  e\n f\n"]]`},
		{"a block in a sequence", "- |\n a\n- b", `["a\n","<b>"]`},

		{"flow", "a: [b, 'c', {d: e, \"f\":g, h: , i}, []]\nj: {}", `["a:",["<b>","c",["d:","<e>","f:","<g>","h:","<>","i:","<>"],[]],"j:",[]]`},
		{"flow, several lines", "a: [ # b\n  c d,\n\n  {e:\n    f}\n  ,\n] # g\nh: i", `["a:",["<c d>",["e:","<f>"]],"h:","<i>"]`},
		{"flow and colons", "a: [b:c, http://d, \"e\"]", `["a:",["<b:c>","<http://d>","e"]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Parse(c.text)
			require.NoError(t, err)
			assert.Equal(t, c.want, marshal(t, show(&n)))
		})
	}
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

func TestWhatIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"a: &b c":               "line 1: anchors, aliases and tags",
		"a: *b":                 "line 1: anchors, aliases and tags",
		"a: !!str b":            "line 1: anchors, aliases and tags",
		"a: [*b]":               "line 1: a value cannot start like this",
		"? a\n: b":              "line 1: a value cannot start like this",
		"a: @b":                 "line 1: a value cannot start like this",
		"a: - b":                "line 1: a value cannot start like this",
		"<<: {a: b}":            "line 1: merge keys",
		"a: {<<: b}":            "line 1: merge keys",
		"a: b\nc: d\na: e":      "line 3: a key that was there before",
		"a: {b: c, 'b': d}":     "line 1: a key that was there before",
		"a: {[b]: c}":           "line 1: a key that is not a text",
		"a: b\n c: d":           "line 2: a key within a text",
		"a: 'b'\n c: d":         "line 2: indented less",
		"a:\n   b: c\n  d: e":   "line 3: indented less",
		"a: b\nc":               "line 2: neither a key",
		"a: b\n- c":             "line 2: neither a key",
		"- a\nb: c":             "line 2: indented less",
		"a:\n\tb: c":            "line 2: a tab in the indentation",
		"a: b\n---\nc: d":       "line 2: more than one document",
		"a: b\n...":             "line 2: more than one document",
		"%YAML 1.2\n---\na: b":  "line 1: more than one document",
		"a: 'b":                 "a quote that is not closed",
		"a: \"b\\":              "a quote that is not closed",
		"a: \"\\q\"":            "line 1: an escape that is none",
		"a: \"\\ud83d\"":        "line 1: an escape that is none",
		"a: \"\\ud83d\\u0041\"": "line 1: an escape that is none",
		"a: \"\\xg0\"":          "line 1: an escape that is none",
		"a: \"\\U00110000\"":    "line 1: an escape that is none",
		"a: 'b' c":              "line 1: unexpected text",
		"a: 'b'# c":             "line 1: unexpected text",
		"a: [b":                 "a bracket that is not closed",
		"a: [b c: d]":           "a bracket that is not closed",
		"a: [b\nc: d":           "a bracket that is not closed",
		"a: {b: c]":             "a bracket that is not closed",
		"a: [b] c":              "line 1: unexpected text",
		"a: |x\n  b":            "line 1: unexpected text",
		"a: |--\n  b":           "line 1: unexpected text",
		"a: |\n    \n  b":       "line 3: an empty line that is indented further",
		"a: \x01":               "line 1: a character",
		"a: b\nc: \xff":         "line 2: a character",
		"a: b\rc: d":            "line 1: a character",
		"a: " + strings.Repeat("[", 33) + strings.Repeat("]", 33): "line 1: nested too deeply",
		strings.Repeat("- ", 33) + "a":                            "line 1: nested too deeply",
	} {
		n, err := Parse(text)
		assert.ErrorContains(t, err, want, text)
		assert.Equal(t, Node{}, n)
	}
	_, err := Parse("a: " + strings.Repeat("[", 31) + strings.Repeat("]", 31))
	assert.NoError(t, err, "as deep as allowed")
}

// Nothing of a text is read again and again.
func TestTimeIsProportionalToLength(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"lines in quotes": func(n int) string { return "a: \"" + strings.Repeat("b\n", n/2) + "\"" },
		"empty lines":     func(n int) string { return "a: b" + strings.Repeat("\n", n) + "c: d" },
		"items":           func(n int) string { return "a: [" + strings.Repeat("b,", n/2) + "]" },
		"open brackets":   func(n int) string { return strings.Repeat("a: [\n", n/5) },
		"quoted keys":     func(n int) string { return strings.Repeat("'", n) },
		"colons":          func(n int) string { return strings.Repeat(":", n) },
		"a folded block":  func(n int) string { return "a: >\n" + strings.Repeat(" b\n", n/3) },
		"plain lines":     func(n int) string { return "a: b\n" + strings.Repeat(" c\n\n", n/4) },
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 1<<15, func(n int) func() {
				text := text(n)
				return func() { _, _ = Parse(text) }
			})
		})
	}
}

// FuzzParse: every JSON value is YAML and means itself; and whatever is read can be written as JSON and read again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"a: b\nc:\n- d\n- e: |\n    f\n\n  g: >-\n    h\n", "a: [b, 'c', {\"d\": e}] # f\n",
		"a: \"\\u00e9\\\n  b\"\n", "\"a\": b\n  c\n\n  d", "- - a\n  -\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		valid := strings.ToValidUTF8(text, "")
		n, err := Parse("a: " + marshal(t, valid))
		if err != nil || n.Items[0].Text != valid {
			t.Fatalf("%q as JSON is %+v, %v", valid, n, err)
		}
		if n, err = Parse(text); err != nil {
			return
		}
		written := marshal(t, values(&n))
		again, err := Parse(written)
		if err != nil || marshal(t, values(&again)) != written {
			t.Fatalf("%q is %s, which is %s, %v", text, written, marshal(t, values(&again)), err)
		}
	})
}

// values are what a node is in JSON, with every scalar a text.
func values(n *Node) any {
	switch n.Kind {
	case Sequence:
		list := []any{}
		for i := range n.Items {
			list = append(list, values(&n.Items[i]))
		}
		return list
	case Mapping:
		m := map[string]any{}
		for i, key := range n.Keys {
			m[key] = values(&n.Items[i])
		}
		return m
	}
	return n.Text
}
