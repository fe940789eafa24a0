package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/chunked"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

// poison writes over the buffers that nobody uses.
func poison() {
	var free []*chunked.Chunk
	for range 32 {
		c := chunked.Get()
		for i := range c {
			c[i] = '#'
		}
		free = append(free, c)
	}
	for _, c := range free {
		chunked.Put(c)
	}
}

// TestNothingThatACallerHoldsIsUsedAgain keeps all that calls return while the buffers of the transports are written
// over.
func TestNothingThatACallerHoldsIsUsedAgain(t *testing.T) {
	for name, over := range map[string]func(*testing.T) transport.Transport{
		"stream": overSocket,
		"JSON":   func(t *testing.T) transport.Transport { return overHTTP(t, "application/json") },
		"SSE":    func(t *testing.T) transport.Transport { return overHTTP(t, "text/event-stream") },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := mcp.Connect(t.Context(), over(t), legacy(nil))
			require.NoError(t, err)
			defer c.Close()
			var progress []mcp.Progress
			var all []*mcp.CallToolResult
			sizes := []int{0, 1, 100, 5000, 70_000, 300_000}
			for _, size := range sizes {
				result, err := c.CallTool(t.Context(), "x", map[string]int{"size": size},
					mcp.WithProgress(func(p mcp.Progress) { progress = append(progress, p) }))
				require.NoError(t, err)
				all = append(all, result)
				poison()
			}
			tools, err := c.ListTools(t.Context())
			require.NoError(t, err)
			poison()
			_, err = c.Request(t.Context(), "none", nil)
			rpc := new(mcp.RPCError)
			require.ErrorAs(t, err, &rpc)
			poison()

			for i, size := range sizes {
				want := filling(size)
				assert.True(t, all[i].Text() == want, "the text of %d bytes", size)
				assert.True(t, string(all[i].StructuredContent) == `{"s":"`+want+`"}`, "the structure of %d bytes", size)
			}
			if name != "JSON" {
				require.Len(t, progress, len(sizes))
			}
			for i, p := range progress {
				assert.Equal(t, fmt.Sprintf("of %d", sizes[i]), p.Message)
			}
			assert.Equal(t, "the tool", tools[0].Description)
			assert.Equal(t, `{"type":"object","title":"as sent"}`, string(tools[0].InputSchema))
			assert.Equal(t, "there is none", rpc.Message)
			assert.Equal(t, `{"name":"none"}`, string(rpc.Data))
		})
	}
}

func filling(size int) string { return strings.Repeat("abcdefg", size/7+1)[:size] }

// messages are what a server sends on account of a message of the client.
func messages(line []byte) (all []string) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Arguments struct{ Size int }
			Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
		}
	}
	if err := json.Unmarshal(line, &m); err != nil || m.ID == nil {
		return nil
	}
	answer := `"error":{"code":-32603,"message":"there is none","data":{"name":"none"}}`
	switch m.Method {
	case "initialize":
		answer = `"result":` + initialized
	case "tools/list":
		answer = `"result":{"tools":[{"name":"x","description":"the tool","inputSchema":{"type":"object","title":"as sent"}}]}`
	case "tools/call":
		text := filling(m.Params.Arguments.Size)
		all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":`+
			`{"progressToken":%s,"progress":1,"message":"of %d"}}`, m.Params.Meta.ProgressToken, len(text)))
		answer = `"result":{"content":[{"type":"text","text":"` + text + `"}],"structuredContent":{"s":"` + text + `"}}`
	}
	return append(all, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,`+answer+`}`)
}

func overSocket(t *testing.T) transport.Transport {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	far, err := listener.Accept()
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for in := bufio.NewReader(far); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			for _, m := range messages(line) {
				_, _ = io.WriteString(far, m+"\n")
			}
		}
	}()
	t.Cleanup(func() {
		far.Close()
		<-done
	})
	return near{conn}
}

func overHTTP(t *testing.T, contentType string) transport.Transport {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		line, _ := io.ReadAll(r.Body)
		all := messages(line)
		if all == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", contentType)
		if contentType == "application/json" {
			_, _ = io.WriteString(w, all[len(all)-1])
			return
		}
		for _, m := range all {
			_, _ = io.WriteString(w, "data: "+m+"\n\n")
		}
	}))
	t.Cleanup(server.Close)
	return &streamablehttp.Transport{URL: server.URL}
}
