package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// A crowd is callers and a server that do things at random, in the time of a bubble, so that each wait is known
// exactly.
type crowd struct {
	*wireless
	client *mcp.Client
	stop   chan struct{}

	mu       sync.Mutex
	random   *rand.Rand
	answered map[string]time.Time // calls, by id
	asked    map[string]time.Time // requests of the server's that have no answer yet
}

// unheard is how long a message may wait for somebody to receive it: the receiver looks twice, and may then have
// received answers that make it lend once more.
const unheard = 60 * time.Millisecond

func TestACrowdOfCallers(t *testing.T) {
	for seed := range uint64(300) {
		lent(t, &mcp.Options{Timeout: -1, MaxTimeout: -1}, func(t *testing.T, client *mcp.Client, w *wireless) {
			c := &crowd{
				wireless: w, client: client, stop: make(chan struct{}), random: rand.New(rand.NewPCG(seed, 0)),
				answered: make(map[string]time.Time), asked: make(map[string]time.Time),
			}
			var callers, server sync.WaitGroup
			server.Go(func() { c.serve(&server) })
			for range 1 + c.upTo(4) {
				callers.Go(func() {
					for range 1 + c.upTo(12) {
						c.pause()
						c.call()
					}
				})
			}
			callers.Wait()
			time.Sleep(time.Second)
			close(c.stop)
			server.Wait()
			assert.Empty(t, c.asked)
		})
		require.False(t, t.Failed(), "seed %d", seed)
	}
}

func (c *crowd) upTo(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *crowd) span() time.Duration {
	return []time.Duration{0, 0, 0, time.Microsecond, time.Millisecond, 20 * time.Millisecond, 33 * time.Millisecond,
		100 * time.Millisecond}[c.upTo(8)]
}

func (c *crowd) pause() { time.Sleep(c.span()) }

// serve takes what the client sends.
func (c *crowd) serve(server *sync.WaitGroup) {
	for {
		select {
		case m := <-c.out:
			if m.IsRequest() {
				server.Go(func() { c.respond(m) })
			} else if m.IsResponse() {
				c.mu.Lock()
				assert.LessOrEqual(c.t, time.Since(c.asked[m.ID.String()]), unheard, "or answered twice")
				delete(c.asked, m.ID.String())
				c.mu.Unlock()
			}
		case <-c.stop:
			return
		}
	}
}

// respond answers a call, with other messages around.
func (c *crowd) respond(m *transport.Message) {
	var params struct{ Arguments struct{ Steps int } }
	_ = json.Unmarshal(m.Params, &params)
	c.pause()
	for n := range params.Arguments.Steps {
		c.notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d}`, c.progressToken(m), n+1))
		c.pause()
	}
	if c.upTo(4) == 0 {
		id := transport.IntID(1_000_000 + int64(c.upTo(1_000_000_000)))
		c.mu.Lock()
		c.asked[id.String()] = time.Now()
		c.mu.Unlock()
		c.in <- &transport.Message{ID: id, Method: "ping"}
	}
	c.mu.Lock()
	c.answered[m.ID.String()] = time.Now()
	c.mu.Unlock()
	c.answer(m, `{"content":[{"type":"text","text":"`+m.ID.String()+`"}]}`)
	if c.upTo(4) == 0 {
		c.pause()
		c.answer(m, `{}`) // twice
	}
}

// call calls a tool, and may give up.
func (c *crowd) call() {
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	var options []mcp.CallOption
	enough := errors.New("enough")
	switch c.upTo(6) {
	case 0:
		end := c.span()
		deadline, stop := context.WithTimeoutCause(ctx, end, enough)
		defer stop()
		ctx = deadline
	case 1:
		options = append(options, mcp.WithTimeout(time.Microsecond+c.span()))
	}
	steps, seen, handling := c.upTo(3), 0, time.Duration(0)
	busy := c.upTo(4)
	options = append(options, mcp.WithProgress(func(p mcp.Progress) {
		seen++
		assert.EqualValues(c.t, seen, p.Progress)
		begun := time.Now()
		switch busy {
		case 0:
			c.pause()
		case 1:
			assert.NoError(c.t, c.client.Ping(c.t.Context()))
		}
		handling += time.Since(begun)
	}))
	result, err := c.client.CallTool(ctx, "x", map[string]int{"steps": steps}, options...)
	if err != nil {
		assert.True(c.t, errors.Is(err, enough) || errors.As(err, new(*mcp.TimeoutError)), "%v", err)
		if end, ok := ctx.Deadline(); ok {
			assert.LessOrEqual(c.t, time.Since(end), handling, "since it was to end")
		}
		return
	}
	assert.Equal(c.t, steps, seen)
	allowed := time.Duration(0)
	if handling > 0 {
		allowed = handling + unheard
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	assert.LessOrEqual(c.t, time.Since(c.answered[result.Text()]), allowed, "since the answer came")
}
