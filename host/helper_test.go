package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/config"
	"github.com/seed62b61957/mcp/host"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// memory is the type of the servers of a world.
const memory = config.Type("memory")

// A world has the servers that a host reaches in memory, and can take them away.
type world struct {
	t testing.TB

	mu       sync.Mutex
	servers  map[string]*mcptest.Server
	away     map[string]error         // what an attempt to connect fails with
	block    map[string]chan struct{} // that an attempt to connect waits for, also beyond its ctx
	attempts map[string][]time.Time
	conns    map[string][]transport.Conn
}

func newWorld(t testing.TB) *world {
	return &world{
		t:        t,
		servers:  make(map[string]*mcptest.Server),
		away:     make(map[string]error),
		block:    make(map[string]chan struct{}),
		attempts: make(map[string][]time.Time),
		conns:    make(map[string][]transport.Conn),
	}
}

// add adds a server with an echo tool.
func (w *world) add(name string) *mcptest.Server {
	s := new(mcptest.Server)
	addEcho(s)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers[name] = s
	return s
}

func addEcho(s *mcptest.Server) {
	s.AddTool(&mcp.Tool{Name: "echo"}, func(_ context.Context, c *mcptest.Call) (*mcp.CallToolResult, error) {
		var args struct{ Text string }
		err := c.Bind(&args)
		return mcptest.Text(args.Text), err
	})
}

var errAway = errors.New("nobody is at home")

// leave has attempts to reach a server fail, and ends the connections that there are.
func (w *world) leave(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away[name] = errAway
	w.cut(name)
}

func (w *world) comeBack(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.away, name)
}

// crash ends the connections to a server, which can be reached again at once.
func (w *world) crash(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut(name)
}

func (w *world) cut(name string) {
	for _, c := range w.conns[name] {
		c.Close()
	}
	w.conns[name] = nil
}

// hang has attempts to reach a server hang, whatever their ctx says, until the function is called.
func (w *world) hang(name string) (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan struct{})
	w.block[name] = c
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.block, name)
		close(c)
	})
}

// tried is when there were attempts to reach a server.
func (w *world) tried(name string) []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Time(nil), w.attempts[name]...)
}

// open is how many connections to a server there are.
func (w *world) open(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.servers[name].Sessions())
}

func (w *world) transport(s config.Server, _ transport.Transport) (transport.Transport, error) {
	return road{w, s.Name}, nil
}

type road struct {
	world *world
	name  string
}

func (r road) Connect(ctx context.Context) (transport.Conn, error) {
	w := r.world
	w.mu.Lock()
	w.attempts[r.name] = append(w.attempts[r.name], time.Now())
	server, err, block := w.servers[r.name], w.away[r.name], w.block[r.name]
	w.mu.Unlock()
	if block != nil {
		<-block
	}
	if err != nil {
		return nil, err
	}
	conn, err := server.Transport().Connect(ctx)
	if err == nil {
		w.mu.Lock()
		w.conns[r.name] = append(w.conns[r.name], conn)
		w.mu.Unlock()
	}
	return conn, err
}

// host returns a host of the world's servers, which is closed when the test ends.
func (w *world) host(change ...func(*host.Options)) *host.Host {
	o := host.Options{Transport: w.transport}
	for _, f := range change {
		f(&o)
	}
	h := host.New(o)
	w.t.Cleanup(func() { closeHost(w.t, h) })
	return h
}

func closeHost(t testing.TB, h *host.Host) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	assert.NoError(t, h.Close(ctx))
}

// soon bounds what a test waits for, and should not have to.
const soon = 20 * time.Second

// options are the same for all servers.
func options(o host.ServerOptions) func(*host.Options) {
	return func(h *host.Options) { h.Server = func(config.Server) host.ServerOptions { return o } }
}

func servers(names ...string) (list []config.Server) {
	for _, name := range names {
		list = append(list, config.Server{Name: name, Type: memory})
	}
	return list
}

func apply(t testing.TB, h *host.Host, names ...string) {
	t.Helper()
	require.NoError(t, h.Apply(t.Context(), servers(names...)))
}

// status is that of one server.
func status(t testing.TB, h *host.Host, name string) host.ServerStatus {
	t.Helper()
	for _, s := range h.Status() {
		if s.Name == name {
			return s
		}
	}
	require.Fail(t, "there is no server "+name)
	panic("unreachable")
}

func state(t testing.TB, h *host.Host, name string) host.State {
	t.Helper()
	return status(t, h, name).State
}

// until waits for a state, in a bubble: outside of one a state may pass unseen.
func until(t testing.TB, h *host.Host, name string, want host.State) host.ServerStatus {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for e := range h.Events(ctx) {
		if e.Status.Name == name && e.Status.State == want {
			return e.Status
		}
	}
	require.Fail(t, name+" is never "+string(want), "%+v", h.Status())
	panic("unreachable")
}

// names are those of the tools of a catalog.
func names(c *host.Catalog) []string {
	list := []string{}
	for _, t := range c.Tools {
		list = append(list, t.Name)
	}
	return list
}

func text(s string) map[string]any { return map[string]any{"text": s} }

// echo calls the tool of that name.
func echo(t testing.TB, h *host.Host, server string) error {
	t.Helper()
	result, err := h.CallServerTool(t.Context(), server, "echo", text("hi"))
	if err == nil {
		assert.Equal(t, "hi", result.Text())
	}
	return err
}

// isState asserts that err is one of the server's state, and that nothing was sent.
func isState(t testing.TB, err error, want host.State) *host.StateError {
	t.Helper()
	var e *host.StateError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, want, e.State)
	assert.True(t, transport.SafeToRetry(err))
	return e
}

func schema(text string) json.RawMessage { return json.RawMessage(text) }
