package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Text reads a string. Invalid UTF-8 and lone surrogates become U+FFFD, as in encoding/json.
//
// A long string that makes up a good part of the data shares its memory; the others are copied, so that keeping a short
// one does not keep the whole message alive.
func (d *Decoder) Text() string {
	if !d.want(String) {
		return ""
	}
	start := d.i + 1
	if d.mayDecodeInPlace(start) {
		return d.textInPlace(start)
	}
	stop := plainRun(d.data, start)
	end, reason := skipRest(d.data, stop)
	if reason != "" {
		d.fail(end, reason)
		return ""
	}
	d.i = end
	content := d.data[start : end-1]
	if stop < end-1 || !validUTF8(content) {
		return view(unescape(content))
	}
	return d.share(content)
}

// ShareAll has all strings share the memory of the data, if those are small: what is read also has raw JSON, which
// keeps them alive anyway.
func (d *Decoder) ShareAll() { d.keep = len(d.data) <= shareAllMax }

// share returns plain content as a string.
func (d *Decoder) share(content []byte) string {
	if d.keep || len(content) >= shareMin && len(content) >= len(d.data)/shareFraction {
		return view(content)
	}
	return string(content)
}

// A shared string keeps at most shareFraction times its own size alive.
const (
	shareMin      = 1 << 10
	shareFraction = 8
	// shareAllMax bounds what somebody keeps who keeps a name only.
	shareAllMax = 64 << 10
)

// view returns b as a string without copying it. Nobody may write to b any more.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// unescape returns the content of a valid string literal in memory of its own.
func unescape(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for len(s) > 0 {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			n = len(s)
		}
		out = append(out, s[:n]...)
		if s = s[n:]; len(s) > 0 {
			var r rune
			r, n = escaped(s)
			out = utf8.AppendRune(out, r)
			s = s[n:]
		}
	}
	if validUTF8(out) {
		return out
	}
	return repaired(out)
}

// escaped decodes the escape at the start of s: the rune, and how many bytes spell it.
func escaped(s []byte) (rune, int) {
	if short := shortEscape[s[1]]; short != 0 {
		return rune(short), 2
	}
	r, _ := hex4(s[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		low, _ := hex4(s[8:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// shortEscape has what the escapes of two bytes stand for, by the second one; 0 for what is none of them.
var shortEscape = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// validUTF8 is utf8.Valid for text that is mostly ASCII: it goes on fast after a letter that is not.
func validUTF8(s []byte) bool {
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			beyond := binary.LittleEndian.Uint64(s[i:]) & highBits
			if beyond == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(beyond) / 8
		} else if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 {
			return false
		}
		i += n
	}
	return true
}

// repaired returns s with each byte that is not part of valid UTF-8 replaced.
func repaired(s []byte) []byte {
	out := make([]byte, 0, len(s)+len(s)/8)
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		out = utf8.AppendRune(out, r)
		s = s[n:]
	}
	return out
}
