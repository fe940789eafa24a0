//go:build !race

package sse_test

// The race detector makes sync.Pool forget at random, so these numbers hold without it only.

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

func TestAllocationsOfAnEvent(t *testing.T) {
	small := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hello"}]}}`
	for name, test := range map[string]struct {
		text string
		most float64
	}{
		"data":            {"data: " + small + "\n\n", 1},
		"message":         {"event: message\ndata: " + small + "\n\n", 1},
		"message with ID": {"event: message\r\nid: 123_456\r\ndata: " + small + "\r\n\r\n", 2},
		"type with ID":    {"event: other\nid: 123_456\ndata: " + small + "\n\n", 2},
		"retry":           {"retry: 500\n\n", 0},
		"comments":        {strings.Repeat(": ping\n\n", 50) + "data: " + small + "\n\n", 1},
		"two lines":       {"data: " + small + "\ndata: " + small + "\n\n", 2},
		"1 MiB":           {"data: " + string(filled(1<<20)) + "\n\n", 8},
	} {
		t.Run(name, func(t *testing.T) {
			r := sse.NewReader(&repeated{text: test.text}, 0)
			allocs := testing.AllocsPerRun(500, func() {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			})
			assert.LessOrEqual(t, allocs, test.most)
		})
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestWhatNobodyWantsTakesNoMemory(t *testing.T) {
	long := string(filled(70_000))
	for name, test := range map[string]struct{ lead, again string }{
		"a comment":            {":", long},
		"a line over it":       {"data: ", long},
		"lines over it":        {"data: " + long, "\ndata: " + long},
		"an unknown field":     {"datax: ", long},
		"short comments":       {"", strings.Repeat(":\n", 10_000)},
		"short lines over it":  {"data: " + long + "\n", strings.Repeat("data\nevent:e\ndata:a\n", 1000)},
		"comments inside data": {"data: a\n", ":" + long + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			src := io.MultiReader(strings.NewReader(test.lead), io.LimitReader(&repeated{text: test.again}, 8<<20))
			r := sse.NewReader(splitReader{src, nil, 4096}, 64<<10)
			taken := allocated(func() {
				for {
					_, err := r.Next()
					if err == io.EOF {
						return
					}
					if !errors.Is(err, transport.ErrMessageTooLarge) {
						require.NoError(t, err)
					}
				}
			})
			assert.Less(t, taken, uint64(1<<20))
		})
	}
}

// The time is linear where the bytes that are copied are: they are counted by what is allocated for them.
func TestALargeEventInSmallReads(t *testing.T) {
	const size = 64 << 20
	text := io.MultiReader(strings.NewReader("data: "), io.LimitReader(&repeated{text: string(filled(5000))}, size),
		strings.NewReader("\n\n"))
	r := sse.NewReader(splitReader{text, nil, 4096}, size)
	taken := allocated(func() {
		event, err := r.Next()
		require.NoError(t, err)
		assert.Len(t, event.Data, size)
	})
	assert.Less(t, taken, uint64(2*size+1<<20))
}
