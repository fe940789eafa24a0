package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

func TestPipeHandsOverACopy(t *testing.T) {
	ctx := t.Context()
	a, b := mcptest.Pipe()
	defer a.Close()
	sent := &transport.Message{ID: transport.IntID(1), Error: &transport.RPCError{Code: 5, Message: "no"}}
	result := make(chan error)
	go func() { result <- a.Send(ctx, one(sent)) }()
	got, err := b.Receive(ctx)
	require.NoError(t, err)
	require.NoError(t, <-result)
	assert.Equal(t, sent, got)
	got.Batch, got.Error.Code = true, 6
	assert.False(t, sent.Batch)
	assert.EqualValues(t, 5, sent.Error.Code)
}

func TestPipeHandsOverAResultToWriteTo(t *testing.T) {
	a, b := mcptest.Pipe()
	defer a.Close()
	sent := &transport.Message{ID: transport.IntID(1), Result: json.RawMessage("{}")}
	go func() { _ = a.Send(context.Background(), one(sent)) }()
	got, err := b.Receive(t.Context())
	require.NoError(t, err)
	copy(got.Result, "[]")
	assert.Equal(t, "{}", string(sent.Result))
}

func TestPipeTakesNothingUntilReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := mcptest.Pipe()
		sent := false
		go func() { sent = a.Send(context.Background(), one(notification("n"))) == nil }()
		synctest.Wait()
		assert.False(t, sent)
		_, err := b.Receive(t.Context())
		require.NoError(t, err)
		synctest.Wait()
		assert.True(t, sent)
	})
}

func TestPipeCloseEndsBothEnds(t *testing.T) {
	ctx := t.Context()
	near, far := mcptest.Pipe()
	require.NoError(t, near.Close())
	require.NoError(t, near.Close())

	_, err := near.Receive(ctx)
	assert.ErrorIs(t, err, transport.ErrClosed)
	assert.NotErrorIs(t, err, io.EOF)
	_, err = far.Receive(ctx)
	assert.ErrorIs(t, err, io.EOF)
	for _, end := range []transport.Conn{near, far} {
		err := end.Send(ctx, one(notification("n")))
		assert.ErrorIs(t, err, transport.ErrClosed)
		assert.True(t, transport.SafeToRetry(err))
	}
	require.NoError(t, far.Close())
}

func TestPipeIsUnblocked(t *testing.T) {
	cause := errors.New("enough")
	type end = func(near, far transport.Conn, cancel context.CancelCauseFunc)
	for name, test := range map[string]struct {
		end      end
		receive  error
		send     error
		survives bool
	}{
		"by its Close": {
			func(near, _ transport.Conn, _ context.CancelCauseFunc) { near.Close() },
			transport.ErrClosed, transport.ErrClosed, false,
		},
		"by the other's": {
			func(_, far transport.Conn, _ context.CancelCauseFunc) { far.Close() },
			io.EOF, transport.ErrClosed, false,
		},
		"by its ctx": {
			func(_, _ transport.Conn, cancel context.CancelCauseFunc) { cancel(cause) },
			cause, cause, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				near, far := mcptest.Pipe()
				var sendErr, receiveErr error
				go func() { sendErr = near.Send(ctx, one(notification("lost"))) }()
				go func() { _, receiveErr = near.Receive(ctx) }()
				synctest.Wait()
				require.NoError(t, sendErr)
				require.NoError(t, receiveErr)
				test.end(near, far, cancel)
				synctest.Wait()
				assert.ErrorIs(t, sendErr, test.send)
				assert.True(t, transport.SafeToRetry(sendErr))
				assert.ErrorIs(t, receiveErr, test.receive)
				if test.survives {
					go far.Send(context.Background(), one(notification("next")))
					m, err := near.Receive(context.Background())
					require.NoError(t, err)
					assert.Equal(t, "next", m.Method)
				}
			})
		})
	}
}

func TestPipeStartsNothingOnceCtxIsDone(t *testing.T) {
	a, b := mcptest.Pipe()
	received := make(chan []string)
	go func() { received <- drain(b) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		require.ErrorIs(t, a.Send(ctx, one(notification("n"))), context.Canceled)
	}
	a.Close()
	assert.Empty(t, <-received)
}
