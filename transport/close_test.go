package transport_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

// soon bounds how long a test waits for what should happen at once.
const soon = 10 * time.Second

func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(soon):
		require.Fail(t, "it takes too long")
		panic("unreachable")
	}
}

func TestABlockedPeerHoldsUpNobody(t *testing.T) { // field case 53, over real pipes
	conn, in, _ := pipes(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	send := func(ctx context.Context, id int64) <-chan error {
		done := make(chan error, 1)
		go func() { done <- conn.Send(ctx, call(id, padded(1<<20))) }()
		return done
	}
	first := send(ctx, 1)
	_, err := in.Read(make([]byte, 1))
	require.NoError(t, err) // so its Write has begun, and no pipe holds the whole of it
	second, third := send(ctx, 2), send(context.Background(), 3)

	cancel()
	err = within(t, first)
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, transport.SafeToRetry(err))
	err = within(t, second)
	assert.ErrorIs(t, err, context.Canceled)
	assert.True(t, transport.SafeToRetry(err))

	require.NoError(t, conn.Close())
	err = within(t, third)
	assert.ErrorIs(t, err, transport.ErrClosed)
	assert.True(t, transport.SafeToRetry(err))
	err = conn.Send(context.Background(), call(4, "{}"))
	assert.ErrorIs(t, err, transport.ErrClosed)
	assert.EqualError(t, err, "stream: connection closed")
	assert.True(t, transport.SafeToRetry(err))
}

func TestTheStreamStaysWholeAfterASenderHasLeft(t *testing.T) {
	conn, in, _ := pipes(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- conn.Send(ctx, call(0, padded(1<<20))) }()
	lines := bufio.NewReader(in)
	_, err := lines.Peek(1)
	require.NoError(t, err)
	cancel()
	assert.ErrorIs(t, within(t, done), context.Canceled)

	var sending sync.WaitGroup
	sending.Go(func() {
		for id := range 10 {
			assert.NoError(t, conn.Send(context.Background(), call(int64(id+1), padded(100))))
		}
	})
	text, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, line(0, 1<<20), text)
	for id := range 10 {
		text, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, line(id+1, 100), text)
	}
	sending.Wait()
}

func TestCloseWakesAWriteThatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := newHeld()
		s := &sender{conn: transport.NewStream(below, nil)}
		s.send(t.Context(), 1)
		<-below.writes
		require.NoError(t, s.conn.Close())
		err := s.result(t, 0)
		assert.ErrorIs(t, err, transport.ErrClosed)
		assert.NotErrorIs(t, err, io.ErrClosedPipe)
		assert.False(t, transport.SafeToRetry(err))
	})
}

func TestCloseEndsAReadThatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := transport.NewStream(newHeld(), nil)
		got := make(chan error, 1)
		go func() {
			_, err := conn.Receive(t.Context())
			got <- err
		}()
		synctest.Wait()
		require.NoError(t, conn.Close())
		err := <-got
		assert.ErrorIs(t, err, transport.ErrClosed)
		assert.NotErrorIs(t, err, io.ErrClosedPipe)
	})
}

// stubborn is a stream that does not let go of a Write when it is closed.
type stubborn struct{ *held }

func (stubborn) Close() error { return nil }

func TestCloseDoesNotNeedTheWriteToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := stubborn{newHeld()}
		s := &sender{conn: transport.NewStream(below, nil)}
		s.send(t.Context(), 1)
		<-below.writes
		s.send(t.Context(), 2)
		require.NoError(t, s.conn.Close())
		for i, safe := range []bool{false, true} {
			err := s.result(t, i)
			assert.ErrorIs(t, err, transport.ErrClosed)
			assert.Equal(t, safe, transport.SafeToRetry(err))
		}
		below.results <- accepted
		s.send(t.Context(), 3)
		err := s.result(t, 2)
		assert.ErrorIs(t, err, transport.ErrClosed)
		assert.True(t, transport.SafeToRetry(err))
		select {
		case text := <-below.writes:
			assert.Fail(t, "something was written after Close", text)
		default:
		}
	})
}

func TestCloseUnblocksReceive(t *testing.T) {
	conn, _, _ := pipes(t, nil)
	got := make(chan error, 1)
	go func() {
		_, err := conn.Receive(context.Background())
		got <- err
	}()
	require.NoError(t, conn.Close())
	assert.EqualError(t, within(t, got), "stream: connection closed")
	_, err := conn.Receive(context.Background())
	assert.ErrorIs(t, err, transport.ErrClosed)
}

func TestAfterCloseNothingIsReceived(t *testing.T) {
	conn := transport.NewStream(reading(strings.NewReader(`[{"method":"a"},{"method":"b"}]`)), nil)
	_, err := conn.Receive(context.Background())
	require.NoError(t, err)
	conn.Close()
	_, err = conn.Receive(context.Background())
	assert.ErrorIs(t, err, transport.ErrClosed)
}

func TestCloseFromEverywhere(t *testing.T) { // field case 9
	broken := errors.New("broken")
	closes := 0
	conn := transport.NewStream(duplex{strings.NewReader(""), io.Discard, func() error {
		closes++
		return broken
	}}, &transport.StreamOptions{Name: "unix"})
	var closing sync.WaitGroup
	for range 10 {
		closing.Go(func() {
			for range 2 {
				err := conn.Close()
				assert.ErrorIs(t, err, broken)
				assert.EqualError(t, err, "unix: broken")
			}
		})
	}
	closing.Wait()
	assert.Equal(t, 1, closes)
}

func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		conn := transport.NewStream(duplex{strings.NewReader(""), io.Discard, func() error {
			<-stuck
			return nil
		}}, nil)
		begun := time.Now()
		err := conn.Close()
		assert.Equal(t, 5*time.Second, time.Since(begun))
		assert.EqualError(t, err, "stream: close takes longer than 5s")
		assert.Equal(t, err, conn.Close())
		close(stuck)
	})
}
