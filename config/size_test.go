package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/internal/growth"
)

// many repeats a text, with a number in the place of %d.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Nothing of a file is looked through again and again.
func TestTimeIsProportionalToFiles(t *testing.T) {
	const size = 4000
	for what, arg := range map[string]string{"in one text": "${m%d}", "in many": `","${m%d}`} {
		t.Run("missing names "+what, func(t *testing.T) {
			growth.Linear(t, size, func(n int) func() {
				file := parsed(t, `{"servers": {"a": {"command": "a", "args": ["`+many(n, arg)+`"]}}}`, nil)
				return func() {
					_, err := file.Expand(nil)
					assert.Len(t, err.(config.Errors)[0].Missing, n)
				}
			})
		})
	}
	const server = `"%s%%d": {"url": "http://a"},`
	for what, texts := range map[string][2]string{
		"the same servers": {`{"servers": {%s}}`, fmt.Sprintf(server, "s")},
		"other servers":    {`{"servers": {%s}}`, fmt.Sprintf(server, "t")},
		"inputs":           {`{"inputs": [%s]}`, `{"id": "%d"},`},
	} {
		t.Run("merging "+what, func(t *testing.T) {
			growth.Linear(t, size, func(n int) func() {
				base := parsed(t, fmt.Sprintf(texts[0], many(n, strings.Replace(texts[1], `"t%d"`, `"s%d"`, 1))), nil)
				other := parsed(t, fmt.Sprintf(texts[0], many(n, texts[1])), nil)
				return func() { _, _ = config.Merge(base, other, config.Policy{Fields: []string{"url"}, NewServers: true}) }
			})
		})
	}
}

// A value that a short reference stands for again and again is a bomb in a file of a stranger.
func TestWhatIsPutInIsBounded(t *testing.T) {
	value := strings.Repeat("x", 1<<20)
	lookup := func(string) (string, bool) { return value, true }
	fits, bomb := strings.Repeat("${X}", 16), strings.Repeat("${X}", 10_000)
	file := parsed(t, `{"servers": {
		"a": {"command": "a", "args": ["`+fits+`"]},
		"b": {"command": "b"},
		"c": {"command": "c", "args": ["", "${X}"]}
	}}`, nil)
	servers, err := file.Expand(lookup)
	assert.Equal(t, []string{"a", "b"}, names(servers))
	assert.EqualError(t, err,
		`config: 4:38: server "c": args[1]: what is put in for references has more than 16777216 bytes`)

	for _, args := range []string{bomb, strings.Repeat(`${X}","`, 10_000)} {
		s, err := config.Parse("a", []byte(`{"command": "a", "args": ["`+args+`"]}`), nil)
		require.NoError(t, err)
		_, err = s.Expand(lookup)
		assert.ErrorContains(t, err, "what is put in for references has more than 16777216 bytes")
	}
}
