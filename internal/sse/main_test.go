package sse_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// A result is what one call of Next returns.
type result struct {
	sse.Event
	TooLarge   bool
	Unfinished bool
}

// results reads src to its end.
func results(t *testing.T, src io.Reader, limit int) []result {
	t.Helper()
	var all []result
	for r := sse.NewReader(src, limit); ; {
		event, err := r.Next()
		if err == io.EOF {
			nothing, again := r.Next()
			require.Equal(t, io.EOF, again)
			require.Zero(t, nothing)
			if event.Data != nil {
				all = append(all, result{Event: event, Unfinished: true})
			}
			return all
		}
		if err != nil {
			require.ErrorIs(t, err, transport.ErrMessageTooLarge)
		}
		all = append(all, result{Event: event, TooLarge: err != nil})
	}
}

// events are the results of a text without an event over the limit, whether it comes at once or by the byte: those that
// are complete.
func events(t *testing.T, text string) []sse.Event {
	t.Helper()
	all := results(t, strings.NewReader(text), 0)
	assert.Equal(t, all, results(t, splitReader{strings.NewReader(text), nil, 1}, 0))
	var complete []sse.Event
	for _, res := range all {
		require.False(t, res.TooLarge)
		if !res.Unfinished {
			complete = append(complete, res.Event)
		}
	}
	return complete
}

// splitReader hands its text out in pieces of random size.
type splitReader struct {
	io.Reader
	random *rand.Rand // nil: pieces of the largest size
	most   int
}

func (s splitReader) Read(p []byte) (int, error) {
	n := s.most
	if s.random != nil {
		n = 1 + s.random.IntN(s.most)
	}
	return s.Reader.Read(p[:min(len(p), n)])
}

// repeated is a stream of one text over and over.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n += c
		r.at = (r.at + c) % len(r.text)
	}
	return n, nil
}

// A script is a stream that hands out each text by one Read, and cannot be read any more after them.
type script struct {
	t     *testing.T
	texts []string
}

func (s *script) Read(p []byte) (int, error) {
	require.NotEmpty(s.t, s.texts, "read on, although a live stream would have nothing more for long")
	n := copy(p, s.texts[0])
	require.Len(s.t, s.texts[0], n)
	s.texts = s.texts[1:]
	return n, nil
}

// filled is n bytes of text.
func filled(n int) []byte { return bytes.Repeat([]byte("x"), n) }
