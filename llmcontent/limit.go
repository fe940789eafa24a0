package llmcontent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// DefaultLimit is the bytes of text that a [Limit] leaves where it does not say otherwise: 20 KiB.
const DefaultLimit = 20 << 10

// A Limit cuts text that is too long for a model: the middle goes, and a line in its place says how much that was. The
// zero value leaves 20 KiB. It does not change, and may be used from many goroutines if Save may.
type Limit struct {
	// Bytes of text that are left, that line included; 0 means DefaultLimit. With fewer than about 200, there is room
	// for that line only, and the line may be longer.
	Bytes int

	// Save, if set, keeps the whole text where the model or the user can get at it, and returns the path (or any other
	// name) for that line. If it fails, the line says so.
	Save func(text string) (path string, err error)
}

// Text returns the text, cut if it is too long.
func (l Limit) Text(text string) string {
	pieces := []string{text}
	l.cut(pieces)
	return pieces[0]
}

// Blocks returns the blocks with their text cut where it is too long over all blocks together. Images stay, and blocks
// of text of which nothing is left go. The text that is saved has a line break between two blocks.
func (l Limit) Blocks(blocks []Block) []Block {
	pieces := make([]string, len(blocks))
	for i, b := range blocks {
		pieces[i] = b.Text
	}
	if !l.cut(pieces) {
		return blocks
	}
	kept := make([]Block, 0, len(blocks))
	for i, b := range blocks {
		if b.Text = pieces[i]; !b.isBlank() {
			kept = append(kept, b)
		}
	}
	return kept
}

// cut shortens the pieces of a text, and reports whether that was needed. The line about it goes to the piece where the
// cut begins.
func (l Limit) cut(pieces []string) bool {
	most, total := l.Bytes, 0
	if most <= 0 {
		most = DefaultLimit
	}
	for _, piece := range pieces {
		total += len(piece)
	}
	if total <= most {
		return false
	}
	where := l.save(pieces)
	room := max(most-len(notice(total, total, where)), 0) // the numbers will be no longer than that of the whole
	head, tail := room-room/2, total-room/2
	start, removed, lines := 0, 0, 0
	first, offset := 0, 0 // the piece with the beginning of the cut
	for i, piece := range pieces {
		from, to := before(piece, head-start), after(piece, tail-start)
		start += len(piece)
		if from >= to {
			continue
		}
		if removed == 0 {
			first, offset = i, from
		}
		removed += to - from
		lines += strings.Count(piece[from:to], "\n")
		pieces[i] = piece[:from] + piece[to:]
	}
	pieces[first] = pieces[first][:offset] + notice(removed, lines, where) + pieces[first][offset:]
	return true
}

// before returns the last boundary between characters at or before n, after the first one at or after it.
func before(text string, n int) int {
	n = min(max(n, 0), len(text))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

func after(text string, n int) int {
	n = min(max(n, 0), len(text))
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}

// bytesPerToken is what the tokens of large models have on average in English; other text has less.
const bytesPerToken = 4

func notice(removed, lines int, where string) string {
	return fmt.Sprintf("\n[%d bytes removed here: about %d tokens, %d lines%s]\n",
		removed, removed/bytesPerToken, lines, where)
}

// save keeps the whole text, and returns where it is in words for the line about the cut.
func (l Limit) save(pieces []string) string {
	if l.Save == nil {
		return ""
	}
	whole := slices.DeleteFunc(slices.Clone(pieces), func(piece string) bool { return piece == "" })
	path, err := l.Save(strings.Join(whole, "\n"))
	if err != nil {
		return "; the whole text could not be saved: " + clip(oneLine(err.Error()), maxSummary)
	}
	return "; the whole text is in " + path
}
