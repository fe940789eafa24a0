package sse

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/chunked"
)

// An idle stream, of which hosts have many, waits with its small buffer only, and so does one that is left alone.
func TestTheLargeBufferGoesBack(t *testing.T) {
	large := "data: " + strings.Repeat("x", 3*chunked.ChunkBytes) + "\n\n"
	for name, end := range map[string]string{
		"no more":       "",
		"a comment":     ": ping\n\n",
		"a LF":          "\r\n",
		"a small event": "data\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			src, out := io.Pipe()
			go func() {
				io.WriteString(out, large)
				io.WriteString(out, end)
				out.Close()
			}()
			r := NewReader(src, 0)
			_, err := r.Next()
			require.NoError(t, err)
			assert.True(t, r.in.Idle())
			for ; err == nil; _, err = r.Next() {
				assert.True(t, r.in.Idle())
			}
			assert.True(t, r.in.Idle())
		})
	}
}

func TestAnUnfinishedEventHoldsNothing(t *testing.T) {
	for _, text := range []string{"data: ", "data: a\ndata: b", ":", ""} {
		r := NewReader(strings.NewReader(text+strings.Repeat("x", 3*chunked.ChunkBytes)), 0)
		_, err := r.Next()
		assert.Equal(t, io.EOF, err)
		assert.True(t, r.in.Idle())
		assert.Zero(t, r.event)
	}
}

// A search for line feeds at each of many lines that end otherwise would be quadratic.
func TestNoByteIsSearchedTwiceForALineFeed(t *testing.T) {
	b := buffer{Buffer: chunked.Buffer{Src: strings.NewReader("\r\r\r\r")}}
	b.release()
	for from := b.more(); from < 4; from = b.Start {
		at, found := b.lineEnd(from)
		assert.True(t, found)
		assert.Equal(t, from, at)
		b.pass(at)
		assert.Equal(t, 4, b.lf)
		if from == 0 {
			b.Buf[2] = '\n' // a second search would find it
		}
	}
}
