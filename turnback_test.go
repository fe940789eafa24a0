package mcp_test

import (
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
