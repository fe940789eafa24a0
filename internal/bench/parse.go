package main

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed62b61957/mcp/internal/sse"
	"github.com/seed62b61957/mcp/transport"
)

// A parsing is how fast messages are taken out of bytes that are there already, beside copying their lines.
type parsing struct {
	name        string
	floor, ours float64 // MB/s
}

// parsings measures the two framings, with small and with large messages.
func parsings(rounds int, scale float64) ([]parsing, error) {
	var all []parsing
	for _, size := range []struct {
		name  string
		bytes int
	}{{"messages of 100 B", 100}, {"messages of 1 MiB", 1 << 20}} {
		message := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", size.bytes) + `"}}`
		for _, framing := range []struct {
			name, text string
			open       func(io.Reader) (next func() error)
		}{
			{"lines", message + "\n", openLines},
			{"SSE", "event: message\ndata: " + message + "\n\n", openEvents},
		} {
			p := parsing{name: framing.name + ", " + size.name}
			var floors, rates []float64
			for range rounds {
				for _, side := range []struct {
					open  func(io.Reader) (next func() error)
					rates *[]float64
				}{{openCopy(strings.Count(framing.text, "\n")), &floors}, {framing.open, &rates}} {
					rate, err := megabytes(framing.text, side.open, time.Duration(float64(300*time.Millisecond)*scale))
					if err != nil {
						return nil, err
					}
					*side.rates = append(*side.rates, rate)
				}
			}
			p.floor, p.ours = middle(floors), middle(rates)
			all = append(all, p)
		}
	}
	return all, nil
}

func openLines(r io.Reader) func() error {
	conn := transport.NewStream(onlyReader{r}, nil)
	return func() error {
		_, err := conn.Receive(context.Background())
		return err
	}
}

func openEvents(r io.Reader) func() error {
	events := sse.NewReader(r, 0)
	return func() error {
		event, err := events.Next()
		for range transport.Decode(event.Data) {
		}
		return err
	}
}

// openCopy copies so many lines at a time.
func openCopy(lines int) func(io.Reader) func() error {
	return func(r io.Reader) func() error {
		in := bufio.NewReaderSize(r, 64<<10)
		return func() error {
			for range lines {
				if _, err := in.ReadBytes('\n'); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// megabytes reads a text that never ends for about as long as given, and returns how many it took a second.
func megabytes(text string, open func(io.Reader) (next func() error), long time.Duration) (float64, error) {
	next := open(&repeated{text: text})
	n, start := 0, time.Now()
	for time.Since(start) < long {
		for range max(1, (1<<20)/len(text)) {
			if err := next(); err != nil {
				return 0, err
			}
			n += len(text)
		}
	}
	return float64(n) / 1e6 / time.Since(start).Seconds(), nil
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// repeated is a text without an end.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	n = copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

type onlyReader struct{ io.Reader }

func (onlyReader) Write(p []byte) (int, error) { return len(p), nil }
func (onlyReader) Close() error                { return nil }
