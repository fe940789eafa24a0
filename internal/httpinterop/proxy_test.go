package httpinterop

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/streamablehttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// behindNginx runs a test with the four kinds of proxy: buffering or not, HTTP/1.1 or HTTP/2.
func behindNginx(t *testing.T, sdkOptions sdk.StreamableHTTPOptions, o nginxOptions,
	test func(*testing.T, *nginx, *world, nginxOptions),
) {
	for _, o.http2 = range []bool{false, true} {
		for _, o.buffering = range []bool{false, true} {
			t.Run(fmt.Sprintf("HTTP 2 %t, buffering %t", o.http2, o.buffering), func(t *testing.T) {
				w := newWorld()
				_, handler := goSDK(t, w, sdkOptions)
				upstream := listen(t, handler)
				t.Cleanup(w.end)
				test(t, newNginx(t, upstream.URL, o), w, o)
			})
		}
	}
}

// What a proxy lets through works. One that buffers holds back what is on a stream until the stream ends: progress
// comes with the answer, and what the server says unasked comes late, but no call is delayed.
func TestNginx(t *testing.T) {
	behindNginx(t, sdk.StreamableHTTPOptions{}, nginxOptions{}, func(t *testing.T, n *nginx, w *world, o nginxOptions) {
		c := n.connect()
		protocol := 1
		if o.http2 {
			protocol = 2
		}
		for _, x := range c.wire.byMethod(http.MethodPost) {
			assert.Equal(t, protocol, x.proto)
		}
		collect, seen := steps()
		assert.Equal(t, "k", c.text("work", arguments{Key: "k", Steps: 5}, collect))
		assert.Equal(t, []float64{1, 2, 3, 4, 5}, *seen)
		large := arguments{Key: "large", Size: 5 << 20}
		assert.Equal(t, result(&large), c.text("work", large))
		if o.buffering {
			return
		}
		c.listening()
		assert.Equal(t, "ask", c.text("work", arguments{Key: "ask", Ask: true}))
		c.text("grow", arguments{Key: "new"})
		receive(t, c.changed)
	})
}

// A gateway timeout is an error with its status, and costs nothing but the call.
func TestNginxGatewayTimeout(t *testing.T) {
	options := sdk.StreamableHTTPOptions{JSONResponse: true}
	behindNginx(t, options, nginxOptions{readTimeout: time.Second},
		func(t *testing.T, n *nginx, w *world, _ nginxOptions) {
			c := n.connect()
			_, err := c.CallTool(c.ctx(), "wait", arguments{Key: "k"})
			var status *streamablehttp.StatusError
			require.ErrorAs(t, err, &status)
			assert.Equal(t, http.StatusGatewayTimeout, status.StatusCode)
			assert.NotContains(t, err.Error(), "<html>")
			assert.Equal(t, "next", c.text("work", arguments{Key: "next"}))
			assert.Len(t, c.wire.byMessage("initialize"), 1)
			w.end() // the server waits for it before it answers the DELETE
		})
}

// A proxy that cuts a stream on which nothing comes costs nothing if the server can take it up again. The answer comes
// after the proxy's timeout, and the call runs once.
func TestNginxCutsIdleStreams(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP 2 %t", http2), func(t *testing.T) {
			w := newWorld()
			_, handler := goSDK(t, w, sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)})
			resumed := make(chan struct{}, 1)
			upstream := listen(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Last-Event-Id") != "" {
					send(resumed, struct{}{})
				}
				handler.ServeHTTP(rw, r)
			}))
			t.Cleanup(w.end)
			c := newNginx(t, upstream.URL, nginxOptions{http2: http2, readTimeout: time.Second}).connect()
			go func() {
				<-resumed
				w.end()
			}()
			assert.Equal(t, "k", c.text("wait", arguments{Key: "k"}))
		})
	}
}

// While nginx is reloaded in the middle of many calls, which closes connections over HTTP/1.1 and sends GOAWAY over
// HTTP/2, no call hangs, none runs twice, and those that fail say that their answer is lost. The client stays, and so
// does what it listens to.
func TestNginxReload(t *testing.T) {
	behindNginx(t, sdk.StreamableHTTPOptions{}, nginxOptions{}, func(t *testing.T, n *nginx, w *world, o nginxOptions) {
		c := n.connect()
		var right, failed atomic.Int64
		stop := make(chan struct{})
		var callers sync.WaitGroup
		for caller := range 16 {
			callers.Go(func() {
				for i := 0; !isClosed(stop); i++ {
					a := arguments{Key: fmt.Sprintf("%d-%d", caller, i), Steps: 2, Size: 2000}
					got, err := c.CallTool(c.ctx(), "work", a)
					assert.LessOrEqual(t, w.runs(a.Key), 1, a.Key)
					if err != nil {
						assert.ErrorIs(t, err, mcp.ErrNoResponse)
						failed.Add(1)
						continue
					}
					right.Add(1)
					assert.Equal(t, result(&a), got.Text())
				}
			})
		}
		for range 5 {
			reached := right.Load() + 100
			require.Eventually(t, func() bool { return right.Load() >= reached }, wait, time.Millisecond)
			n.reload()
		}
		close(stop)
		callers.Wait()
		t.Logf("%d calls were answered, %d failed", right.Load(), failed.Load())
		assert.NoError(t, c.Err())
		assert.Len(t, c.wire.byMessage("initialize"), 1)
		if o.http2 {
			assert.Zero(t, failed.Load(), "GOAWAY says which requests were not executed")
		}
		if !o.buffering {
			listensAgain(t, c)
		}
	})
}

// listensAgain waits until the server's stream was opened anew, since the old worker has taken the first one with it,
// and changes are announced on it.
func listensAgain(t *testing.T, c *session) {
	require.Eventually(t, func() bool {
		return len(c.wire.seen(func(x exchange) bool { return x.method == http.MethodGet && x.status == http.StatusOK })) > 1
	}, wait, time.Millisecond)
	for len(c.changed) > 0 {
		<-c.changed
	}
	for i := 0; ; i++ {
		if _, err := c.CallTool(c.ctx(), "grow", arguments{Key: fmt.Sprint("new-", i)}); err != nil {
			require.ErrorIs(t, err, mcp.ErrNoResponse) // its connection was that of the old worker
		}
		select {
		case <-c.changed:
			return
		case <-time.After(100 * time.Millisecond):
			require.Less(t, i, int(wait/(100*time.Millisecond)), "nothing is announced any more")
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Nothing answers behind the proxy: the refusal is the proxy's.
func TestNginxBadGateway(t *testing.T) {
	n := newNginx(t, address(freePort(t)), nginxOptions{})
	_, err := mcp.Connect(t.Context(), &streamablehttp.Transport{URL: n.url}, nil)
	var status *streamablehttp.StatusError
	require.True(t, errors.As(err, &status), "%v", err)
	assert.Equal(t, http.StatusBadGateway, status.StatusCode)
}
