package stdio_test

import (
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

func TestCloseOfServerThatEndsWithItsInput(t *testing.T) {
	conn := connect(t, server("echo"))
	within(t, 10*time.Second, func() { assert.NoError(t, conn.Close()) })
}

// Ten goroutines close, each of them twice.
func TestCloseFromManyGoroutines(t *testing.T) {
	conn := connect(t, server("echo"))
	var calls sync.WaitGroup
	for range 10 {
		calls.Go(func() {
			assert.NoError(t, conn.Close())
			assert.NoError(t, conn.Close())
		})
	}
	within(t, long, calls.Wait)
}

// waitForReader waits until a goroutine waits for a server's output.
func waitForReader(t *testing.T) {
	t.Helper()
	waits := regexp.MustCompile(`goroutine \d+ \[IO wait[^\n]*\n([^\n]+\n)*[^\n]*stdio\.\(\*output\)\.Read`)
	stacks := make([]byte, 1<<20)
	require.Eventually(t, func() bool {
		return waits.Match(stacks[:runtime.Stack(stacks, true)])
	}, long, time.Millisecond)
}

func TestCloseUnblocksSendToServerThatDoesNotRead(t *testing.T) {
	tr := server("ignore eof")
	tr.CloseGrace = short
	conn := connect(t, tr)
	pidOf(t, conn)
	result := make(chan error, 1)
	go func() { result <- conn.Send(t.Context(), outgoing(1, `"`+string(make1MiB())+`"`)) }()
	select {
	case err := <-result:
		require.FailNow(t, "a megabyte fits into the pipe", "%v", err)
	case <-time.After(short):
	}
	require.NoError(t, conn.Close())
	within(t, 10*time.Second, func() { assert.ErrorIs(t, <-result, transport.ErrClosed) })
	assert.ErrorIs(t, receive(t, conn).err, transport.ErrClosed)
	assert.ErrorIs(t, conn.Send(t.Context(), outgoing(2, "")), transport.ErrClosed)
}

func make1MiB() []byte {
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = 'x'
	}
	return text
}

// What a server writes after the end of its input is read, or it would wait for ever with a full pipe.
func TestCloseReadsTheLastWords(t *testing.T) {
	tr := server("last words after eof")
	var stderr log
	tr.Stderr = &stderr
	conn := connect(t, tr)
	pidOf(t, conn)
	within(t, 10*time.Second, func() { require.NoError(t, conn.Close()) })
	assert.Equal(t, "all written\n", stderr.String())
}

// The same while a Receive waits.
func TestCloseReadsTheLastWordsInPlaceOfReceive(t *testing.T) {
	tr := server("last words after eof")
	var stderr log
	tr.Stderr = &stderr
	conn := connect(t, tr)
	pidOf(t, conn)
	var receiving sync.WaitGroup
	receiving.Go(func() {
		_, err := conn.Receive(t.Context())
		assert.ErrorIs(t, err, transport.ErrClosed)
	})
	waitForReader(t)
	within(t, 10*time.Second, func() { require.NoError(t, conn.Close()) })
	within(t, 10*time.Second, receiving.Wait)
	assert.Equal(t, "all written\n", stderr.String())
}
