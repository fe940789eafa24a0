package stdio_test

import (
	"bytes"
	"encoding/json"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/transport"
)

const (
	// long is a period that a test must not wait for.
	long = 30 * time.Second
	// short is a period that a test does wait for.
	short = 50 * time.Millisecond
)

// server returns a transport to a play.
func server(play string) *stdio.Transport {
	return &stdio.Transport{
		Command: os.Args[0],
		// The race detector lets a process linger for a second at its exit, unless told not to.
		Env:        map[string]string{playVar: play, "GORACE": "atexit_sleep_ms=0"},
		CloseGrace: long,
		KillGrace:  long,
	}
}

func connect(t *testing.T, tr *stdio.Transport) transport.Conn {
	t.Helper()
	conn, err := tr.Connect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// within fails the test if do does not return in time.
func within(t *testing.T, limit time.Duration, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		require.FailNow(t, "it takes too long", "over %v", limit)
	}
}

func send(t *testing.T, conn transport.Conn, id int64, params string) {
	t.Helper()
	require.NoError(t, conn.Send(t.Context(), outgoing(id, params)))
}

func outgoing(id int64, params string) transport.Outgoing {
	m := &transport.Message{ID: transport.IntID(id), Method: "m"}
	if params != "" {
		m.Params = json.RawMessage(params)
	}
	return transport.Outgoing{Message: m}
}

// received is what Receive returned.
type received struct {
	*transport.Message
	err error
}

func receive(t *testing.T, conn transport.Conn) (got received) {
	t.Helper()
	within(t, long, func() { got.Message, got.err = conn.Receive(t.Context()) })
	return got
}

func mustReceive(t *testing.T, conn transport.Conn) *transport.Message {
	t.Helper()
	got := receive(t, conn)
	require.NoError(t, got.err)
	return got.Message
}

// pidOf receives a hello.
func pidOf(t *testing.T, conn transport.Conn) int {
	t.Helper()
	var hello struct{ Pid int }
	require.NoError(t, json.Unmarshal(mustReceive(t, conn).Params, &hello))
	require.NotZero(t, hello.Pid)
	return hello.Pid
}

// log collects what is written to it.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
