package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/transport"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// A peer is the far side of a connection, which a test plays line by line.
type peer struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// wire is a message as the peer sees it.
type wire struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *mcp.RPCError   `json:"error"`
	line   string
}

// read returns the next message of the client.
func (p *peer) read() wire {
	p.t.Helper()
	m, err := p.next()
	require.NoError(p.t, err, "the client sent nothing more")
	return m
}

func (p *peer) next() (m wire, err error) {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return m, err
	}
	m.line = strings.TrimSuffix(line, "\n")
	return m, json.Unmarshal([]byte(line), &m)
}

// expect reads the next message, which has to have the method.
func (p *peer) expect(method string) wire {
	p.t.Helper()
	m := p.read()
	require.Equal(p.t, method, m.Method, m.line)
	return m
}

func (p *peer) write(format string, args ...any) {
	p.t.Helper()
	_, err := fmt.Fprintf(p.conn, format+"\n", args...)
	require.NoError(p.t, err)
}

func (p *peer) answer(m wire, result string) {
	p.t.Helper()
	p.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// handshake plays a server of the newest revision with the capabilities.
func (p *peer) handshake(capabilities string) wire {
	p.t.Helper()
	m := p.expect("initialize")
	p.answer(m, `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"serverInfo":{"name":"peer","version":"1"}}`)
	p.expect("notifications/initialized")
	return m
}

const everything = `{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"completions":{}}`

// near is the transport of the client's side.
type near struct{ conn net.Conn }

func (n near) Connect(context.Context) (transport.Conn, error) {
	return transport.NewStream(n.conn, nil), nil
}

// pair returns the two sides of a connection. A write waits until the other side reads it.
func pair(t testing.TB) (transport.Transport, *peer) {
	a, b := net.Pipe()
	t.Cleanup(func() { b.Close() })
	return near{a}, &peer{t: t, conn: b, in: bufio.NewReader(b)}
}

// legacy returns options that accept the revisions with a handshake, so that a test need not play a probe.
func legacy(o *mcp.Options) *mcp.Options {
	var copied mcp.Options
	if o != nil {
		copied = *o
	}
	if copied.Versions == nil {
		copied.Versions = []string{mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105}
	}
	return &copied
}

// connected returns a client, and its peer after a handshake that offers everything.
func connected(t testing.TB, o *mcp.Options) (*mcp.Client, *peer) {
	t.Helper()
	tr, p := pair(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.handshake(everything)
	}()
	c, err := mcp.Connect(t.Context(), tr, legacy(o))
	<-done
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c, p
}

// async runs f and returns a function that waits for what it returned.
func async[T any](f func() (T, error)) func() (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ch := make(chan outcome, 1)
	go func() {
		v, err := f()
		ch <- outcome{v, err}
	}()
	return func() (T, error) {
		o := <-ch
		return o.value, o.err
	}
}

// call calls a tool without arguments in the background.
func call(c *mcp.Client, ctx context.Context, name string, opts ...mcp.CallOption) func() (*mcp.CallToolResult, error) {
	return async(func() (*mcp.CallToolResult, error) { return c.CallTool(ctx, name, nil, opts...) })
}

// diagnostics collects what a client logs.
type diagnostics struct {
	mu  sync.Mutex
	log strings.Builder
}

func (d *diagnostics) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(b)
}

func (d *diagnostics) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// wait waits until the text is logged.
func (d *diagnostics) wait(t testing.TB, text string) {
	t.Helper()
	logged := func() bool { return strings.Contains(d.String(), text) }
	require.Eventually(t, logged, 5*time.Second, time.Millisecond, "not logged: %q", text)
}

func (d *diagnostics) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(d, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

var _ io.Writer = (*diagnostics)(nil)
