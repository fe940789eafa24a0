package transport_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

type exitingWriter struct{}

func (exitingWriter) Write([]byte) (int, error) {
	runtime.Goexit()
	return 0, nil
}

func TestAWriteThatEndsItsGoroutine(t *testing.T) {
	in, held := io.Pipe()
	conn := transport.NewStream(duplex{in, exitingWriter{}, held.Close}, nil)
	defer conn.Close()
	out := transport.Outgoing{Message: &transport.Message{Method: "m"}}
	err := conn.Send(t.Context(), out)
	require.ErrorContains(t, err, "Goexit")
	assert.False(t, transport.SafeToRetry(err), "something may have been written")
	err = conn.Send(t.Context(), out)
	require.ErrorContains(t, err, "Goexit")
	assert.True(t, transport.SafeToRetry(err))
}
