package llmcontent

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

var cutLine = regexp.MustCompile(`\n\[(\d+) bytes removed here: about (\d+) tokens, (\d+) lines(.*)\]\n`)

// lines returns numbered lines of ten bytes each.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%08d.\n", i)
	}
	return b.String()
}

func TestLimitCutsTheMiddle(t *testing.T) {
	for name, test := range map[string]struct {
		limit Limit
		most  int
	}{"by default": {Limit{}, 20 << 10}, "as set": {Limit{Bytes: 1000}, 1000}} {
		t.Run(name, func(t *testing.T) {
			text := lines(test.most/10 + 1)
			fits := text[:test.most]
			assert.Equal(t, fits, test.limit.Text(fits))

			got := test.limit.Text(text)
			assert.LessOrEqual(t, len(got), test.most)
			assert.Greater(t, len(got), test.most-10)
			m := cutLine.FindStringSubmatchIndex(got)
			require.NotNil(t, m)
			head, tail := got[:m[0]], got[m[1]:]
			assert.True(t, strings.HasPrefix(text, head))
			assert.True(t, strings.HasSuffix(text, tail))
			assert.InDelta(t, len(head), len(tail), 1)
			gone := text[len(head) : len(text)-len(tail)]
			assert.Equal(t, strconv.Itoa(len(gone)), got[m[2]:m[3]])
			assert.Equal(t, strconv.Itoa(len(gone)/4), got[m[4]:m[5]])
			assert.Equal(t, strconv.Itoa(strings.Count(gone, "\n")), got[m[6]:m[7]])
		})
	}
}

func TestLimitSavesTheWhole(t *testing.T) {
	text, saved := lines(100), ""
	l := Limit{Bytes: 300, Save: func(s string) (string, error) { saved = s; return "/tmp/whole.txt", nil }}
	got := l.Text(text)
	assert.Equal(t, text, saved)
	assert.Contains(t, got, "lines; the whole text is in /tmp/whole.txt]\n")
	assert.LessOrEqual(t, len(got), 300)

	saved = ""
	l.Text("short")
	assert.Empty(t, saved, "what is not cut is not saved")

	l.Save = func(string) (string, error) { return "", errors.New("disk\nfull") }
	assert.Contains(t, l.Text(text), "lines; the whole text could not be saved: disk full]\n")
	l.Save = func(string) (string, error) { return "", errors.New(strings.Repeat("x", 9000)) }
	assert.LessOrEqual(t, len(l.Text(text)), 400)
}

func TestLimitCutsBetweenCharacters(t *testing.T) {
	for _, text := range []string{strings.Repeat("€", 500), strings.Repeat("😀", 500), "a" + strings.Repeat("ü€😀", 300)} {
		for most := 200; most < 212; most++ {
			got := Limit{Bytes: most}.Text(text)
			assert.True(t, utf8.ValidString(got), "%d", most)
			assert.LessOrEqual(t, len(got), most)
		}
	}
	bad := strings.Repeat("\x80", 500)
	assert.LessOrEqual(t, len(Limit{Bytes: 200}.Text(bad)), 200)
}

func TestLimitWithNoRoomForText(t *testing.T) {
	got := Limit{Bytes: 1}.Text(lines(10))
	assert.Equal(t, "\n[100 bytes removed here: about 25 tokens, 10 lines]\n", got)
}

func TestLimitOverBlocks(t *testing.T) {
	picture := Block{Image: &Image{MIMEType: "image/png", Data: png}}
	var whole string
	l := Limit{Bytes: 200, Save: func(s string) (string, error) { whole = s; return "w", nil }}
	blocks := []Block{{Text: lines(10)}, picture, {Text: lines(5)}, {Text: lines(10)}}
	got := l.Blocks(blocks)
	require.Len(t, got, 3, "the block in the middle is gone, the image is not")
	assert.Equal(t, picture, got[1])
	assert.Regexp(t, `^00000000\.\n(.*\n)+.*\n\[\d+ bytes removed here: .* the whole text is in w\]\n$`, got[0].Text)
	assert.True(t, strings.HasSuffix(got[2].Text, "00000009.\n"))
	assert.LessOrEqual(t, len(got[0].Text)+len(got[2].Text), 200)
	assert.Equal(t, lines(10)+"\n"+lines(5)+"\n"+lines(10), whole)
	assert.Equal(t, lines(5), blocks[2].Text, "the caller's blocks stay")

	small := []Block{{Text: "a"}, picture}
	assert.Equal(t, small, l.Blocks(small))
	r := &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(lines(100))}}
	assert.LessOrEqual(t, len(FromResult(r, WithLimit(l))[0].Text), 200)
}

func FuzzLimit(f *testing.F) {
	f.Add("some text that is long enough to be cut somewhere in its middle", "and more", 60)
	f.Add("€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€€", "\x80\x80", 70)
	f.Fuzz(func(t *testing.T, a, b string, most int) {
		got := Limit{Bytes: most}.Blocks([]Block{{Text: a}, {Text: b}})
		if most <= 0 {
			most = DefaultLimit
		}
		total, room := 0, max(most, len(notice(len(a)+len(b), len(a)+len(b), "")))
		for _, block := range got {
			total += len(block.Text)
			if utf8.ValidString(a) && utf8.ValidString(b) {
				assert.True(t, utf8.ValidString(block.Text))
			}
		}
		assert.LessOrEqual(t, total, room)
	})
}
