package stdio_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

type sender interface {
	Send(context.Context, transport.Outgoing) error
}

func TestTraits(t *testing.T) {
	want := transport.Traits{Name: "stdio", SilentProbe: true, Interruptible: runtime.GOOS == "linux"}
	assert.Equal(t, want, connect(t, server("echo")).Traits())
}

// The server writes a megabyte before it reads, while a megabyte is written to it.
func TestReadingNeverWaitsForWriting(t *testing.T) {
	conn := connect(t, server("flood"))
	sent := make(chan error, 1)
	go func() { sent <- conn.Send(t.Context(), outgoing(1, `"`+string(make1MiB())+`"`)) }()
	for range 1024 {
		assert.Equal(t, "n", mustReceive(t, conn).Method)
	}
	require.NoError(t, <-sent)
	assert.Len(t, mustReceive(t, conn).Result, 1<<20+2)
}

func TestLinesOfManyGoroutinesStayWhole(t *testing.T) {
	conn := connect(t, server("echo"))
	params := func(id int64) string { return `"` + strings.Repeat(fmt.Sprintf("%04d", id), 4<<10) + `"` }
	var calls sync.WaitGroup
	for id := range int64(20) {
		calls.Go(func() { assert.NoError(t, conn.Send(t.Context(), outgoing(id, params(id)))) })
	}
	seen := make(map[int64]bool)
	for range 20 {
		m := mustReceive(t, conn)
		id, ok := m.ID.Int64()
		require.True(t, ok)
		assert.Equal(t, params(id), string(m.Result))
		seen[id] = true
	}
	calls.Wait()
	assert.Len(t, seen, 20)
}

func TestLargeReplies(t *testing.T) {
	conn := connect(t, server("big"))
	for i, size := range []int{100 << 10, 1 << 20, 5 << 20} {
		send(t, conn, int64(i), fmt.Sprint(size))
		assert.Len(t, mustReceive(t, conn).Result, size)
	}
}

func TestReplyOverTheLimit(t *testing.T) {
	tr := server("big")
	tr.MaxMessageBytes = 1 << 10
	conn := connect(t, tr)
	send(t, conn, 7, fmt.Sprint(1<<20))
	m := mustReceive(t, conn)
	assert.ErrorIs(t, m.Fault, transport.ErrMessageTooLarge)
	assert.Equal(t, transport.IntID(7), m.ID)
	send(t, conn, 8, "100")
	assert.Len(t, mustReceive(t, conn).Result, 100)
}

func TestBannerAndLogLinesOnStdout(t *testing.T) {
	conn := connect(t, server("banner"))
	assert.Error(t, mustReceive(t, conn).Fault)
	for id := range int64(2) {
		send(t, conn, id, "")
		assert.Error(t, mustReceive(t, conn).Fault)
		m := mustReceive(t, conn)
		assert.NoError(t, m.Fault)
		assert.Equal(t, `"ok"`, string(m.Result))
	}
}

func TestCharacterSplitOverTwoWrites(t *testing.T) {
	conn := connect(t, server("split"))
	send(t, conn, 1, "")
	assert.Equal(t, `{"x":"€"}`, string(mustReceive(t, conn).Params))
}
