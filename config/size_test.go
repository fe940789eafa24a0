package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/config"
)

// many repeats a text, with a number in the place of %d.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Files that would take a minute if anything were looked through again and again.
func TestTimeIsProportionalToFiles(t *testing.T) {
	const size = 100_000
	soon := func(what string, do func()) {
		start := time.Now()
		do()
		assert.Less(t, time.Since(start), 10*time.Second, what)
	}
	for what, arg := range map[string]string{"in one text": "${m%d}", "in many": `","${m%d}`} {
		file := parsed(t, `{"servers": {"a": {"command": "a", "args": ["`+many(size, arg)+`"]}}}`, nil)
		soon("missing names "+what, func() {
			_, err := file.Expand(nil)
			assert.Len(t, err.(config.Errors)[0].Missing, size)
		})
	}
	base := parsed(t, `{"servers": {`+many(size, `"s%d": {"url": "http://a"},`)+`}}`, nil)
	for what, other := range map[string]*config.File{
		"the same": base,
		"others":   parsed(t, `{"servers": {`+many(size, `"t%d": {"url": "http://a"},`)+`}}`, nil),
	} {
		soon("servers that are merged with "+what, func() {
			_, _ = config.Merge(base, other, config.Policy{Fields: []string{"url"}, NewServers: true})
		})
	}
	inputs := parsed(t, `{"inputs": [`+many(size, `{"id": "%d"},`)+`]}`, nil)
	soon("inputs", func() { _, _ = config.Merge(inputs, inputs, config.Policy{NewServers: true}) })
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
