package interop

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/stdio"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/stretchr/testify/require"
)

// wait is how long anything may take that is expected to happen.
const wait = 30 * time.Second

// A session is a connection to a server that was started for it.
type session struct {
	*mcp.Client
	*route
	t       *testing.T
	log     *journal
	opening opening
	lax     bool // the server may not confirm the end of its session
}

// A route is how a server is reached.
type route struct {
	wire *wiretap
	mark string   // of the processes of the server
	http *httpTap // nil over stdio
	host *host    // nil over stdio, where the client ends the server
}

// An opening is what connecting took.
type opening struct {
	requests  []string // of the protocol
	trips     []string // over HTTP: what was waited for, with tries that came to nothing
	processes int
	took      time.Duration
}

// connect starts the server and connects to it. At the end of the test the session is closed, if it was not before.
func connect(t *testing.T, s server, o mcp.Options) *session {
	t.Helper()
	return connectBy(t, reach(t, s), o)
}

// connectTo is for a server that is no more than a command.
func connectTo(t *testing.T, command string, args []string, o mcp.Options) *session {
	t.Helper()
	return connectBy(t, launch(t, command, args), o)
}

func connectBy(t *testing.T, r *route, o mcp.Options) *session {
	t.Helper()
	log := &journal{}
	o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	begun := time.Now()
	client, err := mcp.Connect(ctx, r.wire, &o)
	took := time.Since(begun)
	require.NoError(t, err)
	requests, processes := r.wire.heard()
	session := &session{Client: client, route: r, t: t, log: log, opening: opening{requests, requests, processes, took}}
	if r.http != nil {
		session.opening.trips = r.http.opening()
	}
	t.Cleanup(func() {
		session.closed()
		if t.Failed() {
			t.Logf("the client reports:\n%s", log)
		}
	})
	require.NotEmpty(t, marked(r.mark), "the mark is not found: the check for processes left would see nothing")
	return session
}

// refused returns why the server cannot be connected to in the revision. Nothing of the attempt may be left.
func refused(t *testing.T, s server, version string) error {
	t.Helper()
	r := reach(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	_, err := mcp.Connect(ctx, r.wire, &mcp.Options{Versions: []string{version}})
	require.Error(t, err)
	if r.host == nil {
		require.Empty(t, marked(r.mark), "processes are left after Connect failed")
	}
	return err
}

// reach starts a server that is reached over HTTP; one over stdio is started by connecting.
func reach(t *testing.T, s server) *route {
	t.Helper()
	if s.path == "" {
		line := s.commandLine(t)
		return launch(t, line[0], line[1:])
	}
	h := serve(t, s)
	below := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(below.CloseIdleConnections)
	tap := &httpTap{below: below}
	transport := &streamablehttp.Transport{URL: h.url, Client: &http.Client{Transport: tap}}
	return &route{wire: &wiretap{Transport: transport}, mark: h.mark, http: tap, host: h}
}

// launch has connecting start a server.
func launch(t *testing.T, command string, args []string) *route {
	t.Helper()
	mark, dir := newMark(), t.TempDir()
	name, value, _ := strings.Cut(mark, "=")
	return &route{mark: mark, wire: &wiretap{Transport: &stdio.Transport{
		Command: command,
		Args:    args,
		Dir:     dir,
		Env:     map[string]string{name: value, "MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")},
	}}}
}

// newMark is a variable for the environment of a server, by which its processes are found.
func newMark() string { return "MCP_INTEROP_MARK=" + rand.Text() }

// closed closes the session and returns how long it took. Nothing that it started may be left.
func (s *session) closed() time.Duration {
	s.t.Helper()
	begun := time.Now()
	err := s.Close()
	took := time.Since(begun)
	if !s.lax {
		require.NoError(s.t, err)
	} else if err != nil {
		require.ErrorContains(s.t, err, "the session may live on")
	}
	if s.host != nil {
		s.host.stop()
	}
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
