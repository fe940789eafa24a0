package tail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// drain reads the parts as separate reads.
func drain(w io.Writer, parts ...string) *Tail {
	var readers []io.Reader
	for _, part := range parts {
		readers = append(readers, strings.NewReader(part))
	}
	t := Start(io.MultiReader(readers...), w)
	<-t.Ended()
	return t
}

func TestTextIsTheEnd(t *testing.T) {
	all := numberedLines(20_000)
	assert.Greater(t, len(all), 2*Size)
	for _, size := range []int{0, 1, Size - 1, Size, Size + 1, Size + 8<<10, 2*Size + 7, len(all)} {
		text := drain(nil, all[:size/3], all[size/3:size]).Text()
		assert.Equal(t, all[max(0, size-Size):size], text, "after %d bytes", size)
	}
}

func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestTextIsUTF8(t *testing.T) {
	assert.Equal(t, "a\uFFFDb", drain(nil, "a\xffb").Text())
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("x", ExcerptSize)
	euros := strings.Repeat("€", ExcerptSize) // three bytes each, so that the cut falls into one
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"blank around it", "\n boom \r\n\n", "boom"},
		{"more lines than fit", "first\n" + "second " + long[:ExcerptSize-12] + "\nthird", "third"},
		{"lines that fit exactly", "first\n" + long, long},
		{"one long line", "y" + long, long},
		{"a character at the cut", euros, euros[:ExcerptSize/3*3]},
	} {
		assert.Equal(t, test.want, Excerpt(test.text), test.name)
	}
}

func TestWriterGetsAll(t *testing.T) {
	var out bytes.Buffer
	tail := drain(&out, "one\n", "two\n")
	<-tail.Flushed()
	assert.Equal(t, "one\ntwo\n", out.String())
	assert.Equal(t, "one\ntwo\n", tail.Text())
}

func TestStuckWriterStallsNothing(t *testing.T) {
	out := &gatedWriter{entered: make(chan struct{}), gate: make(chan struct{})}
	r, w := io.Pipe()
	tail := Start(r, out)
	fmt.Fprint(w, "first\n")
	<-out.entered // it holds the first line from here on
	all := strings.Repeat("x", QueueSize) + "lost" + " end"
	fmt.Fprint(w, all)
	w.Close()
	<-tail.Ended()
	assert.True(t, strings.HasSuffix(tail.Text(), "lost end"))

	close(out.gate)
	<-tail.Flushed()
	want := "first\n" + all[:QueueSize] + "\n[8 bytes of stderr dropped]\n"
	assert.Equal(t, want, out.String())
}

// gatedWriter blocks in each Write until the gate is open.
type gatedWriter struct {
	bytes.Buffer
	entered chan struct{}
	gate    chan struct{}
}

func (g *gatedWriter) Write(p []byte) (int, error) {
	select {
	case g.entered <- struct{}{}:
	case <-g.gate:
	}
	<-g.gate
	return g.Buffer.Write(p)
}

func TestFailedWriterIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &failingWriter{}
		r, w := io.Pipe()
		tail := Start(r, out)
		for range 3 {
			fmt.Fprint(w, "again\n")
			synctest.Wait()
		}
		w.Close()
		<-tail.Flushed()
		<-tail.Ended()
		assert.Equal(t, 1, out.calls)
		assert.Equal(t, "again\nagain\nagain\n", tail.Text())
	})
}

func TestAWriterThatEndsItsGoroutineIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		tail := Start(r, exitingWriter{})
		fmt.Fprint(w, "a\n")
		<-tail.Flushed()
		fmt.Fprint(w, "b\n")
		synctest.Wait()
		assert.Empty(t, tail.relay.queue, "nothing waits for it")
		w.Close()
		<-tail.Ended()
	})
}

type exitingWriter struct{}

func (exitingWriter) Write([]byte) (int, error) {
	runtime.Goexit()
	return 0, nil
}

type failingWriter struct{ calls int }

func (f *failingWriter) Write([]byte) (int, error) {
	f.calls++
	return 0, errors.New("disk full")
}
