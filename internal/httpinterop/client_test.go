package httpinterop

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wait bounds whatever should happen at once.
const wait = 10 * time.Second

const formSchema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`

// legacy pins the revisions with sessions, for what the newer ones do in another way.
var legacy = []string{mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105}

// answerTo is what the handlers of these tests say to a prompt.
func answerTo(prompt string) string { return "answer to " + prompt }

// A session is a client of one server, with what a test wants to see of it.
type session struct {
	*mcp.Client
	t    testing.TB
	wire *wire
	log  *journal
	lax  bool // whether the session may live on after Close

	messages chan *mcp.LogMessage
	updated  chan string
	changed  chan struct{} // the tools
	offered  chan struct{} // other resources
}

// connect makes a client with every handler set. It is closed at the end, if it was not before.
func connect(t testing.TB, url string, versions []string) *session {
	t.Helper()
	below := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(below.CloseIdleConnections)
	return connectOver(t, &streamablehttp.Transport{URL: url}, below, versions)
}

// connectOver has the transport's requests go through below.
func connectOver(
	t testing.TB, transport *streamablehttp.Transport, below http.RoundTripper, versions []string,
) *session {
	t.Helper()
	s := &session{
		t: t, wire: &wire{below: below}, log: &journal{},
		messages: make(chan *mcp.LogMessage, 16), updated: make(chan string, 16),
		changed: make(chan struct{}, 16), offered: make(chan struct{}, 16),
	}
	transport.Client = &http.Client{Transport: s.wire}
	transport.Reconnect.Delay = 50 * time.Millisecond
	var err error
	s.Client, err = mcp.Connect(t.Context(), transport, s.options(versions))
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := s.Close(); !s.lax {
			assert.NoError(t, err)
		}
		if t.Failed() {
			t.Logf("the client reports:\n%s", s.log)
		}
	})
	return s
}

func (s *session) options(versions []string) *mcp.Options {
	return &mcp.Options{
		Versions:      versions,
		CreateMessage: createMessage,
		Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada"}}, nil
		},
		Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		On: mcp.Notifications{
			Log:              func(_ context.Context, m *mcp.LogMessage) { send(s.messages, m) },
			ResourceUpdated:  func(_ context.Context, uri string) { send(s.updated, uri) },
			ToolsChanged:     func(context.Context) { send(s.changed, struct{}{}) },
			ResourcesChanged: func(context.Context) { send(s.offered, struct{}{}) },
		},
	}
}

func createMessage(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	prompt := r.Messages[0].Content[0].(*mcp.TextContent).Text
	return &mcp.CreateMessageResult{Content: []mcp.Content{mcp.Text(answerTo(prompt))}, Model: "test"}, nil
}

// ctx is bounded, so that a test fails and does not hang.
func (s *session) ctx() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), wait)
	s.t.Cleanup(cancel)
	return ctx
}

// text calls a tool and returns the text of what it answers.
func (s *session) text(name string, args any, opts ...mcp.CallOption) string {
	s.t.Helper()
	result, err := s.CallTool(s.ctx(), name, args, opts...)
	require.NoError(s.t, err)
	require.False(s.t, result.IsError, result.Text())
	return result.Text()
}

// listening waits until the stream of what the server sends unasked is there.
func (s *session) listening() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		streams := s.wire.byMethod(http.MethodGet)
		return len(streams) > 0 && streams[len(streams)-1].status == http.StatusOK
	}, wait, time.Millisecond)
}

// steps returns an option that collects progress, and where it does so.
func steps() (mcp.CallOption, *[]float64) {
	var seen []float64
	return mcp.WithProgress(func(p mcp.Progress) { seen = append(seen, p.Progress) }), &seen
}

// receive returns the next value, or fails the test.
func receive[T any](t testing.TB, from <-chan T) T {
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

// A journal keeps what the client reports.
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
