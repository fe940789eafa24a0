package jsonscan

import "unicode/utf8"

// NewOwned returns a Decoder as NewValid does, over data that nobody else uses, and that nobody will read again but
// through Decoder.Since: long strings are decoded in place, so that a result of some megabytes is in memory once.
func NewOwned(data []byte) Decoder { return Decoder{data: data, valid: true, own: true} }

// inPlaceMin is the length from which a string with escapes is decoded in place. What that costs (see rewrite) is
// little beside the copy that it saves.
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

// textInPlace reads the string that starts at start. What it decodes is never longer than what stood there.
func (d *Decoder) textInPlace(start int) string {
	data, out := d.data, start // the end of what is decoded
	for i := start; ; {
		run := i
		i = plainRun(data, i)
		if out < run {
			copy(data[out:], data[run:i])
		}
		out += i - run
		switch {
		case i >= len(data):
			d.fail(i, reasonEnd)
			return ""
		case data[i] == '"':
			d.i = i + 1
			return d.rewritten(start, out, i)
		case data[i] != '\\':
			d.fail(i, reasonControl)
			return ""
		case i+1 < len(data) && shortEscape[data[i+1]] != 0:
			data[out] = shortEscape[data[i+1]]
			out++
			i += 2
			continue
		case escapeLen(data[i:]) == 0:
			d.fail(i, reasonEscape)
			return ""
		}
		r, n := escaped(data[i:])
		out += utf8.EncodeRune(data[out:], r)
		i += n
	}
}

// rewritten returns as a string what was decoded from start to out, of a literal whose content went on to end.
func (d *Decoder) rewritten(start, out, end int) string {
	content := d.data[start:out]
	var text string
	if validUTF8(content) {
		text = d.share(content)
	} else {
		text = view(repaired(content))
	}
	if out < end {
		d.inPlace = append(d.inPlace, rewrite{start, end, text})
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
