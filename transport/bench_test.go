package transport_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

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

func BenchmarkReceive(b *testing.B) {
	for name, params := range map[string]string{"small": padded(100), "1MiB": padded(1 << 20)} {
		b.Run(name, func(b *testing.B) {
			text := `{"jsonrpc":"2.0","method":"notifications/progress","params":` + params + "}\n"
			conn := transport.NewStream(reading(&repeated{text: text}), nil)
			defer conn.Close()
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Receive(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFloor reads the same lines by the plainest means, to compare with.
func BenchmarkFloor(b *testing.B) {
	for name, params := range map[string]string{"small": padded(100), "1MiB": padded(1 << 20)} {
		b.Run(name, func(b *testing.B) {
			text := `{"jsonrpc":"2.0","method":"notifications/progress","params":` + params + "}\n"
			lines := bufio.NewReaderSize(&repeated{text: text}, 64<<10)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := lines.ReadBytes('\n'); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSend(b *testing.B) {
	for name, params := range map[string]string{"small": padded(100), "1MiB": padded(1 << 20)} {
		b.Run(name, func(b *testing.B) {
			conn := transport.NewStream(reading(&repeated{text: "\n"}), nil)
			defer conn.Close()
			out := call(1, params)
			b.SetBytes(int64(len(params)))
			b.ReportAllocs()
			for b.Loop() {
				if err := conn.Send(context.Background(), out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEcho sends a message and receives it again, over what a server would be reached by.
func BenchmarkEcho(b *testing.B) {
	for name, open := range map[string]func(testing.TB) (ours, theirs io.ReadWriteCloser){
		"net.Pipe": func(testing.TB) (ours, theirs io.ReadWriteCloser) { return net.Pipe() },
		"os.Pipe": func(tb testing.TB) (ours, theirs io.ReadWriteCloser) {
			in, out := filePipe(tb), filePipe(tb)
			return in.with(out), out.with(in)
		},
	} {
		b.Run(name, func(b *testing.B) {
			ours, theirs := open(b)
			var echo sync.WaitGroup
			echo.Go(func() { io.Copy(theirs, theirs) })
			conn := transport.NewStream(ours, nil)
			out := call(1, padded(100))
			b.ReportAllocs()
			for b.Loop() {
				if err := conn.Send(context.Background(), out); err != nil {
					b.Fatal(err)
				}
				if _, err := conn.Receive(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			conn.Close()
			echo.Wait()
			theirs.Close()
		})
	}
}

type pipeEnds struct{ r, w *os.File }

func filePipe(tb testing.TB) pipeEnds {
	r, w, err := os.Pipe()
	require.NoError(tb, err)
	return pipeEnds{r, w}
}

// with reads from p and writes to q.
func (p pipeEnds) with(q pipeEnds) io.ReadWriteCloser {
	return duplex{p.r, q.w, func() error { return errors.Join(p.r.Close(), q.w.Close()) }}
}
