package pipe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/pipe"
	"github.com/seed62b61957/mcp/transport"
)

func TestExitInTheMiddleOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		conn := connect(t, p, pipe.Transport{})
		status := errors.New("exit status 3")
		go func() {
			_, _ = p.stdin.Read(make([]byte, 1<<10))
			fmt.Fprintln(p.stderr, "boom")
			p.end(status)
		}()
		require.NoError(t, conn.Send(t.Context(), outgoing(1, "1")))
		_, err := conn.Receive(t.Context())
		var exit *pipe.ExitError
		require.ErrorAs(t, err, &exit)
		assert.ErrorIs(t, err, status)
		assert.EqualError(t, err, "pipe: server ended: exit status 3; stderr: boom")

		err = conn.Send(t.Context(), outgoing(2, "1"))
		assert.ErrorIs(t, err, status, "a later call says the same")
		assert.ErrorIs(t, err, transport.ErrClosed)
		assert.True(t, transport.SafeToRetry(err))
		assert.NoError(t, conn.Close())
		assert.Zero(t, p.kills)
	})
}

func TestExitWithoutAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		conn := connect(t, p, pipe.Transport{})
		p.end(nil)
		_, err := conn.Receive(t.Context())
		assert.EqualError(t, err, "pipe: server ended")
		assert.NoError(t, conn.Close())
	})
}

// Its standard error may come later than the news of the end: they are streams of their own.
func TestStderrThatComesAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		stderr, late := io.Pipe()
		p.Process.Stderr = stderr
		conn := connect(t, p, pipe.Transport{})
		p.end(nil)
		go func() {
			time.Sleep(50 * time.Millisecond)
			fmt.Fprintln(late, "late")
			_ = late.Close()
		}()
		_, err := conn.Receive(t.Context())
		assert.EqualError(t, err, "pipe: server ended; stderr: late")
		assert.NoError(t, conn.Close())
	})
}

// The program has ended and its output stays open, as an io.Pipe does that the host forgot to close.
func TestExitWhileTheOutputStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		ended := make(chan error)
		p.Process.Wait = func() error { return <-ended }
		conn := connect(t, p, pipe.Transport{})
		started := time.Now()
		go p.say(`{"jsonrpc":"2.0","method":"last"}` + "\n" + `{"jsonrpc":"2.0","method":"words"}` + "\n")
		synctest.Wait()
		ended <- errors.New("gone")
		time.Sleep(time.Minute) // the host does not read for a while
		for _, want := range []string{"last", "words"} {
			m, err := conn.Receive(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want, m.Method)
		}
		_, err := conn.Receive(t.Context())
		assert.EqualError(t, err, "pipe: server ended: gone")
		assert.Less(t, time.Since(started), time.Minute+time.Second)
		p.end(nil)
		assert.NoError(t, conn.Close())
	})
}

// It is silence that ends the output, and not the time since the end of the program.
func TestOutputThatFlowsAfterTheExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		ended := make(chan error)
		p.Process.Wait = func() error { return <-ended }
		conn := connect(t, p, pipe.Transport{})
		ended <- nil
		go func() {
			for range 10 {
				time.Sleep(60 * time.Millisecond)
				p.say(`{"jsonrpc":"2.0","method":"n"}` + "\n")
			}
		}()
		for range 10 {
			_, err := conn.Receive(t.Context())
			require.NoError(t, err)
		}
		p.end(nil)
		assert.NoError(t, conn.Close())
	})
}

func TestOutputThatEndsBeforeTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		conn := connect(t, p, pipe.Transport{})
		_ = p.stdout.Close()
		_, err := conn.Receive(t.Context())
		assert.ErrorIs(t, err, io.EOF)
		assert.EqualError(t, err, "pipe: the peer ended the stream: EOF")
		assert.NoError(t, conn.Close())
		assert.Equal(t, 1, p.kills)
	})
}

func TestProgramWithoutWaitAndStderr(t *testing.T) {
	reset := errors.New("connection reset")
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, "pipe: server ended"},
		{reset, "pipe: server ended: connection reset"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newProgram()
			p.Process.Wait, p.Process.Stderr, p.Process.Release = nil, nil, nil
			conn := connect(t, p, pipe.Transport{})
			_ = p.stdout.CloseWithError(test.err)
			_, err := conn.Receive(t.Context())
			assert.EqualError(t, err, test.want)
			assert.Equal(t, test.err, errors.Unwrap(err))
			assert.NoError(t, conn.Close())
			assert.Zero(t, p.kills)
		})
	}
}

// A server may close its input and go on. Whether it ends is waited for once, and no longer than the caller wants.
func TestServerThatDoesNotTakeItsInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		conn := connect(t, p, pipe.Transport{})
		_ = p.stdin.Close()
		started := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		assert.ErrorContains(t, conn.Send(ctx, outgoing(1, "1")), "does not take its input")
		assert.Equal(t, 20*time.Millisecond, time.Since(started))
		for range 3 {
			assert.Error(t, conn.Send(t.Context(), outgoing(2, "1")))
		}
		assert.Equal(t, 20*time.Millisecond, time.Since(started))
		assert.NoError(t, conn.Close())
	})
}

// The program has ended, and its standard error stays open. A caller whose ctx ends waits for neither.
func TestACallerWhoseTimeIsOverWhenTheProgramHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		stderr, open := io.Pipe()
		p.Process.Stderr = stderr
		conn := connect(t, p, pipe.Transport{})
		p.end(nil)
		started := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		assert.ErrorIs(t, conn.Send(ctx, outgoing(1, "1")), transport.ErrClosed)
		assert.Equal(t, 20*time.Millisecond, time.Since(started))
		assert.NoError(t, open.Close())
		assert.NoError(t, conn.Close())
	})
}

func TestTransportWithoutOpen(t *testing.T) {
	_, err := (&pipe.Transport{}).Connect(t.Context())
	assert.ErrorContains(t, err, "Open")
}
