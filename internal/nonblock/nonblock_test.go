//go:build linux

package nonblock_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

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
	direct := nonblock.New(w)
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
	assert.Nil(t, nonblock.New(w))

	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	assert.Nil(t, nonblock.New(near))
	assert.Nil(t, nonblock.New(new(bytes.Buffer)))
	assert.Zero(t, (*nonblock.Writer)(nil).Write([]byte("x")))
}

func TestAWriteAllocatesNothing(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	direct := nonblock.New(w)
	line := []byte("a line\n")
	allocs := testing.AllocsPerRun(100, func() {
		if direct.Write(line) != len(line) {
			t.Fatal("not all of it")
		}
	})
	assert.Zero(t, allocs)
}
