package sse

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An idle stream, of which hosts have many, waits with its small buffer only, and so does one that is left alone.
func TestTheLargeBufferGoesBack(t *testing.T) {
	large := "data: " + strings.Repeat("x", 3*chunkBytes) + "\n\n"
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
			assert.Nil(t, r.in.large)
			for ; err == nil; _, err = r.Next() {
				assert.Nil(t, r.in.large)
			}
			assert.Nil(t, r.in.large)
			assert.Empty(t, r.in.parts)
		})
	}
}

func TestAnUnfinishedEventHoldsNothing(t *testing.T) {
	for _, text := range []string{"data: ", "data: a\ndata: b", ":", ""} {
		r := NewReader(strings.NewReader(text+strings.Repeat("x", 3*chunkBytes)), 0)
		_, err := r.Next()
		assert.Equal(t, io.EOF, err)
		assert.Nil(t, r.in.large)
		assert.Empty(t, r.in.parts)
		assert.Zero(t, r.event)
	}
}

// A search for line feeds at each of many lines that end otherwise would be quadratic.
func TestNoByteIsSearchedTwiceForALineFeed(t *testing.T) {
	b := buffer{src: strings.NewReader("\r\r\r\r")}
	b.release()
	for from := b.more(); from < 4; from = b.start {
		at, found := b.lineEnd(from)
		assert.True(t, found)
		assert.Equal(t, from, at)
		b.pass(at)
		assert.Equal(t, 4, b.lf)
		if from == 0 {
			b.buf[2] = '\n' // a second search would find it
		}
	}
}
