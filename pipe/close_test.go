package pipe_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/pipe"
	"github.com/seed62b61957/mcp/transport"
)

func TestCloseOfServerThatEndsWithItsInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		p.obey()
		conn := connect(t, p, pipe.Transport{})
		started := time.Now()
		assert.NoError(t, conn.Close())
		assert.Zero(t, time.Since(started))
		assert.Zero(t, p.kills)
		assert.Equal(t, 1, p.releases)
	})
}

func TestCloseKillsServerThatDoesNotEnd(t *testing.T) {
	for set, want := range map[time.Duration]time.Duration{
		0: pipe.DefaultCloseTimeout, time.Minute: time.Minute, -1: 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newProgram()
			conn := connect(t, p, pipe.Transport{CloseTimeout: set})
			started := time.Now()
			assert.NoError(t, conn.Close())
			assert.Equal(t, want, time.Since(started))
			assert.Equal(t, 1, p.kills)
			assert.Equal(t, 1, p.releases)
		})
	}
}

func TestCloseFromManyGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		refused := errors.New("refused")
		p.Process.Release = func() error { p.releases++; return refused }
		conn := connect(t, p, pipe.Transport{})
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() {
				for range 2 {
					err := conn.Close()
					assert.ErrorIs(t, err, refused)
					assert.EqualError(t, err, "pipe: close: refused")
				}
			})
		}
		calls.Wait()
		assert.Equal(t, 1, p.kills)
		assert.Equal(t, 1, p.releases)
	})
}

// Nothing that the host's functions and files do makes Close wait for ever.
func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		release := make(chan struct{})
		hang := func() error { <-release; return nil }
		p.Process.Kill, p.Process.Release = hang, hang
		p.Process.Stdin = hangingCloser{p.Process.Stdin, release}
		conn := connect(t, p, pipe.Transport{})
		started := time.Now()
		err := conn.Close()
		assert.ErrorContains(t, err, "pipe: close: the server was killed and has not ended")
		assert.ErrorContains(t, err, "the function Release does not return")
		assert.Less(t, time.Since(started), pipe.DefaultCloseTimeout+3*time.Second)
		close(release)
		p.end(nil)
	})
}

type hangingCloser struct {
	io.WriteCloser
	release <-chan struct{}
}

func (h hangingCloser) Close() error { <-h.release; return h.WriteCloser.Close() }

func TestCloseReportsFailedKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		denied := errors.New("denied")
		p.Process.Kill = func() error { return denied }
		conn := connect(t, p, pipe.Transport{})
		assert.ErrorIs(t, conn.Close(), denied)
		p.end(nil)
	})
}

func TestCloseUnblocksReceiveAndSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		conn := connect(t, p, pipe.Transport{CloseTimeout: time.Hour})
		started := time.Now()
		var calls sync.WaitGroup
		calls.Go(func() {
			_, err := conn.Receive(t.Context())
			assert.ErrorIs(t, err, transport.ErrClosed)
			assert.EqualError(t, err, "pipe: connection closed")
		})
		calls.Go(func() {
			assert.ErrorIs(t, conn.Send(t.Context(), outgoing(1, "1")), transport.ErrClosed)
		})
		synctest.Wait()
		var closing sync.WaitGroup
		closing.Go(func() { assert.NoError(t, conn.Close()) })
		calls.Wait()
		assert.Zero(t, time.Since(started))
		p.end(nil)
		closing.Wait()
	})
}

func TestCloseReadsTheLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProgram()
		var stderr slowWriter
		conn := connect(t, p, pipe.Transport{Stderr: &stderr})
		go func() {
			_, _ = io.Copy(io.Discard, p.stdin)
			for range 100 {
				p.say("last words\n")
			}
			fmt.Fprint(p.stderr, "bye")
			p.end(nil)
		}()
		started := time.Now()
		assert.NoError(t, conn.Close())
		assert.Equal(t, writeTime, time.Since(started))
		assert.Zero(t, p.kills)
		assert.Equal(t, "bye", stderr.String())
	})
}

// slowWriter takes its time, as a log on a network does.
type slowWriter struct{ strings.Builder }

const writeTime = 50 * time.Millisecond

func (s *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(writeTime)
	return s.Builder.Write(p)
}
