package mcp_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

func TestKeepAlive(t *testing.T) {
	t.Run("silence ends the connection", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, p := connected(t, &mcp.Options{KeepAlive: 10 * time.Second})
			p.answer(p.expect("ping"), `{}`)
			start := time.Now()
			p.expect("ping")
			go func() { // what follows is the notice of cancellation
				for err := error(nil); err == nil; {
					_, err = p.next()
				}
			}()
			<-c.Done()
			assert.Equal(t, 20*time.Second, time.Since(start))
			assert.ErrorIs(t, c.Err(), mcp.ErrClosed)
			assert.ErrorContains(t, c.Err(), "keep-alive")
		})
	})
	t.Run("a server without ping is left alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, p := connected(t, &mcp.Options{KeepAlive: 10 * time.Second})
			p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, p.expect("ping").ID)
			time.Sleep(time.Hour)
			require.NoError(t, c.Err())
			result := call(c, t.Context(), "a")
			p.answer(p.expect("tools/call"), hello)
			_, err := result()
			require.NoError(t, err)
		})
	})
}

// serve answers what comes until the client is gone, one thing after the other. A call takes its time.
func (p *peer) serve(call time.Duration, progress bool) {
	for m, err := p.next(); err == nil; m, err = p.next() {
		for left := call; m.Method == "tools/call" && left > 0; left -= time.Second {
			time.Sleep(time.Second)
			if progress {
				p.notify("notifications/progress", `{"progressToken":`+string(m.ID)+`,"progress":1}`)
			}
		}
		if len(m.ID) > 0 { // a client that is gone shows at the next one
			fmt.Fprintf(p.conn, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", m.ID)
		}
	}
}

func TestABusyServerIsKept(t *testing.T) {
	for name, progress := range map[string]bool{"in silence": false, "with progress": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := connected(t, &mcp.Options{KeepAlive: 3 * time.Second})
				go p.serve(50*time.Second, progress)
				for range 2 {
					time.Sleep(4 * time.Second)
					_, err := c.CallTool(t.Context(), "a", nil)
					require.NoError(t, err)
				}
				time.Sleep(time.Minute)
				require.NoError(t, c.Err())
			})
		})
	}
}

func TestASignOfLifeSparesThePing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connected(t, &mcp.Options{KeepAlive: 10 * time.Second})
		begun := time.Now()
		time.Sleep(9 * time.Second)
		p.notify("notifications/x", `{}`)
		m := p.expect("ping")
		assert.Equal(t, 20*time.Second, time.Since(begun))
		time.Sleep(9 * time.Second)
		p.notify("notifications/x", `{}`) // in place of an answer
		p.expect("notifications/cancelled")
		time.Sleep(time.Second)
		require.NoError(t, c.Err())
		p.answer(m, `{}`) // late
	})
}

// Others that call meanwhile, and calls that nothing would end, do not keep a dead connection.
func TestADeadConnectionIsFoundUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connected(t, &mcp.Options{KeepAlive: 10 * time.Second})
		go func() {
			for err := error(nil); err == nil; {
				_, err = p.next()
			}
		}()
		endless := call(c, t.Context(), "endless", mcp.WithTimeout(-1), mcp.WithMaxTimeout(-1))
		begun := time.Now()
		for c.Err() == nil && time.Since(begun) < time.Hour {
			go func() { _, _ = c.CallTool(t.Context(), "a", nil) }()
			time.Sleep(7 * time.Second)
		}
		require.ErrorContains(t, c.Err(), "keep-alive")
		assert.Less(t, time.Since(begun), 2*time.Minute, "the limit of a call, and what it takes to notice")
		_, err := endless()
		require.ErrorIs(t, err, mcp.ErrClosed)
	})
}
