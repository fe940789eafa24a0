package mcptest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/internal/leakcheck"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// TestMain lets the test binary stand in for a server process.
func TestMain(m *testing.M) {
	if os.Getenv("MCPTEST_CHILD") != "" {
		if err := greeter().ServeStdio(context.Background()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	leakcheck.Main(m)
}

func greeter() *mcptest.Server {
	s := new(mcptest.Server)
	s.AddTool(&mcp.Tool{Name: "greet"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return mcptest.Text("hello"), nil
	})
	return s
}

func TestServe(t *testing.T) {
	near, pipe := net.Pipe()
	far := &closing{Conn: pipe}
	served := make(chan error)
	go func() { served <- greeter().Serve(t.Context(), far) }()
	client, err := mcp.Connect(t.Context(), connector{transport.NewStream(near, nil)}, nil)
	require.NoError(t, err)
	res, err := client.CallTool(t.Context(), "greet", nil)
	require.NoError(t, err)
	assert.Equal(t, "hello", res.Text())
	require.NoError(t, client.Close())
	require.NoError(t, <-served)
	assert.True(t, far.closed)
}

// closing tells whether it was closed.
type closing struct {
	net.Conn
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return c.Conn.Close()
}

func TestServeEndsWithCtxAndItsHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		near, far := net.Pipe()
		s := new(mcptest.Server)
		s.Handle("slow", func(ctx context.Context, _ *mcptest.Call) (any, error) {
			<-ctx.Done()
			time.Sleep(time.Minute)
			return nil, nil
		})
		served := make(chan error)
		go func() { served <- s.Serve(ctx, far) }()
		conn := transport.NewStream(near, nil)
		require.NoError(t, conn.Send(t.Context(), one(&transport.Message{ID: transport.IntID(1), Method: "slow"})))
		synctest.Wait()
		start := time.Now()
		cancel(cause)
		require.ErrorIs(t, <-served, cause)
		assert.Equal(t, time.Minute, time.Since(start))
		_, err := conn.Receive(t.Context())
		require.ErrorIs(t, err, io.EOF)
		conn.Close()
	})
}

func TestServeEndsSubscriptionsInOrder(t *testing.T) {
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- greeter().Serve(ctx, far) }()
	client, err := mcp.Connect(t.Context(), connector{transport.NewStream(near, nil)}, nil)
	require.NoError(t, err)
	defer client.Close()
	sub, err := client.Listen(t.Context(), mcp.Filter{Tools: true})
	require.NoError(t, err)
	cancel()
	for _, err := range sub.Events(t.Context()) {
		require.NoError(t, err, "lost")
	}
	require.ErrorIs(t, <-served, context.Canceled)
	<-client.Done()
}

func TestServeDoesNotWaitForAClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- greeter().Serve(ctx, far) }()
		_, err := near.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":` +
			withModernMeta(`"notifications":{"toolsListChanged":true}`) + "}\n"))
		require.NoError(t, err)
		synctest.Wait() // it is about to acknowledge
		start := time.Now()
		cancel()
		require.ErrorIs(t, <-served, context.Canceled)
		assert.Equal(t, time.Second, time.Since(start))
		near.Close()
	})
}

func TestServeReportsABrokenStream(t *testing.T) {
	broken := errors.New("broken")
	near, far := io.Pipe()
	far.CloseWithError(broken)
	err := new(mcptest.Server).Serve(t.Context(), struct {
		io.Reader
		io.WriteCloser
	}{near, far})
	require.ErrorIs(t, err, broken)
}

func TestServeStdio(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "MCPTEST_CHILD=1", "GORACE=atexit_sleep_ms=0")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	stream := struct {
		io.Reader
		io.WriteCloser
	}{stdout, stdin}
	client, err := mcp.Connect(t.Context(), connector{transport.NewStream(stream, nil)}, nil)
	require.NoError(t, err)
	res, err := client.CallTool(t.Context(), "greet", nil)
	require.NoError(t, err)
	assert.Equal(t, "hello", res.Text())
	require.NoError(t, stdin.Close())
	require.NoError(t, cmd.Wait(), "the server ends with its input")
	<-client.Done()
	client.Close()
}
