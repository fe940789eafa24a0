package sse_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/sse"
)

func data(text string) sse.Event { return sse.Event{Data: []byte(text)} }

func dataWithID(id, text string) sse.Event { return sse.Event{ID: id, HasID: true, Data: []byte(text)} }

func retry(ms time.Duration) sse.Event {
	return sse.Event{Retry: ms * time.Millisecond, HasRetry: true}
}

func TestGrammar(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []sse.Event
	}{
		"nothing":             {"", nil},
		"blank lines":         {"\n\r\n\r\n\n", nil},
		"one line":            {"data: a\n\n", []sse.Event{data("a")}},
		"lines are joined":    {"data: a\ndata: b\ndata:\n\n", []sse.Event{data("a\nb\n")}},
		"an empty first line": {"data:\ndata: a\n\n", []sse.Event{data("\na")}},
		"one space goes": {
			"data:  a \n\ndata:b\n\ndata:\tc\n\n",
			[]sse.Event{data(" a "), data("b"), data("\tc")},
		},
		"colons in the value": {"data::a:b\n\n", []sse.Event{data(":a:b")}},
		"no colon":            {"data\n\ndata\ndata\n\n", []sse.Event{data(""), data("\n")}},
		"CRLF": {
			"data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n",
			[]sse.Event{data("a\nb"), data("c")},
		},
		"CR": {"data: a\rdata: b\r\rdata: c\r\r", []sse.Event{data("a\nb"), data("c")}},
		"a mix of line ends": {
			"data: a\r\ndata: b\n\rdata: c\r\n\n",
			[]sse.Event{data("a\nb"), data("c")},
		},
		"LF CR are two":   {"data: a\n\rdata: b\n\n", []sse.Event{data("a"), data("b")}},
		"CR CRLF are two": {"data: a\r\r\ndata: b\n\n", []sse.Event{data("a"), data("b")}},
		"byte order mark": {"\ufeffdata: a\n\n", []sse.Event{data("a")}},
		"only one mark":   {"\ufeff\ufeffdata: a\ndata: b\n\n", []sse.Event{data("b")}},
		"a mark later on": {
			"data: a\n\n\ufeffdata: b\n\ndata: \ufeff\n\n",
			[]sse.Event{data("a"), data("\ufeff")},
		},
		"half a mark":             {"\xef\xbbdata: a\n\ndata: b\n\n", []sse.Event{data("b")}},
		"a mark and a blank line": {"\ufeff\n\ndata: a\n\n", []sse.Event{data("a")}},
		"comments":                {": hello\n:\n\n:data: x\ndata: a\n: data: b\n\n", []sse.Event{data("a")}},
		"unknown fields": {
			"datax: 1\nDATA: 2\n data: 3\ndata : 4\nd: 5\nfoo\ndata: a\n\n",
			[]sse.Event{data("a")},
		},
		"a type": {
			"event: endpoint\ndata: /a\n\ndata: b\n\n",
			[]sse.Event{{Type: "endpoint", Data: []byte("/a")}, data("b")},
		},
		"the default type by name": {
			"event: message\ndata: a\n\nevent: ping\nevent:message\ndata\n\n",
			[]sse.Event{data("a"), data("")},
		},
		"the last type counts": {
			"event: a\nevent: b\ndata\n\nevent: b\nevent\ndata\n\n",
			[]sse.Event{{Type: "b", Data: []byte{}}, data("")},
		},
		"a type alone": {"event: a\n\ndata: b\n\n", []sse.Event{data("b")}},
		"an ID": {
			"id: 1\ndata: a\n\ndata: b\n\n",
			[]sse.Event{dataWithID("1", "a"), data("b")},
		},
		"the last ID counts": {"id: 1\ndata\nid:2\n\n", []sse.Event{dataWithID("2", "")}},
		"an ID with NUL":     {"id: 1\nid: 2\x003\ndata\n\n", []sse.Event{dataWithID("1", "")}},
		"an empty ID":        {"id\n\nid:\n\n", []sse.Event{{HasID: true}, {HasID: true}}},
		"priming": {"id: 1\nretry: 500\ndata:\n\n", []sse.Event{
			{ID: "1", HasID: true, Data: []byte{}, Retry: 500 * time.Millisecond, HasRetry: true},
		}},
		"priming without data": {
			"id: 1\n\nid: 2\n\n",
			[]sse.Event{{ID: "1", HasID: true}, {ID: "2", HasID: true}},
		},
		"retry": {"retry: 0\n\nretry:010\n\n", []sse.Event{retry(0), retry(10)}},
		"a bad retry": {
			"retry: -1\nretry: +1\nretry: 1.5\nretry: 1s\nretry: 1_0\nretry:\nretry: \u0661\nretry:  1\ndata: a\n\n",
			[]sse.Event{data("a")},
		},
		"a bad retry after another": {"retry: 1\nretry: x\n\n", []sse.Event{retry(1)}},
		"unfinished":                {"data: a\n\nid: 1\ndata: b\n", []sse.Event{data("a")}},
		"unfinished line":           {"data: a\n\ndata: b", []sse.Event{data("a")}},
		"unfinished after CR":       {"data: a\r\rdata: b\r", []sse.Event{data("a")}},
		"retry is never unfinished": {"id: 1\ndata: a\nretry: 500\n", []sse.Event{retry(500)}},
		"unless its line is":        {"retry: 500", nil},
		"characters": {
			"data: \u00e9\U0001f600\x00\xff\n\n",
			[]sse.Event{data("\u00e9\U0001f600\x00\xff")},
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, events(t, test.text)) })
	}
}

func TestAnEventWithoutItsBlankLine(t *testing.T) {
	unfinished := func(typ, text string) []result {
		return []result{{Event: sse.Event{Type: typ, Data: []byte(text)}, Unfinished: true}}
	}
	for text, want := range map[string][]result{
		"data: a\n":                  unfinished("", "a"),
		"data: a":                    unfinished("", "a"),
		"data: a\r":                  unfinished("", "a"),
		"event: e\nid: 1\ndata: a\n": unfinished("e", "a"),
		"data: a\ndata: b":           unfinished("", "a\nb"),
		"data: a\ndata":              unfinished("", "a"), // the line may have gone on as another field
		"data: a\nretry: 7\n":        append([]result{{Event: retry(7)}}, unfinished("", "a")...),
		"event: e\n":                 nil,
		"id: 1\n":                    nil,
	} {
		assert.Equal(t, want, results(t, strings.NewReader(text), 0), "%q", text)
		assert.Equal(t, want, results(t, splitReader{strings.NewReader(text), nil, 1}, 0), "%q, by the byte", text)
	}
}

func TestRetryOfAnySize(t *testing.T) {
	const most = math.MaxInt64 / int64(time.Millisecond)
	for digits, want := range map[string]time.Duration{
		"9223372036854":           time.Duration(most) * time.Millisecond,
		"9223372036855":           time.Duration(most) * time.Millisecond,
		"18446744073709551616":    time.Duration(most) * time.Millisecond,
		strings.Repeat("9", 1000): time.Duration(most) * time.Millisecond,
		strings.Repeat("0", 1000): 0,
	} {
		got := events(t, "retry: "+digits+"\n\n")
		assert.Equal(t, []sse.Event{{Retry: want, HasRetry: true}}, got, digits)
	}
}

// An event that is complete must not wait for the next byte, which may be minutes away.
func TestAnEventIsReturnedAtOnce(t *testing.T) {
	for name, texts := range map[string][]string{
		"LF":                    {"data: a\n\n"},
		"CRLF":                  {"data: a\r\n\r\n"},
		"CRLF, up to the CR":    {"data: a\r\n\r"},
		"CR":                    {"data: a\r\r"},
		"CR, one by one":        {"data: a", "\r", "\r"},
		"CRLF, split":           {"data: a\r", "\n\r"},
		"LF, by the byte":       {"d", "a", "t", "a", ":", "a", "\n", "\n"},
		"after a mark":          {"\ufeff", "data:a\n", "\n"},
		"after a split mark":    {"\xef", "\xbb", "\xbfdata:a\n\n"},
		"shorter than a mark":   {"\n", "data:a\n\n"},
		"with the LF before it": {"\r", "\ndata: a\r", "\n\r"},
	} {
		t.Run(name, func(t *testing.T) {
			stream := &script{t, texts}
			r := sse.NewReader(stream, 0)
			event, err := r.Next()
			assert.NoError(t, err)
			assert.Equal(t, data("a"), event)
			assert.Empty(t, stream.texts)
		})
	}
}

func TestTheLineFeedAfterTheEvent(t *testing.T) {
	stream := &script{t, []string{"data: a\r\n\r", "\n", "\ndata: b\r\r", "data: c\n\n"}}
	r := sse.NewReader(stream, 0)
	for _, want := range []string{"a", "b", "c"} {
		event, err := r.Next()
		assert.NoError(t, err)
		assert.Equal(t, data(want), event)
	}
}
