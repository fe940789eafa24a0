package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		``:                               ``,
		`{"a": 1}`:                       `{"a": 1}`,
		"{// b\n}":                       "{    \n}",
		"{// b\r\n}":                     "{    \r\n}",
		"{/* b\n c **/}":                 "{    \n      }",
		`{/**/}`:                         `{    }`,
		`1// b`:                          `1    `,
		`["http://a/*b*/", "\"//", "/"]`: `["http://a/*b*/", "\"//", "/"]`,
		`["\\"// b`:                      `["\\"    `,
		"[1, ]":                          "[1  ]",
		"[1,\n// b\n]":                   "[1 \n    \n]",
		`{"a": [{},],}`:                  `{"a": [{} ] }`,
		`[",]",]`:                        `[",]" ]`,
		"\ufeff{}":                       "   {}",
		// These stay wrong.
		`[,]`:             `[,]`,
		`{,}`:             `{,}`,
		`[1,,]`:           `[1,,]`,
		`{"a":,}`:         `{"a":,}`,
		`/ b`:             `/ b`,
		`[1, "b`:          `[1, "b`,
		`["b\`:            `["b\`,
		`1,`:              `1,`,
		"{}\ufeff":        "{}\ufeff",
		`[1 /, / ]`:       `[1 /, / ]`,
		`[1, # b` + "\n]": `[1, # b` + "\n]",
	} {
		got, _, reason := plain([]byte(text))
		assert.Equal(t, want, string(got), text)
		assert.Empty(t, reason, text)
	}
}

func TestPlainWithoutAnEnd(t *testing.T) {
	for text, want := range map[string]int{`/*`: 0, `[1, /*/`: 4, "// /*\n/* *": 6} {
		_, offset, reason := plain([]byte(text))
		assert.Equal(t, want, offset, text)
		assert.Equal(t, "a comment that does not end", reason, text)
	}
}
