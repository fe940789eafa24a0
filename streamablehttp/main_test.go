package streamablehttp_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/seed62b61957/mcp/transport"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// soon bounds how long a test waits for what should happen at once.
const soon = 10 * time.Second

const version = "2025-11-25"

func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(soon):
		require.Fail(t, "it takes too long")
		panic("unreachable")
	}
}

// client is one connection under test, whose Receive is always running.
type client struct {
	t        testing.TB
	conn     transport.Conn
	received chan *transport.Message
	ended    chan error // the error of Receive
}

func connect(t testing.TB, tr *streamablehttp.Transport) *client {
	t.Helper()
	conn, err := tr.Connect(t.Context())
	require.NoError(t, err)
	c := &client{t: t, conn: conn, received: make(chan *transport.Message, 1000), ended: make(chan error, 1)}
	go func() {
		for {
			m, err := conn.Receive(context.Background())
			if err != nil {
				c.ended <- err
				return
			}
			c.received <- m
		}
	}()
	t.Cleanup(func() { conn.Close() })
	return c
}

// open connects to a fake server and makes the handshake.
func open(t testing.TB, f *fake, change ...func(*streamablehttp.Transport)) *client {
	t.Helper()
	tr := &streamablehttp.Transport{URL: f.url}
	for _, f := range change {
		f(tr)
	}
	c := connect(t, tr)
	c.handshake()
	return c
}

func (c *client) handshake() {
	c.t.Helper()
	answer, _, err := c.send(c.t.Context(), request(0, "initialize"), "")
	require.NoError(c.t, err)
	require.NotNil(c.t, answer)
	_, _, err = c.send(c.t.Context(), notification("notifications/initialized"), version)
	require.NoError(c.t, err)
}

// call sends a request and returns the result, the messages that came before it, and the error of Send.
func (c *client) call(id int64, method string) (result string, before []*transport.Message, err error) {
	return c.callContext(c.t.Context(), id, method)
}

func (c *client) callContext(ctx context.Context, id int64, method string) (string, []*transport.Message, error) {
	answer, before, err := c.send(ctx, request(id, method), version)
	if answer == nil {
		return "", before, err
	}
	return string(answer.Result), before, err
}

func (c *client) send(
	ctx context.Context, m *transport.Message, version string,
) (answer *transport.Message, before []*transport.Message, err error) {
	err = c.conn.Send(ctx, transport.Outgoing{Message: m, Version: version, Deliver: func(got *transport.Message) {
		n, ok := got.ID.Int64()
		if want, _ := m.ID.Int64(); ok && n == want && got.Method == "" {
			answer = got
			return
		}
		before = append(before, got)
	}})
	return answer, before, err
}

func request(id int64, method string) *transport.Message {
	return &transport.Message{ID: transport.IntID(id), Method: method}
}

func notification(method string) *transport.Message { return &transport.Message{Method: method} }

// doer is a Doer of one function.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }

// legacy accepts the revisions with a handshake, so that a test need not play the probe for the others.
var legacy = &mcp.Options{Versions: []string{
	mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105,
}}
