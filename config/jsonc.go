package config

import (
	"bytes"
	"strings"
)

// plain returns the text as JSON: comments, and commas that nothing follows, become spaces, and so does a byte order
// mark. Everything else keeps its offset. A reason tells of a comment that does not end, which starts at the offset.
func plain(text []byte) (out []byte, offset int, reason string) {
	out = bytes.Clone(text)
	if bytes.HasPrefix(out, []byte("\ufeff")) {
		blank(out[:3])
	}
	last := -1  // the last byte that means something
	comma := -1 // the last byte, if it is a comma that follows a value
	for i := 0; i < len(out); {
		switch c := out[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		case '/':
			if end := commentEnd(out, i); end < 0 {
				return nil, i, "a comment that does not end"
			} else if end > i {
				blank(out[i:end])
				i = end
				continue
			}
		case '}', ']':
			if comma >= 0 {
				out[comma] = ' '
			}
		}
		comma = -1
		if out[i] == ',' && last >= 0 && strings.IndexByte("[{,:", out[last]) < 0 {
			comma = i
		}
		last = i
		i = stringEnd(out, i)
	}
	return out, 0, ""
}

// commentEnd returns where the comment that starts at i ends: i if there is none, below 0 if it has no end.
func commentEnd(text []byte, i int) int {
	rest := text[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if n := bytes.IndexAny(rest, "\r\n"); n >= 0 {
			return i + n
		}
		return len(text)
	case bytes.HasPrefix(rest, []byte("/*")):
		n := bytes.Index(rest[2:], []byte("*/"))
		if n < 0 {
			return -1
		}
		return i + 2 + n + 2
	}
	return i
}

// stringEnd returns where the string that starts at i ends, and i+1 if none starts there.
func stringEnd(text []byte, i int) int {
	if text[i] != '"' {
		return i + 1
	}
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// blank keeps line breaks, so that lines are counted as the user sees them.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}
