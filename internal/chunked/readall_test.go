package chunked_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/chunked"
)

func TestReadAll(t *testing.T) {
	const limit = 3 * chunked.ChunkBytes
	all := make([]byte, limit+1)
	for i := range all {
		all[i] = byte(i % 251)
	}
	for _, size := range []int{
		0, 1, 511, 512, 513, chunked.ChunkBytes, chunked.ChunkBytes + 512, chunked.ChunkBytes + 513,
		limit - 1, limit, limit + 1,
	} {
		for name, r := range map[string]io.Reader{
			"whole":    bytes.NewReader(all[:size]),
			"halves":   iotest.HalfReader(bytes.NewReader(all[:size])),
			"data+EOF": iotest.DataErrReader(bytes.NewReader(all[:size])),
		} {
			for _, hint := range []int64{-1, int64(size), int64(size / 2), 0} {
				data, over, err := chunked.ReadAll(r, limit, hint)
				assert.NoError(t, err)
				assert.Equal(t, size > limit, over, "%d bytes, hint %d, %s", size, hint, name)
				if !over {
					assert.True(t, bytes.Equal(all[:size], data), "%d bytes, hint %d, %s", size, hint, name)
				}
				r = bytes.NewReader(all[:size])
			}
		}
	}
}

func TestReadAllOverTheLimit(t *testing.T) {
	_, over, err := chunked.ReadAll(nil, 10, 11)
	assert.True(t, over, "the size that the sender names is enough")
	assert.NoError(t, err)

	r, w := io.Pipe()
	defer r.Close()
	go func() { _, _ = w.Write(make([]byte, 11)) }() // and nothing after it: the end is not waited for
	_, over, err = chunked.ReadAll(r, 10, -1)
	assert.True(t, over)
	assert.NoError(t, err)
}

func TestReadAllWithoutALimit(t *testing.T) {
	all := make([]byte, chunked.ChunkBytes)
	for _, hint := range []int64{-1, int64(len(all)), 1 << 50, math.MaxInt64} {
		data, over, err := chunked.ReadAll(bytes.NewReader(all), math.MaxInt, hint)
		assert.NoError(t, err)
		assert.False(t, over)
		assert.Len(t, data, len(all), "what the sender names is not believed")
	}
}

func TestReadAllOfABrokenReader(t *testing.T) {
	errBroken := errors.New("broken")
	for _, size := range []int{0, 100, 1000, chunked.ChunkBytes + 1000} {
		r := io.MultiReader(bytes.NewReader(make([]byte, size)), iotest.ErrReader(errBroken))
		_, _, err := chunked.ReadAll(r, 1<<20, -1)
		assert.ErrorIs(t, err, errBroken)
	}
	cut := io.MultiReader(bytes.NewReader(make([]byte, 100)), iotest.ErrReader(io.ErrUnexpectedEOF))
	_, _, err := chunked.ReadAll(cut, 1<<20, -1)
	assert.Error(t, err, "a body that ended early is no whole one")
}
