package faultproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/faultproxy"
	"github.com/seed62b61957/mcp/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// soon bounds how long a test waits for what should happen at once.
const soon = 10 * time.Second

const (
	stream = "id: 1\ndata: one\n\nid: 2\ndata: two\n\nid: 3\ndata: three\n\n"
	reply  = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

// behind starts a server that has a stream at /stream, one of known length at /known and a reply at /reply, and a proxy
// before it.
func behind(t *testing.T, plan faultproxy.Plan) *faultproxy.Proxy {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.URL.Path == "/reply" {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, reply)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if r.URL.Path == "/known" {
			w.Header().Set("Content-Length", strconv.Itoa(len(stream)))
		}
		for event := range strings.SplitAfterSeq(stream, "\n\n") {
			io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	return faultproxy.New(t, server.URL, plan)
}

// A wire is a plain connection to a proxy.
type wire struct {
	t *testing.T
	*net.TCPConn
	*bufio.Reader
}

func (w wire) Read(p []byte) (int, error) { return w.Reader.Read(p) }

func dial(t *testing.T, p *faultproxy.Proxy) wire {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL(), "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(soon)))
	return wire{t, conn.(*net.TCPConn), bufio.NewReader(conn)}
}

func (w wire) post(path string) {
	w.t.Helper()
	_, err := fmt.Fprintf(w, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", path)
	require.NoError(w.t, err)
}

// head reads the head of a response.
func (w wire) head() string {
	w.t.Helper()
	var head strings.Builder
	for {
		line, err := w.ReadString('\n')
		require.NoError(w.t, err)
		if line == "\r\n" {
			return head.String()
		}
		head.WriteString(line)
	}
}

// chunk reads a chunk of a body: its size as it is announced, and as much of it as there is.
func (w wire) chunk() (size int, text string, err error) {
	if _, err := fmt.Fscanf(w, "%x\r\n", &size); err != nil {
		return 0, "", err
	}
	data := make([]byte, size+2)
	n, err := io.ReadFull(w, data)
	return size, strings.TrimSuffix(string(data[:n]), "\r\n"), err
}

// chunks reads a chunked body: whether it ends as it should, and how the connection ended otherwise.
func (w wire) chunks() (texts []string, ended bool, err error) {
	for {
		size, text, err := w.chunk()
		switch {
		case err != nil:
			return append(texts, text), false, err
		case size == 0:
			return texts, true, nil
		}
		texts = append(texts, text)
	}
}

// exchange sends one request and reads the answer with an ordinary client.
func exchange(t *testing.T, p *faultproxy.Proxy, path string) (*http.Response, string, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, Timeout: soon}
	defer client.CloseIdleConnections()
	resp, err := client.Post(p.URL()+path, "application/json", strings.NewReader("{}"))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}
