package jsonscan

import (
	"bytes"
	"unicode/utf8"
)

// NewOwned returns a Decoder over data that nobody else uses, and that nobody will read again but through Decoder.Since:
// long strings are decoded in place, so that a result of some megabytes is in memory once.
func NewOwned(data []byte) Decoder { return Decoder{data: data, own: true} }

// inPlaceMin is the length from which a string with escapes is decoded in place. What that costs (see rewrite) is little
// beside the copy that it saves.
const inPlaceMin = 4 << 10

// A rewrite is a string that was decoded in place: what stood between the quotes is gone.
type rewrite struct {
	start, end int // of what stood between the quotes
	text       string
}

// mayDecodeInPlace reports whether the string that starts there is long, without looking further than it takes to know.
func (d *Decoder) mayDecodeInPlace(start int) bool {
	if !d.own || len(d.data)-start < inPlaceMin {
		return false
	}
	head := d.data[:start+inPlaceMin]
	for i := plainRun(head, start); i < len(head); i = plainRun(head, i) {
		if head[i] != '\\' {
			return false // its end, or an error
		}
		i += 2
	}
	return true
}

// textInPlace reads the string that starts at start, whose first run of ordinary content ends at i.
func (d *Decoder) textInPlace(start, i int) string {
	out := start // the end of what is decoded
	for run := start; ; i = plainRun(d.data, i) {
		if !utf8.Valid(d.data[run:i]) {
			return d.textRepaired(start, out, run)
		}
		if out < run {
			copy(d.data[out:], d.data[run:i])
		}
		out += i - run
		switch {
		case i >= len(d.data):
			d.fail(i, reasonEnd)
			return ""
		case d.data[i] == '"':
			text := d.share(d.data[start:out])
			if out < i {
				d.inPlace = append(d.inPlace, rewrite{start, i, text})
			}
			d.i = i + 1
			return text
		case d.data[i] != '\\':
			d.fail(i, reasonControl)
			return ""
		case escapeLen(d.data[i:]) == 0:
			d.fail(i, reasonEscape)
			return ""
		}
		r, n := escaped(d.data[i:])
		out += utf8.EncodeRune(d.data[out:], r)
		i += n
		run = i
	}
}

// textRepaired is for a string with bytes that are no UTF-8: what replaces them is longer, so that it gets memory of its
// own. Up to out it is decoded, and goes on at run.
func (d *Decoder) textRepaired(start, out, run int) string {
	end, reason := skipRest(d.data, plainRun(d.data, run))
	if reason != "" {
		d.fail(end, reason)
		return ""
	}
	d.i = end
	text := view(append(bytes.Clone(d.data[start:out]), unescape(d.data[run:end-1])...))
	if out < run {
		d.inPlace = append(d.inPlace, rewrite{start, end - 1, text})
	}
	return text
}

// Since returns the text of what was read since start, which is an earlier copy of the Decoder. Strings that were
// decoded in place meanwhile are encoded again; they may be spelled in another way than before.
func (d *Decoder) Since(start *Decoder) []byte {
	from := skipSpace(d.data, start.i)
	if len(d.inPlace) == len(start.inPlace) {
		return d.data[from:d.i:d.i]
	}
	var b []byte
	for _, w := range d.inPlace[len(start.inPlace):] {
		b = append(b, d.data[from:w.start-1]...)
		b = AppendString(b, w.text)
		from = w.end + 1
	}
	return append(b, d.data[from:d.i]...)
}
