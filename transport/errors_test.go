package transport_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed62b61957/mcp/transport"
)

func TestUnsentKeepsWhatItWraps(t *testing.T) {
	err := fmt.Errorf("outside: %w", transport.Unsent(fmt.Errorf("inside: %w", io.ErrClosedPipe)))
	assert.True(t, transport.SafeToRetry(err))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	assert.Equal(t, "outside: inside: io: read/write on closed pipe", err.Error())

	assert.NoError(t, transport.Unsent(nil))
	assert.False(t, transport.SafeToRetry(nil))
	assert.False(t, transport.SafeToRetry(errors.New("other")))
}

func TestSentOutdoesUnsent(t *testing.T) {
	err := fmt.Errorf("outside: %w", transport.Sent(fmt.Errorf("a: %w, %w", io.EOF, transport.Unsent(io.ErrClosedPipe))))
	assert.False(t, transport.SafeToRetry(err))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	assert.EqualError(t, err, "outside: a: EOF, io: read/write on closed pipe")
	assert.True(t, transport.SafeToRetry(transport.Unsent(err)))
	assert.NoError(t, transport.Sent(nil))
}

func TestRPCErrorText(t *testing.T) {
	full := &transport.RPCError{Code: -32601, Message: "no such method", Data: []byte(`"kept out"`)}
	assert.EqualError(t, full, "no such method (-32601)")
	assert.EqualError(t, &transport.RPCError{Code: 7}, "error 7")
	assert.EqualError(t, &transport.RPCError{Code: 8, Message: "bad\n\x1b[2Jarguments"}, "bad [2Jarguments (8)")
}
