package interop

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wait is how long anything may take that is expected to happen.
const wait = 30 * time.Second

// A session is a connection to a server that was started for it.
type session struct {
	*mcp.Client
	t       *testing.T
	mark    string
	log     *journal
	wire    *wiretap
	opening opening
}

// An opening is what connecting took.
type opening struct {
	requests  []string
	processes int
	took      time.Duration
}

// connect starts the server and connects to it. At the end of the test the session is closed, if it was not before.
func connect(t *testing.T, s server, o mcp.Options) *session {
	t.Helper()
	line := s.commandLine(t)
	return connectTo(t, line[0], line[1:], o)
}

func connectTo(t *testing.T, command string, args []string, o mcp.Options) *session {
	t.Helper()
	wire, mark := launch(t, command, args)
	log := &journal{}
	o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	begun := time.Now()
	client, err := mcp.Connect(t.Context(), wire, &o)
	took := time.Since(begun)
	require.NoError(t, err)
	requests, processes := wire.heard()
	session := &session{
		Client: client, t: t, mark: mark, log: log, wire: wire,
		opening: opening{requests, processes, took},
	}
	t.Cleanup(func() {
		assert.NoError(t, client.Close())
		assert.Empty(t, marked(mark), "processes are left after Close")
	})
	require.NotEmpty(t, marked(mark), "the mark is not found: the check for processes left would see nothing")
	return session
}

// refused returns why the server cannot be connected to in the revision. Nothing of the attempt may be left.
func refused(t *testing.T, s server, version string) error {
	t.Helper()
	line := s.commandLine(t)
	wire, mark := launch(t, line[0], line[1:])
	_, err := mcp.Connect(t.Context(), wire, &mcp.Options{Versions: []string{version}})
	require.Error(t, err)
	require.Empty(t, marked(mark), "processes are left after Connect failed")
	return err
}

// launch is how a server is started, and the mark that its processes have.
func launch(t *testing.T, command string, args []string) (wire *wiretap, mark string) {
	t.Helper()
	const name = "MCP_INTEROP_MARK"
	value, dir := rand.Text(), t.TempDir()
	return &wiretap{Transport: &stdio.Transport{
		Command: command,
		Args:    args,
		Dir:     dir,
		Env:     map[string]string{name: value, "MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")},
	}}, name + "=" + value
}

// closed closes the session and returns how long it took. Nothing that it started may be left.
func (s *session) closed() time.Duration {
	s.t.Helper()
	begun := time.Now()
	require.NoError(s.t, s.Close())
	took := time.Since(begun)
	require.Empty(s.t, marked(s.mark), "processes are left after Close")
	return took
}

// ctx is bounded, so that a test fails and does not hang.
func (s *session) ctx() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), wait)
	s.t.Cleanup(cancel)
	return ctx
}

// text calls a tool and returns the text of what it answers.
func (s *session) text(name string, args map[string]any, opts ...mcp.CallOption) string {
	s.t.Helper()
	result, err := s.CallTool(s.ctx(), name, args, opts...)
	require.NoError(s.t, err)
	require.False(s.t, result.IsError, result.Text())
	return result.Text()
}

// marked lists the processes that were started with the mark in their environment, whatever group or session they are
// in now. A process that has ended and was not reaped has no environment any more; leakcheck finds those.
func marked(mark string) []string {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, file := range environments {
		environment, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environment, []byte(mark)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	return found
}

// receive returns the next value, or fails the test.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(wait):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

// send delivers a value if there is room, so that a handler never blocks on a test that has seen enough.
func send[T any](to chan<- T, v T) {
	select {
	case to <- v:
	default:
	}
}

// journal keeps what the client reports.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}
