package stdio_test

import (
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/transport"
)

// The server reads a call and exits.
func TestExitInTheMiddleOfACall(t *testing.T) {
	conn := connect(t, server("exit 3"))
	send(t, conn, 1, "")
	got := receive(t, conn)
	assert.EqualError(t, got.err, "stdio: server exited with status 3; stderr: first line\nboom: no configuration")
	var exit *stdio.ExitError
	require.ErrorAs(t, got.err, &exit)
	assert.Equal(t, 3, exit.Code)
	assert.Equal(t, "first line\nboom: no configuration\n", exit.Stderr)
	var system *exec.ExitError
	require.ErrorAs(t, got.err, &system)
	assert.Equal(t, 3, system.ExitCode())

	within(t, 5*time.Second, func() {
		err := conn.Send(t.Context(), outgoing(2, ""))
		assert.ErrorAs(t, err, &exit, "a later call says the same: %v", err)
		assert.ErrorIs(t, err, transport.ErrClosed)
		_, err = conn.Receive(t.Context())
		assert.ErrorAs(t, err, &exit)
	})
}

// All of stderr is read before the error is made of its end.
func TestExitAfterMuchOnStderr(t *testing.T) {
	conn := connect(t, server("exit 3 with noise"))
	send(t, conn, 1, "")
	err := receive(t, conn).err
	var exit *stdio.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Len(t, exit.Stderr, 64<<10)
	assert.True(t, strings.HasSuffix(err.Error(), "noise\nboom"), "the end of it is missing")
	assert.LessOrEqual(t, len(err.Error()), 2<<10+100)
}

func TestExitWithStatusZeroIsAnEndToo(t *testing.T) {
	conn := connect(t, server("exit 0"))
	send(t, conn, 1, "")
	got := receive(t, conn)
	assert.EqualError(t, got.err, "stdio: server exited with status 0")
	var exit *stdio.ExitError
	require.ErrorAs(t, got.err, &exit)
	assert.Equal(t, 0, exit.Code)
	assert.NoError(t, exit.Unwrap())
	var system *exec.ExitError
	assert.False(t, errors.As(got.err, &system))
}

// What the server wrote before it exited comes before the news of its end, also if nobody reads for a while.
func TestLastWordsBeforeTheExit(t *testing.T) {
	conn := connect(t, server("last words"))
	send(t, conn, 1, `"words"`)
	require.ErrorAs(t, exitOf(t, conn), new(*stdio.ExitError))
	for range 100 {
		assert.Equal(t, `"words"`, string(mustReceive(t, conn).Result))
	}
	assert.ErrorAs(t, receive(t, conn).err, new(*stdio.ExitError))
}

// exitOf sends until the server is gone.
func exitOf(t *testing.T, conn sender) (err error) {
	t.Helper()
	require.Eventually(t, func() bool {
		err = conn.Send(t.Context(), outgoing(2, `"x"`))
		return err != nil
	}, long, time.Millisecond)
	return err
}

func TestServerThatClosesItsOutputAndRunsOn(t *testing.T) {
	tr := server("close stdout")
	tr.CloseGrace = short
	conn := connect(t, tr)
	pidOf(t, conn)
	err := receive(t, conn).err
	assert.ErrorIs(t, err, io.EOF)
	assert.EqualError(t, err, "stdio: the peer ended the stream: EOF")
	assert.NoError(t, conn.Close())
}

func TestServerThatClosesItsInputAndRunsOn(t *testing.T) {
	tr := server("close stdin")
	tr.CloseGrace = short
	conn := connect(t, tr)
	pidOf(t, conn)
	err := conn.Send(t.Context(), outgoing(1, ""))
	assert.ErrorContains(t, err, "stdio: ")
	assert.NotErrorIs(t, err, io.EOF)
	assert.NoError(t, conn.Close())
}
