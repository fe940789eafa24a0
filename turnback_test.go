package mcp_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

func TestMuchThatComesWhileNobodyCalls(t *testing.T) {
	for name, message := range map[string]func(n int64) *transport.Message{
		"notifications": func(int64) *transport.Message { return &transport.Message{Method: "notifications/x"} },
		"late answers": func(n int64) *transport.Message {
			return &transport.Message{ID: transport.IntID(n), Result: []byte(`{}`)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
				_, wait := ping(t.Context(), c)
				w.answer(w.expect("ping"), `{}`)
				require.NoError(t, wait())
				start := time.Now()
				for n := range int64(1000) {
					w.in <- message(1000 + n)
				}
				assert.LessOrEqual(t, time.Since(start), 80*time.Millisecond)
			})
		})
	}
}

func TestACallerThatReceivedForLong(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		call := func(takes time.Duration) {
			_, wait := ping(t.Context(), c)
			request := w.expect("ping")
			time.Sleep(takes)
			w.answer(request, `{}`)
			require.NoError(t, wait())
			synctest.Wait()
		}
		call(50 * time.Millisecond)
		assert.EqualValues(t, 1, w.receiving.Load(), "the receiver need not look, it waits for the caller")
		call(0)
		call(0)
		assert.Zero(t, w.receiving.Load(), "they come one after the other again")
	})
}

func TestATransportThatPanicsWhileItIsLent(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		w.received = func() {
			w.received = nil
			panic("a fault of the transport's")
		}
		panicked := async(func() (v any, _ error) {
			defer func() { v = recover() }()
			return nil, c.Ping(t.Context())
		})
		w.answer(w.expect("ping"), `{}`)
		v, err := panicked()
		require.NoError(t, err)
		require.NotNil(t, v)
		synctest.Wait()
		assert.EqualValues(t, 1, w.receiving.Load(), "the receiver goes on")
		_, wait := ping(t.Context(), c)
		w.answer(w.expect("ping"), `{}`)
		require.NoError(t, wait())
	})
}

func TestACallerThatComesAloneAmongMessages(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		for range 3 {
			time.Sleep(time.Second)
			_, wait := ping(t.Context(), c)
			request := w.expect("ping")
			w.notify("notifications/message", `{"level":"info","data":1}`)
			w.answer(request, `{}`)
			require.NoError(t, wait())
			synctest.Wait()
			assert.EqualValues(t, 1, w.receiving.Load(), "nobody else can be expected to receive")
		}
	})
}

func TestProgressOfACallThatIsAnsweredWhenItEnds(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		time.Sleep(time.Second) // the receiver receives
		ctx, cancel := context.WithCancel(t.Context())
		var request *transport.Message
		progress := func(n string) {
			w.notify("notifications/progress", `{"progressToken":`+string(w.progressToken(request))+`,"progress":`+n+`}`)
		}
		var seen []float64
		called := async(func() (*mcp.CallToolResult, error) {
			return c.CallTool(ctx, "x", nil, mcp.WithProgress(func(p mcp.Progress) {
				if seen = append(seen, p.Progress); p.Progress == 1 {
					progress("2")
					w.answer(request, `{"content":[]}`)
					synctest.Wait() // it is there
					cancel()
				}
			}))
		})
		request = w.expect("tools/call")
		progress("1")
		_, err := called()
		require.NoError(t, err)
		assert.Equal(t, []float64{1, 2}, seen)
	})
}

func TestWhatIsBehindMuchProgressOfASlowHandler(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		called := async(func() (*mcp.CallToolResult, error) {
			return c.CallTool(t.Context(), "x", nil, mcp.WithProgress(func(mcp.Progress) { time.Sleep(15 * time.Millisecond) }))
		})
		request := w.expect("tools/call")
		start := time.Now()
		for range 50 {
			w.notify("notifications/progress", `{"progressToken":`+string(w.progressToken(request))+`,"progress":1}`)
		}
		w.in <- &transport.Message{ID: transport.IntID(7), Method: "ping"}
		assert.Equal(t, transport.IntID(7), (<-w.out).ID)
		assert.LessOrEqual(t, time.Since(start), 40*time.Millisecond)
		w.answer(request, `{"content":[]}`)
		_, err := called()
		require.NoError(t, err)
		assert.Equal(t, 50*15*time.Millisecond, time.Since(start))
	})
}
