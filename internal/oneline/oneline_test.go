package oneline_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/oneline"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"as it is":                       "as it is",
		"  two\r\n\tlines \n":            "two lines",
		"a\x1b[31mred\x1b[0m\x00b":       "a [31mred [0m b",
		"left\u202eright\u2028new":       "left right new",
		"bad \xff\xfe bytes":             "bad bytes",
		"éé":                             "éé",
		"12345678901234567890":           "12345678901234567890",
		"123456789012345678901":          "12345678901234567890...",
		"1234567890123456789é and after": "1234567890123456789...",
	} {
		assert.Equal(t, want, oneline.Of(text, 20), "%q", text)
	}
}
