//go:build !race

package transport_test

// The race detector makes sync.Pool forget at random, and stacks larger, so these numbers hold without it only.

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"sync"
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

// quiet gives what it has and then nothing until it is closed.
type quiet struct {
	io.Reader
	waiting, closed chan struct{}
}

func (q *quiet) Read(p []byte) (int, error) {
	n, err := q.Reader.Read(p)
	if err == io.EOF {
		close(q.waiting)
		<-q.closed
	}
	return n, err
}

func (q *quiet) Write(p []byte) (int, error) { return len(p), nil }

func (q *quiet) Close() error {
	close(q.closed)
	return nil
}

func TestIdleConnectionsHoldLittle(t *testing.T) {
	const n = 500
	text := bytes.Repeat([]byte(`{"method":"n","params":`+padded(100<<10)+"}\n"), 2)
	memory := func() uint64 {
		var m runtime.MemStats
		runtime.GC() // twice, since what was pooled survives one
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := memory()
	conns := make([]transport.Conn, n)
	var receivers sync.WaitGroup
	for i := range conns {
		q := &quiet{bytes.NewReader(text), make(chan struct{}), make(chan struct{})}
		conns[i] = transport.NewStream(q, nil)
		receivers.Go(func() {
			for err := error(nil); err == nil; _, err = conns[i].Receive(context.Background()) {
			}
		})
		<-q.waiting
		require.NoError(t, conns[i].Send(context.Background(), call(1, "{}")))
	}
	each := int64(memory()-before) / n
	t.Logf("%d bytes for each", each)
	assert.Less(t, each, int64(8<<10))
	for _, conn := range conns {
		conn.Close()
	}
	receivers.Wait()
}
