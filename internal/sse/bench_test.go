package sse_test

import (
	"bufio"
	"strings"
	"testing"

	"github.com/seed62b61957/mcp/internal/sse"
)

func BenchmarkNext(b *testing.B) {
	small := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`
	for name, text := range map[string]string{
		"small":         "event: message\ndata: " + small + "\n\n",
		"small, CR":     "event: message\rdata: " + small + "\r\r",
		"small, ID":     "event: message\r\nid: 123_456\r\ndata: " + small + "\r\n\r\n",
		"16KiB":         "data: " + string(filled(16<<10)) + "\n\n",
		"1MiB":          "data: " + string(filled(1<<20)) + "\n\n",
		"1MiB, CR":      "data: " + string(filled(1<<20)) + "\r\r",
		"1MiB in lines": strings.Repeat("data: "+string(filled(64))+"\n", 1<<14) + "\n",
	} {
		for _, read := range []struct {
			name string
			most int
		}{{"", 1 << 30}, {", 4KiB reads", 4 << 10}} {
			b.Run(name+read.name, func(b *testing.B) {
				r := sse.NewReader(splitReader{&repeated{text: text}, nil, read.most}, 0)
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.Next(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkLarge must take about 64 times as long as an event of 1 MiB.
func BenchmarkLarge(b *testing.B) {
	text := "data: " + string(filled(64<<20)) + "\n\n"
	r := sse.NewReader(splitReader{&repeated{text: text}, nil, 4 << 10}, 64<<20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloor copies the lines by the plainest means, to compare with.
func BenchmarkFloor(b *testing.B) {
	for name, size := range map[string]int{"small": 100, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			text := "data: " + string(filled(size)) + "\n\n"
			lines := bufio.NewReaderSize(&repeated{text: text}, 64<<10)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				for range 2 {
					if _, err := lines.ReadBytes('\n'); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
