package mcp_test

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// lastMoment has callers give up while the answer is on its last bit of the way, which takes now longer, now shorter.
type lastMoment struct {
	transport.Conn
	giveUp chan context.CancelFunc
	way    *int
}

func (l lastMoment) Receive(ctx context.Context) (*transport.Message, error) {
	m, err := l.Conn.Receive(ctx)
	select {
	case cancel := <-l.giveUp:
		go cancel()
		*l.way = (*l.way + 1) % 12
		for range *l.way {
			runtime.Gosched()
		}
	default:
	}
	return m, err
}

func (l lastMoment) Connect(context.Context) (transport.Conn, error) { return l, nil }

func TestAnswersAtTheMomentInWhichTheCallerGivesUp(t *testing.T) {
	s := &mcptest.Server{}
	s.Handle("x", func(context.Context, *mcptest.Call) (any, error) { return json.RawMessage(`{}`), nil })
	conn, err := s.Transport().Connect(t.Context())
	require.NoError(t, err)
	tr := lastMoment{conn, make(chan context.CancelFunc, 1), new(int)}
	c, err := mcp.Connect(t.Context(), tr, nil)
	require.NoError(t, err)
	defer c.Close()
	answered := 0
	for range 40_000 {
		ctx, cancel := context.WithCancel(t.Context())
		tr.giveUp <- cancel
		result, err := c.Request(ctx, "x", nil)
		cancel()
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			continue
		}
		require.NotNil(t, result)
		answered++
	}
	assert.NotZero(t, answered)
	assert.NoError(t, c.Err())
}
