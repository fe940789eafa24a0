package sse_test

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/sse"
)

var (
	lineEnd = regexp.MustCompile(`\r\n|\r|\n`)
	digits  = regexp.MustCompile(`^[0-9]+$`)
)

// A reference reads a whole stream by the plainest means.
type reference struct {
	limit   int
	event   sse.Event
	lines   []string // of data
	size    int      // of the lines, joined
	over    bool
	results []result
}

func expected(text string, limit int) []result {
	ref := reference{limit: limit}
	lines := lineEnd.Split(strings.TrimPrefix(text, "\ufeff"), -1)
	for _, line := range lines[:len(lines)-1] {
		ref.line(line)
	}
	ref.end(lines[len(lines)-1])
	return ref.results
}

func (ref *reference) line(line string) {
	if line == "" {
		ref.blank()
		return
	}
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	if name != "data" && len(line) >= 64<<10 {
		return
	}
	switch name {
	case "data":
		ref.data(value)
	case "id":
		if !strings.Contains(value, "\x00") {
			ref.event.ID, ref.event.HasID = value, true
		}
	case "event":
		if ref.event.Type = value; value == "message" {
			ref.event.Type = ""
		}
	case "retry":
		if digits.MatchString(value) {
			ms, err := strconv.ParseInt(value, 10, 64)
			if most := int64(1<<63-1) / 1e6; err != nil || ms > most {
				ms = most
			}
			ref.event.Retry, ref.event.HasRetry = time.Duration(ms)*time.Millisecond, true
		}
	}
}

func (ref *reference) data(value string) {
	if ref.over {
		return
	}
	if ref.lines != nil {
		ref.size++
	}
	ref.size += len(value)
	ref.lines = append(ref.lines, value)
	if ref.size <= ref.limit {
		return
	}
	all := strings.Join(ref.lines, "\n")
	ref.event.Data = []byte(all[:min(ref.limit, sse.PrefixBytes)])
	ref.results = append(ref.results, result{Event: ref.event, TooLarge: true})
	ref.event, ref.lines, ref.size, ref.over = sse.Event{}, nil, 0, true
}

func (ref *reference) blank() {
	if ref.lines != nil {
		ref.event.Data = []byte(strings.Join(ref.lines, "\n"))
	}
	if ref.event.HasID || ref.event.HasRetry || ref.lines != nil {
		ref.results = append(ref.results, result{Event: ref.event})
	}
	ref.event, ref.lines, ref.size, ref.over = sse.Event{}, nil, 0, false
}

func (ref *reference) end(unfinished string) {
	if strings.HasPrefix(unfinished, "data:") {
		ref.line(unfinished)
	}
	if e := ref.event; e.HasRetry {
		ref.results = append(ref.results, result{Event: sse.Event{Retry: e.Retry, HasRetry: true}})
	}
	if ref.lines != nil && !ref.over {
		rest := sse.Event{Type: ref.event.Type, Data: []byte(strings.Join(ref.lines, "\n"))}
		ref.results = append(ref.results, result{Event: rest, Unfinished: true})
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\ufeffevent: a\rid: 1\r\ndata: x\ndata: y\r\n\r\n: c\nretry: 12\n\n"),
		uint16(3), uint64(1), uint16(3), uint16(1000))
	f.Add([]byte("data: abc\r\n\r\n"), uint16(2000), uint64(2), uint16(5000), uint16(2))
	f.Add([]byte("data: abc\r\r"), uint16(20_000), uint64(2), uint16(60_000), uint16(3))
	f.Add([]byte("data:xxxxxxxxxxxxxxx"), uint16(20_000), uint64(3), uint16(60_000), uint16(65_535))
	f.Add([]byte("data:x\nid:9\x00\ndata\nretry:99999999999999999999\n"), uint16(9), uint64(4), uint16(0), uint16(7))
	f.Add([]byte("id: 12345678901234567890"), uint16(8000), uint64(5), uint16(40_000), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, times uint16, seed uint64, most, fourth uint16) {
		text = bytes.Repeat(text, min(int(times), 1+1<<18/(1+len(text))))
		if times%2 == 1 {
			text = append(text, "\n\ndata: end\n\n"...)
		}
		limit := 1 + int(fourth)*4
		random := rand.New(rand.NewPCG(seed, 0))
		want := expected(string(text), limit)
		got := results(t, splitReader{bytes.NewReader(text), random, 1 + int(most)}, limit)
		require.Len(t, got, len(want))
		for i := range got {
			if !equal(got[i], want[i]) {
				require.Equal(t, want[i], got[i])
			}
		}
	})
}

func equal(a, b result) bool {
	same := bytes.Equal(a.Data, b.Data) && (a.Data == nil) == (b.Data == nil)
	a.Data, b.Data = nil, nil
	return same && a.Type == b.Type && a.ID == b.ID && a.HasID == b.HasID && a.Retry == b.Retry &&
		a.HasRetry == b.HasRetry && a.TooLarge == b.TooLarge && a.Unfinished == b.Unfinished
}
