package transport_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

// A Unix socket takes what fits into its buffer from the sender itself; what does not is finished by a goroutine.

// sockets returns the two ends of a Unix socket.
func sockets(t *testing.T) (dialed, accepted net.Conn) {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer listener.Close()
	dialed, err = net.Dial("unix", listener.Addr().String())
	require.NoError(t, err)
	accepted, err = listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { // after those of the test, which may have closed them
		dialed.Close()
		accepted.Close()
	})
	return dialed, accepted
}

// socket returns a connection over a Unix socket and the peer's end.
func socket(t *testing.T) (transport.Conn, net.Conn) {
	t.Helper()
	dialed, peer := sockets(t)
	conn := transport.NewStream(dialed, nil)
	t.Cleanup(func() {
		conn.Close()
		peer.Close()
	})
	return conn, peer
}

// nextID reads a line that must be whole, and returns its id.
func nextID(t *testing.T, lines *bufio.Reader) int64 {
	t.Helper()
	line, err := lines.ReadBytes('\n')
	require.NoError(t, err)
	var m struct {
		ID     int64 `json:"id"`
		Params struct{ Pad string }
	}
	require.NoError(t, json.Unmarshal(line, &m), "a line is whole")
	return m.ID
}

// begin sends a line, with the id 1, that no buffer has room for, and returns when it has begun: what Send will return,
// and the peer's lines.
func begin(t *testing.T, ctx context.Context, conn transport.Conn, peer net.Conn) (chan error, *bufio.Reader) {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- conn.Send(ctx, call(1, padded(1<<20))) }()
	lines := bufio.NewReader(peer)
	_, err := lines.Peek(1)
	require.NoError(t, err)
	return result, lines
}

func TestALineThatWasBegunIsFinishedBeforeOthers(t *testing.T) {
	conn, peer := socket(t)
	result, lines := begin(t, t.Context(), conn, peer)
	const more = 20
	var sending sync.WaitGroup
	for i := range int64(more) {
		sending.Go(func() { assert.NoError(t, conn.Send(t.Context(), call(2+i, padded(100)))) })
	}
	assert.Equal(t, int64(1), nextID(t, lines))
	seen := make(map[int64]bool)
	for range more {
		seen[nextID(t, lines)] = true
	}
	assert.Len(t, seen, more)
	assert.NoError(t, <-result)
	sending.Wait()
}

func TestASenderLeavesALineThatWasBegun(t *testing.T) {
	conn, peer := socket(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	result, lines := begin(t, ctx, conn, peer)
	errGone := errors.New("gone")
	cancel(errGone)
	err := <-result
	assert.ErrorIs(t, err, errGone)
	assert.False(t, transport.SafeToRetry(err), "half of it is with the peer")

	waiting, leave := context.WithCancelCause(t.Context())
	behind := make(chan error, 1)
	go func() { behind <- conn.Send(waiting, call(2, "{}")) }()
	leave(errGone)
	err = <-behind
	assert.ErrorIs(t, err, errGone)
	assert.True(t, transport.SafeToRetry(err), "it had not begun")

	assert.Equal(t, int64(1), nextID(t, lines), "the line is whole all the same")
	require.NoError(t, conn.Send(t.Context(), call(3, "{}")))
	assert.Equal(t, int64(3), nextID(t, lines))
}

func TestCloseEndsALineThatWasBegun(t *testing.T) {
	conn, peer := socket(t)
	result, _ := begin(t, t.Context(), conn, peer)
	require.NoError(t, conn.Close())
	err := <-result
	assert.ErrorIs(t, err, transport.ErrClosed)
	assert.False(t, transport.SafeToRetry(err))
}

func TestADeadPeerIsAnErrorOfWriting(t *testing.T) {
	conn, peer := socket(t)
	require.NoError(t, peer.Close())
	err := conn.Send(t.Context(), call(1, "{}"))
	assert.Error(t, err)
	assert.True(t, transport.SafeToRetry(err))
	_, err = conn.Receive(t.Context())
	assert.ErrorIs(t, err, io.EOF)
}

// A counted socket sees what passes through it, as one that encrypts would.
type counted struct {
	*net.UnixConn
	read, written int
}

func (c *counted) Read(p []byte) (n int, err error) {
	n, err = c.UnixConn.Read(p)
	c.read += n
	return n, err
}

func (c *counted) Write(p []byte) (n int, err error) {
	n, err = c.UnixConn.Write(p)
	c.written += n
	return n, err
}

func TestATypeThatEmbedsASocketIsReadAndWrittenThroughItsOwnMethods(t *testing.T) {
	dialed, peer := sockets(t)
	defer peer.Close()
	stream := &counted{UnixConn: dialed.(*net.UnixConn)}
	conn := transport.NewStream(stream, nil)
	defer conn.Close()
	require.NoError(t, conn.Send(t.Context(), call(1, `{}`)))
	line, err := bufio.NewReader(peer).ReadBytes('\n')
	require.NoError(t, err)
	assert.Equal(t, len(line), stream.written)

	_, err = peer.Write(line)
	require.NoError(t, err)
	_, err = conn.Receive(t.Context())
	require.NoError(t, err)
	assert.Equal(t, len(line), stream.read)
}
