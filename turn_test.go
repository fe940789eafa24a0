package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

// A wireless is a connection whose Receive can be interrupted, and that tells who receives.
type wireless struct {
	t    *testing.T
	in   chan *transport.Message // what is to be received
	out  chan *transport.Message // what was sent
	sent func(*transport.Message)

	receiving atomic.Int32
	receiver  atomic.Value  // the goroutine that receives, or did so last
	received  func()        // runs before Receive returns a message
	slow      time.Duration // how long it takes to close
	fail      chan error
	closed    chan struct{}
	closing   sync.Once
}

func (w *wireless) Connect(context.Context) (transport.Conn, error) { return w, nil }

func (w *wireless) Traits() transport.Traits {
	return transport.Traits{Name: "wireless", SilentProbe: true, Interruptible: true}
}

func (w *wireless) Send(_ context.Context, out transport.Outgoing) error {
	w.out <- out.Message
	if w.sent != nil {
		w.sent(out.Message)
	}
	return nil
}

func (w *wireless) Receive(ctx context.Context) (*transport.Message, error) {
	if w.receiving.Add(1) > 1 {
		w.t.Error("two receive at the same time")
	}
	defer w.receiving.Add(-1)
	w.receiver.Store(goroutine())
	select {
	case m := <-w.in:
		if w.received != nil {
			w.received()
		}
		return m, nil
	case err := <-w.fail:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.closed:
		return nil, transport.ErrClosed
	}
}

func (w *wireless) Close() error {
	w.closing.Do(func() {
		time.Sleep(w.slow)
		close(w.closed)
	})
	return nil
}

// goroutine is the name of the goroutine that calls it.
func goroutine() string {
	buf := make([]byte, 64)
	return strings.Join(strings.Fields(string(buf[:runtime.Stack(buf, false)]))[:2], " ")
}

func (w *wireless) answer(request *transport.Message, result string) {
	w.in <- &transport.Message{ID: request.ID, Result: json.RawMessage(result)}
}

func (w *wireless) progressToken(request *transport.Message) json.RawMessage {
	var params struct {
		Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
	require.NoError(w.t, json.Unmarshal(request.Params, &params))
	return params.Meta.ProgressToken
}

func (w *wireless) notify(method, params string) {
	w.in <- &transport.Message{Method: method, Params: json.RawMessage(params)}
}

// expect returns the next message of the client, once nothing else happens.
func (w *wireless) expect(method string) *transport.Message {
	w.t.Helper()
	synctest.Wait()
	select {
	case m := <-w.out:
		require.Equal(w.t, method, m.Method)
		return m
	default:
		require.Fail(w.t, "nothing was sent", "expected %s", method)
		return nil
	}
}

// lent runs a test with a client whose callers receive for themselves.
func lent(t *testing.T, o *mcp.Options, test func(*testing.T, *mcp.Client, *wireless)) {
	synctest.Test(t, func(t *testing.T) {
		w := &wireless{
			t: t, in: make(chan *transport.Message, 100), out: make(chan *transport.Message, 100),
			fail: make(chan error, 1), closed: make(chan struct{}),
		}
		opener := make(chan string, 1)
		connected := async(func() (*mcp.Client, error) {
			opener <- goroutine()
			return mcp.Connect(t.Context(), w, legacy(o))
		})
		request := w.expect("initialize")
		require.Equal(t, <-opener, w.receiver.Load(), "who opens a connection is alone")
		w.answer(request, `{"protocolVersion":"2025-11-25","capabilities":`+everything+`,"serverInfo":{"name":"w"}}`)
		c, err := connected()
		require.NoError(t, err)
		defer c.Close()
		w.expect("notifications/initialized")
		require.Zero(t, w.receiving.Load(), "nobody receives between two calls")
		test(t, c, w)
	})
}

// ping pings on a goroutine, and returns its name, and what waits for it.
func ping(ctx context.Context, c *mcp.Client, o ...mcp.CallOption) (by func() string, wait func() error) {
	name := make(chan string, 1)
	done := async(func() (struct{}, error) {
		name <- goroutine()
		return struct{}{}, c.Ping(ctx, o...)
	})
	return func() string { return <-name }, func() error { _, err := done(); return err }
}

func TestALoneCallerReceivesItsAnswer(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		for range 3 {
			caller, wait := ping(t.Context(), c)
			request := w.expect("ping")
			assert.Equal(t, caller(), w.receiver.Load())
			assert.EqualValues(t, 1, w.receiving.Load())
			w.answer(request, `{}`)
			require.NoError(t, wait())
			synctest.Wait()
			assert.Zero(t, w.receiving.Load())
		}
		for range 20 {
			time.Sleep(5 * time.Millisecond)
			caller, wait := ping(t.Context(), c)
			w.answer(w.expect("ping"), `{}`)
			require.NoError(t, wait())
			assert.Equal(t, caller(), w.receiver.Load(), "they still come")
		}
		time.Sleep(100 * time.Millisecond)
		assert.EqualValues(t, 1, w.receiving.Load(), "no more calls came")
		caller, wait := ping(t.Context(), c)
		request := w.expect("ping")
		assert.NotEqual(t, caller(), w.receiver.Load(), "the receiver is in the middle of it")
		w.answer(request, `{}`)
		require.NoError(t, wait())
	})
}

func TestAnAnswerThatIsQuickerThanItsCaller(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		time.Sleep(time.Second) // the receiver receives
		w.sent = func(m *transport.Message) {
			w.answer(m, `{}`)
			synctest.Wait() // it has received the answer, and lends again
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		for range 5 {
			require.NoError(t, c.Ping(ctx, mcp.WithTimeout(-1), mcp.WithMaxTimeout(-1)))
		}
		assert.Zero(t, time.Since(start))
	})
}

func TestWhatComesBetweenTwoCalls(t *testing.T) {
	var logged atomic.Value
	o := &mcp.Options{On: mcp.Notifications{Log: func(context.Context, *mcp.LogMessage) { logged.Store(time.Now()) }}}
	lent(t, o, func(t *testing.T, c *mcp.Client, w *wireless) {
		_, wait := ping(t.Context(), c)
		w.answer(w.expect("ping"), `{}`)
		require.NoError(t, wait())
		start := time.Now()
		w.notify("notifications/message", `{"level":"info","data":1}`)
		time.Sleep(time.Second)
		assert.LessOrEqual(t, logged.Load().(time.Time).Sub(start), 40*time.Millisecond)

		w.in <- &transport.Message{ID: transport.IntID(7), Method: "ping"}
		synctest.Wait()
		assert.Equal(t, transport.IntID(7), (<-w.out).ID)
	})
}

func TestCallersThatWaitTogether(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
			requests := make([]*transport.Message, 3)
			waits := make([]func() error, 3)
			for i := range 3 {
				_, waits[i] = ping(t.Context(), c)
				requests[i] = w.expect("ping")
			}
			start := time.Now()
			for _, i := range order {
				w.answer(requests[i], `{}`)
				require.NoError(t, waits[i]())
				synctest.Wait()
			}
			assert.Zero(t, time.Since(start))
			_, wait := ping(t.Context(), c)
			w.answer(w.expect("ping"), `{}`)
			require.NoError(t, wait())
		})
	}
}

func TestACallerThatReceivesGivesUp(t *testing.T) {
	for name, giveUp := range map[string]func(t *testing.T, c *mcp.Client, w *wireless) error{
		"ctx": func(t *testing.T, c *mcp.Client, w *wireless) error {
			ctx, cancel := context.WithCancelCause(t.Context())
			_, wait := ping(ctx, c)
			w.expect("ping")
			cancel(errors.New("enough"))
			err := wait()
			assert.ErrorContains(t, err, "enough")
			return err
		},
		"limit": func(t *testing.T, c *mcp.Client, w *wireless) error {
			_, wait := ping(t.Context(), c, mcp.WithTimeout(time.Microsecond))
			w.expect("ping")
			err := wait()
			assert.ErrorAs(t, err, new(*mcp.TimeoutError))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
				start := time.Now()
				require.Error(t, giveUp(t, c, w))
				assert.LessOrEqual(t, time.Since(start), time.Microsecond)
				w.expect("notifications/cancelled")
				assert.EqualValues(t, 1, w.receiving.Load(), "the receiver goes on")
				_, wait := ping(t.Context(), c)
				w.answer(w.expect("ping"), `{}`)
				require.NoError(t, wait())
			})
		})
	}
}

func TestACallThatEndsWhileItsHandlerOfProgressRuns(t *testing.T) {
	for name, options := range map[string][]mcp.CallOption{
		"ctx":   nil,
		"limit": {mcp.WithMaxTimeout(time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				handle := func(mcp.Progress) {
					if name == "ctx" {
						cancel()
						synctest.Wait() // all who hear of it have
					} else {
						time.Sleep(2 * time.Millisecond)
					}
				}
				called := async(func() (*mcp.CallToolResult, error) {
					return c.CallTool(ctx, "x", nil, append(options, mcp.WithProgress(handle))...)
				})
				w.notify("notifications/progress", `{"progressToken":`+string(w.progressToken(w.expect("tools/call")))+`,"progress":1}`)
				start := time.Now()
				_, err := called()
				require.Error(t, err)
				assert.LessOrEqual(t, time.Since(start), 2*time.Millisecond)
				w.expect("notifications/cancelled")
				_, wait := ping(t.Context(), c)
				w.answer(w.expect("ping"), `{}`)
				require.NoError(t, wait())
			})
		})
	}
}

func TestASlowHandlerOfProgressKeepsNobodyWaiting(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		var seen []float64
		var caller string
		called := async(func() (*mcp.CallToolResult, error) {
			return c.CallTool(t.Context(), "slow", nil, mcp.WithProgress(func(p mcp.Progress) {
				caller = goroutine()
				if seen = append(seen, p.Progress); p.Progress == 3 {
					time.Sleep(time.Second)
				}
			}))
		})
		request := w.expect("tools/call")
		token := string(w.progressToken(request))
		progress := func(n string) {
			w.notify("notifications/progress", `{"progressToken":`+token+`,"progress":`+n+`}`)
		}
		progress("1")
		synctest.Wait()
		assert.Equal(t, caller, w.receiver.Load(), "it goes on after its handler")
		progress("2")
		progress("3")
		progress("4")
		synctest.Wait()
		require.Equal(t, []float64{1, 2, 3}, seen)

		start := time.Now()
		w.in <- &transport.Message{ID: transport.IntID(7), Method: "ping"}
		time.Sleep(40 * time.Millisecond)
		synctest.Wait()
		require.Len(t, w.out, 1, "the server has an answer")
		<-w.out
		_, wait := ping(t.Context(), c)
		w.answer(w.expect("ping"), `{}`)
		require.NoError(t, wait())
		assert.Equal(t, 40*time.Millisecond, time.Since(start))

		w.answer(request, `{"content":[]}`)
		_, err := called()
		require.NoError(t, err)
		assert.Equal(t, []float64{1, 2, 3, 4}, seen)
	})
}

func TestTheEndOfAConnectionThatIsLent(t *testing.T) {
	for _, calling := range []bool{false, true} {
		for name, end := range map[string]func(*mcp.Client, *wireless){
			"closed": func(c *mcp.Client, _ *wireless) { c.Close() },
			"lost":   func(_ *mcp.Client, w *wireless) { w.fail <- errors.New("the cable is cut") },
		} {
			t.Run(name, func(t *testing.T) {
				lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
					wait := func() error { return mcp.ErrClosed }
					if calling {
						_, wait = ping(t.Context(), c)
						w.expect("ping")
					}
					start := time.Now()
					end(c, w)
					<-c.Done()
					assert.LessOrEqual(t, time.Since(start), 40*time.Millisecond)
					if name == "closed" {
						assert.Zero(t, time.Since(start))
					}
					require.ErrorIs(t, wait(), mcp.ErrClosed)
					require.ErrorIs(t, c.Ping(t.Context()), mcp.ErrClosed)
				})
			})
		}
	}
}

// A goroutine that waits for a lock stops the clock of a bubble.
func TestClosingWhatIsBeingClosedInABubble(t *testing.T) {
	lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
		w.slow = time.Second
		start := time.Now()
		w.fail <- errors.New("the cable is cut")
		<-c.Done()
		lost := time.Now()
		assert.NoError(t, c.Close())
		assert.NoError(t, c.Close())
		assert.Equal(t, time.Second, time.Since(lost))
		assert.Less(t, lost.Sub(start), time.Second)
	})
}

func TestATurnThatComesBackWhenTheReceiverLooks(t *testing.T) {
	for range 200 { // it is up to the scheduler who is first
		lent(t, nil, func(t *testing.T, c *mcp.Client, _ *wireless) {
			time.Sleep(20 * time.Millisecond)
			assert.NoError(t, c.Close())
		})
	}
}

func TestAMessageThatComesWithTheEnd(t *testing.T) {
	for _, alone := range []bool{false, true} {
		lent(t, nil, func(t *testing.T, c *mcp.Client, w *wireless) {
			if !alone {
				time.Sleep(time.Second) // the receiver receives
			}
			closed := make(chan time.Time, 1)
			w.received = func() {
				w.received = nil
				go func() {
					c.Close()
					closed <- time.Now()
				}()
				synctest.Wait()
			}
			start := time.Now()
			_, wait := ping(t.Context(), c)
			w.answer(w.expect("ping"), `{}`)
			require.ErrorIs(t, wait(), mcp.ErrClosed)
			assert.Zero(t, (<-closed).Sub(start))
		})
	}
}

// TestCallsOverASocket has callers come and go in all ways, on connections that can be interrupted. Without limits, a
// call that misses its answer waits for ever.
func TestCallsOverASocket(t *testing.T) {
	s := &mcptest.Server{}
	s.AddTool(&mcp.Tool{Name: "echo"}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		var args struct {
			Text  string
			Steps int
		}
		if err := call.Bind(&args); err != nil {
			return nil, err
		}
		for n := range args.Steps {
			if err := call.Progress(ctx, float64(n+1), 0, ""); err != nil {
				return nil, err
			}
		}
		return mcptest.Text(args.Text), nil
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	var serving sync.WaitGroup
	defer serving.Wait()
	serve := func() {
		conn, err := listener.Accept()
		if assert.NoError(t, err) {
			serving.Go(func() { _ = s.Serve(t.Context(), conn) })
		}
	}
	echo := func(c *mcp.Client, text string, steps int) {
		seen := 0
		result, err := c.CallTool(t.Context(), "echo", map[string]any{"text": text, "steps": steps},
			mcp.WithProgress(func(mcp.Progress) { seen++ }))
		if assert.NoError(t, err) {
			assert.Equal(t, text, result.Text())
			assert.Equal(t, steps, seen)
		}
	}
	for round := range 50 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		serve()
		o := legacy(&mcp.Options{Timeout: -1, MaxTimeout: -1})
		c, err := mcp.Connect(t.Context(), near{conn}, o)
		require.NoError(t, err)
		for i := range 20 { // alone
			echo(c, strconv.Itoa(i), i%3)
		}
		var callers sync.WaitGroup
		for i := range 8 { // now and then together
			callers.Go(func() {
				for j := range 10 {
					if i%4 == 3 {
						ctx, cancel := context.WithCancel(t.Context())
						time.AfterFunc(time.Duration(j*round)*time.Microsecond, cancel)
						_ = c.Ping(ctx)
						cancel()
						continue
					}
					echo(c, strconv.Itoa(i*100+j), j%2)
				}
			})
		}
		callers.Wait()
		require.NoError(t, c.Close())
	}
}
