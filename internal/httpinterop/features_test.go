package httpinterop

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/seed62b61957/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Default options reach every server, in whatever revision both prefer.
func TestDefaultOptions(t *testing.T) {
	forEach(t, nil, func(t *testing.T, p *peer, _ *world, url string) {
		c := connect(t, url, nil)
		assert.NotEmpty(t, c.Server().ProtocolVersion)
		tools, err := c.ListTools(c.ctx())
		require.NoError(t, err)
		assert.NotEmpty(t, tools)
		assert.Equal(t, "k", c.text("work", arguments{Key: "k"}))
	})
}

// The session and the version that were agreed on are named in every later request, and the session is ended by Close.
func TestSession(t *testing.T) {
	forEach(t, nil, func(t *testing.T, p *peer, _ *world, url string) {
		c := connect(t, url, p.versions)
		assert.Equal(t, p.version, c.Server().ProtocolVersion)
		if p.listens {
			c.listening()
		}
		tools, err := c.ListTools(c.ctx())
		require.NoError(t, err)
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		assert.Subset(t, names, []string{"work", "wait", "ask"})
		require.NoError(t, c.Close())
		assert.ErrorIs(t, c.Err(), mcp.ErrClosed)

		lists := c.wire.byMessage("tools/list")
		require.Len(t, lists, 1)
		assert.Equal(t, p.version, lists[0].version)
		assert.Equal(t, p.session, lists[0].session != "")
		if p.media != "" {
			assert.Equal(t, p.media, lists[0].media)
		}
		deletes := c.wire.byMethod(http.MethodDelete)
		if !p.session {
			assert.Empty(t, deletes)
			return
		}
		require.Len(t, deletes, 1)
		assert.Less(t, deletes[0].status, 300)
		assert.Equal(t, lists[0].session, deletes[0].session)
		assert.Equal(t, p.version, deletes[0].version)
	})
}

// Every legacy revision can be pinned.
func TestPinnedVersion(t *testing.T) {
	for _, version := range legacy {
		t.Run(version, func(t *testing.T) {
			forEach(t, nil, func(t *testing.T, p *peer, _ *world, url string) {
				c := connect(t, url, []string{version})
				assert.Equal(t, version, c.Server().ProtocolVersion)
				assert.Equal(t, "k", c.text("work", arguments{Key: "k"}))
				calls := c.wire.byMessage("tools/call")
				require.Len(t, calls, 1)
				assert.Equal(t, version, calls[0].version)
			})
		})
	}
}

// Progress comes in order and before the result, on the call's own stream or, from a server that answers in JSON, on
// the other one. What the server asks in the meantime is answered; where the streams differ, the question comes after
// the progress, so that none can be late.
func TestProgressAndQuestion(t *testing.T) {
	forEach(t, asks, func(t *testing.T, p *peer, w *world, url string) {
		c := connect(t, url, p.versions)
		c.listening()
		collect, seen := steps()
		assert.Equal(t, "k", c.text("work", arguments{Key: "k", Steps: 5, Ask: true}, collect))
		if p.mixes {
			assert.Subset(t, []float64{1, 2, 3, 4, 5}, *seen)
		} else {
			assert.Equal(t, []float64{1, 2, 3, 4, 5}, *seen)
		}
		assert.Equal(t, 1, w.runs("k"))
	})
}

func TestProgressWithoutQuestion(t *testing.T) {
	forEach(t, func(p *peer) bool { return !p.asks }, func(t *testing.T, p *peer, w *world, url string) {
		c := connect(t, url, p.versions)
		collect, seen := steps()
		assert.Equal(t, "k", c.text("work", arguments{Key: "k", Steps: 5}, collect))
		switch {
		case p.mixes:
			assert.Subset(t, []float64{1, 2, 3, 4, 5}, *seen)
		case p.streams:
			assert.Equal(t, []float64{1, 2, 3, 4, 5}, *seen)
		default:
			assert.Empty(t, *seen)
		}
		assert.Equal(t, 1, w.runs("k"))
	})
}

func TestElicitation(t *testing.T) {
	forEach(t, asks, func(t *testing.T, p *peer, _ *world, url string) {
		c := connect(t, url, p.versions)
		c.listening()
		assert.Equal(t, "accept Ada", c.text("elicit", arguments{Key: "who?"}))
	})
}

func TestLogging(t *testing.T) {
	forEach(t, listens, func(t *testing.T, p *peer, _ *world, url string) {
		c := connect(t, url, p.versions)
		c.listening()
		require.NoError(t, c.SetLogLevel(c.ctx(), mcp.LogInfo))
		c.text("log", arguments{Key: "a line"})
		m := receive(t, c.messages)
		assert.Equal(t, mcp.LogInfo, m.Level)
		assert.JSONEq(t, `"a line"`, string(m.Data))
	})
}

func TestSubscription(t *testing.T) {
	forEach(t, listens, func(t *testing.T, p *peer, _ *world, url string) {
		c := connect(t, url, p.versions)
		c.listening()
		require.NoError(t, c.SubscribeResource(c.ctx(), resourceURI))
		c.text("update", arguments{Key: resourceURI})
		assert.Equal(t, resourceURI, receive(t, c.updated))
		require.NoError(t, c.UnsubscribeResource(c.ctx(), resourceURI))
	})
}

// That the tools have changed comes on the server's own stream.
func TestListChanged(t *testing.T) {
	forEach(t, listens, func(t *testing.T, p *peer, _ *world, url string) {
		c := connect(t, url, p.versions)
		c.listening()
		c.text("grow", arguments{Key: "new"})
		receive(t, c.changed)
		tools, err := c.ListTools(c.ctx())
		require.NoError(t, err)
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		assert.Contains(t, names, "new")
	})
}

// A call that its caller gave up ends at once, on the server too, and no other call is disturbed.
func TestCancel(t *testing.T) {
	forEach(t, cancels, func(t *testing.T, p *peer, w *world, url string) {
		c := connect(t, url, p.versions)
		ctx, cancel := context.WithCancel(c.ctx())
		go func() {
			receive(t, w.started)
			cancel()
		}()
		_, err := c.CallTool(ctx, "wait", arguments{Key: "k"})
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, "k", receive(t, w.cancelled))
		assert.Equal(t, "next", c.text("work", arguments{Key: "next"}))
	})
}

// The time of a call is bounded, and the server is told.
func TestTimeout(t *testing.T) {
	forEach(t, cancels, func(t *testing.T, p *peer, w *world, url string) {
		c := connect(t, url, p.versions)
		_, err := c.CallTool(c.ctx(), "wait", arguments{Key: "k"}, mcp.WithTimeout(100*time.Millisecond))
		var timeout *mcp.TimeoutError
		require.ErrorAs(t, err, &timeout)
		assert.Equal(t, "k", receive(t, w.cancelled))
	})
}

// Close ends what is under way, in bounded time, and leaves nothing. A server may let the call run to its end, and not
// answer the DELETE before.
func TestCloseInTheMiddle(t *testing.T) {
	forEach(t, nil, func(t *testing.T, p *peer, w *world, url string) {
		c := connect(t, url, p.versions)
		c.lax = true
		if p.listens {
			c.listening() // or the server may see the stream after the session has ended
		}
		ended := make(chan error, 1)
		go func() {
			_, err := c.CallTool(c.ctx(), "wait", arguments{Key: "k"})
			ended <- err
		}()
		receive(t, w.started)
		begun := time.Now()
		if err := c.Close(); err != nil {
			assert.ErrorContains(t, err, "the session may live on")
		}
		assert.Less(t, time.Since(begun), wait)
		assert.ErrorIs(t, receive(t, ended), mcp.ErrClosed)
		w.end()
	})
}

// 5 MiB come whole.
func TestLargeResult(t *testing.T) {
	forEach(t, nil, func(t *testing.T, p *peer, _ *world, url string) {
		c := connect(t, url, p.versions)
		a := arguments{Key: "large", Size: 5 << 20}
		assert.Equal(t, result(&a), c.text("work", a))
	})
}
