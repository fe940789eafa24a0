//go:build !race

package transport_test

// The race detector makes sync.Pool forget at random, so these numbers hold without it only.

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/transport"
)

func TestAllocationsOfSend(t *testing.T) {
	conn := transport.NewStream(reading(strings.NewReader("")), nil)
	defer conn.Close()
	out := call(1, padded(500))
	allocs := testing.AllocsPerRun(1000, func() {
		require.NoError(t, conn.Send(context.Background(), out))
	})
	assert.LessOrEqual(t, allocs, 3.0)
}

func TestAllocationsOfReceive(t *testing.T) {
	for name, test := range map[string]struct {
		line string
		most float64
	}{
		"result":   {`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hello"}]}}`, 2},
		"progress": {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`, 2},
		"request":  {`{"jsonrpc":"2.0","id":7,"method":"ping"}`, 2},
		"text id":  {`{"jsonrpc":"2.0","id":"seven","method":"custom"}`, 4},
		"blank":    {strings.Repeat("\r\n", 50) + `{"id":1,"result":{}}`, 2},
		"1 MiB":    {`{"jsonrpc":"2.0","id":7,"result":` + padded(1<<20) + `}`, 15},
	} {
		t.Run(name, func(t *testing.T) {
			conn := transport.NewStream(reading(&repeated{text: test.line + "\n"}), nil)
			defer conn.Close()
			allocs := testing.AllocsPerRun(500, func() {
				m, err := conn.Receive(context.Background())
				if err != nil || m.Fault != nil {
					t.Fatal(err, m.Fault)
				}
			})
			assert.LessOrEqual(t, allocs, test.most)
		})
	}
}
