//go:build linux

package nonblock_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/internal/nonblock"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestAFullPipeTakesNothingMore(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	direct := nonblock.NewWriter(w)
	require.NotNil(t, direct)

	sent := 0
	for n := direct.Write(bytes.Repeat([]byte("x"), 50_000)); n > 0; n = direct.Write(bytes.Repeat([]byte("x"), 50_000)) {
		sent += n
	}
	require.Positive(t, sent)
	require.NoError(t, w.Close())
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Len(t, got, sent, "what was taken, and nothing else, has arrived")
	assert.Zero(t, direct.Write([]byte("x")), "it is closed")
}

func TestWhatCannotBeWrittenToWithoutWaiting(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.NoError(t, syscall.SetNonblock(int(w.Fd()), false)) // Fd alone may do it
	assertNone(t, w)

	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	assertNone(t, near)
	assertNone(t, new(bytes.Buffer))
	assert.Zero(t, (*nonblock.Writer)(nil).Write([]byte("x")))
}

func TestTypesThatEmbedAFile(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.NotNil(t, nonblock.NewWriter(w))
	assertNone(t, struct{ *os.File }{w})
	assertNone(t, &struct{ *os.File }{w})
}

func TestAWriteAllocatesNothing(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	direct := nonblock.NewWriter(w)
	line := []byte("a line\n")
	allocs := testing.AllocsPerRun(100, func() {
		if direct.Write(line) != len(line) {
			t.Fatal("not all of it")
		}
	})
	assert.Zero(t, allocs)
}

func assertNone(t *testing.T, stream any) {
	t.Helper()
	reader, writer := nonblock.New(stream)
	assert.Nil(t, reader)
	assert.Nil(t, writer)
}

// room counts how often its buffer is in use.
type room struct {
	buf   [64]byte
	taken atomic.Int32
}

func (r *room) Take() []byte { r.taken.Add(1); return r.buf[:] }
func (r *room) Return()      { r.taken.Add(-1) }

func TestWaitingNeedsNoBuffer(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	late, _ := nonblock.New(r)
	require.NotNil(t, late)

	for _, text := range []string{"first", "second"} {
		var waiting room
		read := make(chan string)
		go func() {
			n, err := late.ReadLate(&waiting)
			assert.NoError(t, err)
			read <- string(waiting.buf[:n])
		}()
		assert.Zero(t, waiting.taken.Load()) // or it has not begun to wait; never more than that
		_, err = w.WriteString(text)
		require.NoError(t, err)
		assert.Equal(t, text, <-read)
		assert.Equal(t, int32(1), waiting.taken.Load())
	}
	require.NoError(t, w.Close())
	_, err = late.ReadLate(new(room))
	assert.Equal(t, io.EOF, err)
}

func TestWhatEndsTheWait(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	late := nonblock.NewReader(r)
	var waiting room
	for _, end := range []struct {
		by   func() error
		want error
	}{
		{func() error { late.Interrupt(); return nil }, nonblock.ErrInterrupted},
		{func() error { return r.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		{r.Close, nil},
	} {
		ended := make(chan error)
		go func() {
			_, err := late.ReadLate(&waiting)
			ended <- err
		}()
		require.NoError(t, end.by())
		err := <-ended
		assert.Error(t, err)
		if end.want != nil {
			assert.ErrorIs(t, err, end.want)
		}
		assert.Zero(t, waiting.taken.Load())
		_ = r.SetReadDeadline(time.Time{})
	}
}

func TestAnInterruptedReadGoesOn(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	late := nonblock.NewReader(r)
	for range 3 {
		var waiting room
		late.Interrupt()
		_, err := late.ReadLate(&waiting)
		require.ErrorIs(t, err, nonblock.ErrInterrupted)
		_, err = w.WriteString("text")
		require.NoError(t, err)
		n, err := late.ReadLate(&waiting)
		require.NoError(t, err)
		assert.Equal(t, "text", string(waiting.buf[:n]))
	}
}
