//go:build linux && !race

package mcp_test

// What a call may allocate, its connection included, and what a connection holds while nothing happens. Elsewhere than
// on Linux a stream is read in another way, and the race detector makes sync.Pool forget at random.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
)

func TestWhatCallsAllocate(t *testing.T) {
	const size = 8 << 20
	text := strings.Repeat("a line of \"text\"\n", size/17)
	c := frugal(t, map[string]string{
		"echo": `{"content":[{"type":"text","text":"` + strings.Repeat("echo ", 20) + `"}],"isError":false}`,
		"blob": `{"content":[{"type":"text","text":` + quote(t, text) + `}]}`,
	})
	args := map[string]any{"text": strings.Repeat("echo ", 20)}
	for _, test := range []struct {
		name          string
		runs          int
		allocs, bytes uint64
		call          func() error
	}{
		{"echo", 1000, 20, 1500, func() error {
			_, err := c.CallTool(t.Context(), "echo", args)
			return err
		}},
		{"8 MiB", 10, 40, size * 13 / 10, func() error {
			result, err := c.CallTool(t.Context(), "blob", nil)
			if err == nil && result.Text() != text {
				return fmt.Errorf("a text of %d bytes", len(result.Text()))
			}
			return err
		}},
		{"1,000 tools", 10, 12_000, 1_500_000, func() error {
			tools, err := c.ListTools(t.Context())
			if err == nil && len(tools) != 1000 {
				return fmt.Errorf("%d tools", len(tools))
			}
			return err
		}},
	} {
		for range 2 { // until all that is used again is there
			require.NoError(t, test.call(), test.name)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range test.runs {
			if err := test.call(); err != nil {
				t.Fatal(test.name, err)
			}
		}
		runtime.ReadMemStats(&after)
		runs := uint64(test.runs)
		assert.LessOrEqual(t, (after.Mallocs-before.Mallocs)/runs, test.allocs, "%s: allocations", test.name)
		assert.LessOrEqual(t, (after.TotalAlloc-before.TotalAlloc)/runs, test.bytes, "%s: bytes", test.name)
	}
}

func TestWhatAnIdleConnectionHolds(t *testing.T) {
	const connections, each = 500, 1500
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what is pooled goes with the second one
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	clients := make([]*mcp.Client, 0, connections)
	connect := func() {
		c, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: "http://localhost/mcp", Client: idleServer{}}, nil)
		require.NoError(t, err)
		clients = append(clients, c)
	}
	connect() // makes what all share
	before, goroutines := heap(), runtime.NumGoroutine()
	for len(clients) < connections {
		connect()
	}
	assert.LessOrEqual(t, (heap()-before)/(connections-1), each, "bytes")
	assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines, "goroutines")
	for _, c := range clients {
		require.NoError(t, c.Close())
	}
}

// idleServer answers as a server of the current revision does that is asked what it is.
type idleServer struct{}

func (idleServer) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],`+
		`"capabilities":{"tools":{}},"serverInfo":{"name":"still","version":"1"}}}`, between(body, `"id":`, `,`))
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(answer)),
	}, nil
}

// frugal returns a client of a server that allocates next to nothing: it has the results of its tools, and a list of
// 1,000 in pages of 50.
func frugal(t *testing.T, tools map[string]string) *mcp.Client {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer listener.Close()
	conn, err := net.Dial("unix", listener.Addr().String())
	require.NoError(t, err)
	far, err := listener.Accept()
	require.NoError(t, err)

	var pages []string
	for n := 0; n < 1000; n += 50 {
		pages = append(pages, page(t, n))
	}
	answer := func(line []byte) string {
		switch {
		case bytes.Contains(line, []byte(`"initialize"`)):
			return initialized
		case bytes.Contains(line, []byte(`"tools/list"`)):
			n, _ := strconv.Atoi(string(between(line, `"cursor":"`, `"`)))
			return pages[n/50]
		}
		return tools[string(between(line, `"name":"`, `"`))]
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		in := bufio.NewReaderSize(far, 64<<10)
		var out []byte
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			id := between(line, `"id":`, `,`)
			if id == nil {
				continue
			}
			out = append(append(out[:0], `{"jsonrpc":"2.0","id":`...), id...)
			out = append(append(append(out, `,"result":`...), answer(line)...), "}\n"...)
			if _, err := far.Write(out); err != nil {
				return
			}
		}
	}()
	c, err := mcp.Connect(t.Context(), near{conn}, legacy(nil))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		<-done
	})
	return c
}

// between returns what stands between two texts, nil if they are not there.
func between(line []byte, before, after string) []byte {
	i := bytes.Index(line, []byte(before))
	if i < 0 {
		return nil
	}
	rest := line[i+len(before):]
	return rest[:max(0, bytes.Index(rest, []byte(after)))]
}

func quote(t *testing.T, text string) string {
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	return string(quoted)
}

func page(t *testing.T, from int) string {
	var tools []string
	for n := from; n < from+50; n++ {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","title":"Tool %d","description":"Looks up the item %d in the index.",`+
			`"inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":1}}},`+
			`"annotations":{"readOnlyHint":true,"openWorldHint":false}}`, n, n, n))
	}
	next := ""
	if from+50 < 1000 {
		next = fmt.Sprintf(`,"nextCursor":"%d"`, from+50)
	}
	return `{"tools":[` + strings.Join(tools, ",") + `]` + next + `}`
}
