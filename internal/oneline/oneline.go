// Package oneline makes what a peer says fit to stand in an error message.
package oneline

import (
	"strings"
	"unicode"
)

// Of returns one line of at most so many bytes of text, and dots if that is not all of it. White space, and whatever
// speaks to a terminal instead of its reader, becomes a single space.
func Of(text string, most int) string {
	cut := len(text) > most
	if cut {
		text = text[:most]
	}
	words := strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
	line := strings.Join(words, " ")
	if cut {
		line += "..."
	}
	return line
}
