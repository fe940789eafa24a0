package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/testing/mcptest"
	"github.com/seed62b61957/mcp/transport"
)

func asking(requests string) string {
	return got("input_required", `,"inputRequests":{`+requests+`}`)
}

const acknowledged = `{"resultType":"complete"}`

func TestInputOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(accepting()))
		result := call(c, t.Context(), "a")
		// What a server asks for before it makes a task has nothing to do with what the task asks for.
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{`+askForRoot+`}}`)
		p.answer(p.expect("tools/call"), created(""))
		p.answer(p.expectTask("tasks/get"), asking(askForRoot))
		m := p.expectTask("tasks/update")
		assert.JSONEq(t, `{"where":{"roots":[{"uri":"file:///a"}]}}`, string(paramsOf(t, m)["inputResponses"]))
		p.answer(m, acknowledged)
		// The server has not got to the answer yet, and does not get it twice.
		p.answer(p.expectTask("tasks/get"), asking(askForRoot))
		p.answer(p.expectTask("tasks/get"), asking(askForRoot+`,`+askForName))
		m = p.expectTask("tasks/update")
		assert.JSONEq(t, `{"who":{"action":"accept","content":{"name":"John"}}}`, string(paramsOf(t, m)["inputResponses"]))
		p.answer(m, acknowledged)
		p.answer(p.expectTask("tasks/get"), got("input_required", ""))
		p.answer(p.expectTask("tasks/get"), got("completed", completed))
		res, err := result()
		require.NoError(t, err)
		assert.Equal(t, "hello", res.Text())
	})
}

func TestATaskThatAsksTooOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := withTasks(accepting())
		o.MaxInputRounds = 2
		c, p := modern(t, o)
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), `{"resultType":"input_required","inputRequests":{`+askForRoot+`}}`)
		p.answer(p.expect("tools/call"), created(""))
		p.answer(p.expectTask("tasks/get"), asking(askForRoot))
		p.answer(p.expectTask("tasks/update"), acknowledged)
		p.answer(p.expectTask("tasks/get"), asking(askForName))
		p.expectTask("tasks/cancel")
		_, err := result()
		var rounds *mcp.InputRoundsError
		require.ErrorAs(t, err, &rounds)
		assert.Equal(t, 2, rounds.Rounds, "of the call, whatever became of it")
	})
}

func TestManualInputOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(nil))
		result := call(c, t.Context(), "a", mcp.WithManualInput())
		p.answer(p.expect("tools/call"), created(""))
		p.answer(p.expectTask("tasks/get"), asking(askForRoot))
		_, err := result()
		var needed *mcp.InputRequiredError
		require.ErrorAs(t, err, &needed)
		assert.Equal(t, "roots/list", needed.Requests["where"].Method)
		var task *mcp.TaskError
		require.ErrorAs(t, err, &task)

		roots := map[string]any{"where": map[string]any{"roots": []any{}}}
		_, err = c.AwaitTask(t.Context(), task.Task.ID, mcp.WithInput(roots, json.RawMessage(`"s"`)))
		require.ErrorContains(t, err, "a task has no state")
		result = async(func() (*mcp.CallToolResult, error) {
			return c.AwaitTask(t.Context(), task.Task.ID, mcp.WithInput(roots, nil))
		})
		m := p.expectTask("tasks/update") // and no cancellation before it
		assert.JSONEq(t, `{"where":{"roots":[]}}`, string(paramsOf(t, m)["inputResponses"]))
		p.answer(m, acknowledged)
		p.answer(p.expectTask("tasks/get"), asking(askForRoot))
		p.answer(p.expectTask("tasks/get"), asking(askForRoot+`,`+askForName))
		_, err = result()
		require.ErrorAs(t, err, &needed)
		assert.NotContains(t, needed.Requests, "where")
		assert.Contains(t, needed.Requests, "who")
	})
}

func TestGivingUpOnATask(t *testing.T) {
	keep := mcp.WithTask(func(*mcp.Task) error { return nil })
	away := errors.New("the user is away")
	for name, test := range map[string]struct {
		opts      []mcp.CallOption
		end       func(p *peer, cancel context.CancelFunc)
		want      error
		after     time.Duration
		cancelled bool
	}{
		"ctx": {
			end:       func(_ *peer, cancel context.CancelFunc) { cancel() },
			want:      context.Canceled,
			cancelled: true,
		},
		"ctx, but the caller can come back": {
			opts: []mcp.CallOption{keep},
			end:  func(_ *peer, cancel context.CancelFunc) { cancel() },
			want: context.Canceled,
		},
		"ctx, while the server does not answer": {
			end: func(p *peer, cancel context.CancelFunc) {
				m := p.expectTask("tasks/get")
				cancel()
				assert.JSONEq(p.t, fmt.Sprintf(`{"requestId":%s}`, m.ID), string(p.expect("notifications/cancelled").Params))
			},
			want:      context.Canceled,
			after:     time.Hour / 2,
			cancelled: true,
		},
		"a limit": {
			opts:      []mcp.CallOption{mcp.WithMaxTimeout(time.Minute)},
			end:       func(*peer, context.CancelFunc) {},
			want:      context.DeadlineExceeded,
			after:     time.Minute,
			cancelled: true,
		},
		"a handler fails": {
			end: func(p *peer, _ context.CancelFunc) {
				p.answer(p.expectTask("tasks/get"), asking(askForName))
			},
			want:      away,
			after:     time.Hour / 2,
			cancelled: true,
		},
		"the caller cannot keep it": {
			opts: []mcp.CallOption{mcp.WithTask(func(*mcp.Task) error { return away })},
			end:  func(*peer, context.CancelFunc) {},
			want: away,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := withTasks(nil)
				o.Elicit = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return nil, away }
				c, p := modern(t, o)
				start := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				opts := append([]mcp.CallOption{mcp.WithMeta(mcp.Meta{"mine": json.RawMessage("1")})}, test.opts...)
				result := call(c, ctx, "a", opts...)
				p.answer(p.expect("tools/call"), created(`,"pollIntervalMs":300000`))
				synctest.Wait()
				test.end(p, cancel)
				_, err := result()
				require.ErrorIs(t, err, test.want)
				assert.Less(t, time.Since(start), test.after+time.Nanosecond)
				assert.False(t, transport.SafeToRetry(err))
				if test.cancelled {
					m := p.expectTask("tasks/cancel")
					assert.Contains(t, metaOf(t, m), "mine")
					assert.Contains(t, metaOf(t, m), "io.modelcontextprotocol/protocolVersion")
					p.answer(m, acknowledged)
				}
				synctest.Wait() // for what is on its way
				roundTrip(t, c, p)
			})
		})
	}
}

func TestClosingTheClientEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(nil))
		start := time.Now()
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), created(`,"pollIntervalMs":60000`))
		synctest.Wait()
		c.Close()
		_, err := result()
		require.ErrorIs(t, err, mcp.ErrClosed)
		assert.Zero(t, time.Since(start))
	})
}

func TestAnEndlessTaskIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, &mcp.Options{Tasks: true, MaxTimeout: time.Minute})
		start := time.Now()
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), created(`,"pollIntervalMs":1`))
		polls := 0
		for m := p.read(); m.Method == "tasks/get"; m = p.read() {
			polls++
			p.answer(m, got("working", ""))
		}
		_, err := result()
		var limit *mcp.TimeoutError
		require.ErrorAs(t, err, &limit)
		assert.True(t, limit.Hard)
		assert.Equal(t, "tools/call", limit.Method)
		assert.Equal(t, time.Minute, time.Since(start))
		assert.Less(t, polls, 601)
	})
}

func TestTheCallerFollowsItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(nil))
		var seen []string
		result := call(c, t.Context(), "a", mcp.WithTask(func(task *mcp.Task) error {
			seen = append(seen, fmt.Sprint(task.ID == taskID, " ", task.Status, " ", task.StatusMessage))
			return nil
		}))
		p.answer(p.expect("tools/call"), created(""))
		synctest.Wait()
		assert.Len(t, seen, 1, "before anything else is asked")
		p.answer(p.expectTask("tasks/get"), got("working", ""))
		p.answer(p.expectTask("tasks/get"), got("working", `,"statusMessage":"half"`))
		p.answer(p.expectTask("tasks/get"), got("completed", completed))
		_, err := result()
		require.NoError(t, err)
		assert.Equal(t, []string{"true working ", "true working half", "true completed "}, seen)
	})
}

// unreliable is a server of tasks to which some requests do not get through.
type unreliable struct {
	t     *testing.T
	fails map[string]int // so many requests of a method
	err   error

	mu    sync.Mutex
	seen  []string
	times []time.Duration
	start time.Time
	state string // of the task
}

func (u *unreliable) serve(_ context.Context, out transport.Outgoing) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	method := out.Message.Method
	switch method {
	case "server/discover":
		u.start = time.Now()
		return reply(out, discovered)
	case "tools/call":
		return reply(out, created(""))
	}
	u.seen, u.times = append(u.seen, method), append(u.times, time.Since(u.start))
	assert.Equal(u.t, taskID, out.Mirror.Name, "what is in between routes by it")
	assert.Equal(u.t, []string{"v"}, out.Header["X"])
	assert.Equal(u.t, method == "tasks/cancel", out.Unattended)
	assert.Contains(u.t, string(out.Message.Params), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`)
	if u.fails[method] > 0 {
		u.fails[method]--
		return u.err
	}
	if method == "tasks/update" {
		u.state = got("completed", completed)
		return reply(out, acknowledged)
	}
	return reply(out, u.state)
}

func (u *unreliable) connect(o *mcp.Options) (*mcp.Client, error) {
	return mcp.Connect(u.t.Context(), exchanging(u.serve), o)
}

func TestRequestsAboutATaskAreRepeated(t *testing.T) {
	get, update := "tasks/get", "tasks/update"
	for name, test := range map[string]struct {
		err   error
		fails map[string]int
		seen  []string
	}{
		"not sent":        {transport.Unsent(errors.New("refused")), map[string]int{get: 2}, []string{get, get, get, update, get}},
		"unavailable":     {fmt.Errorf("503: %w", transport.ErrUnavailable), map[string]int{get: 1}, []string{get, get, update, get}},
		"no answer":       {transport.ErrNoResponse, map[string]int{update: 1}, []string{get, update, update, get}},
		"for too long":    {transport.ErrNoResponse, map[string]int{get: 9}, []string{get, get, get, get, get, get}},
		"never sent":      {transport.Unsent(errors.New("refused")), map[string]int{get: 9}, []string{get, get, get, get, get, get}},
		"another failure": {errors.New("odd"), map[string]int{get: 9}, []string{get}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				o := withTasks(nil)
				o.Roots = func(context.Context) ([]mcp.Root, error) { asked++; return nil, nil }
				u := &unreliable{t: t, fails: test.fails, err: test.err, state: asking(askForRoot)}
				c, err := u.connect(o)
				require.NoError(t, err)
				defer c.Close()
				_, err = c.CallTool(t.Context(), "a", nil, mcp.WithHeader("X", "v"))
				if slices.Contains(test.seen, update) {
					require.NoError(t, err)
					assert.Equal(t, 1, asked, "nobody is bothered twice")
				} else {
					require.ErrorIs(t, err, test.err)
					assert.False(t, transport.SafeToRetry(err), "there is a task already")
					var task *mcp.TaskError
					require.ErrorAs(t, err, &task)
					assert.Equal(t, taskID, task.Task.ID, "the task may go on")
				}
				synctest.Wait()
				u.mu.Lock()
				defer u.mu.Unlock()
				assert.Equal(t, test.seen, u.seen, "and it is not cancelled")
				if name == "for too long" {
					assert.Equal(t, []time.Duration{1, 2, 4, 8, 16, 32}, seconds(u.times), "ever more rarely")
				}
			})
		})
	}
}

func TestAskingIsRepeatedWhenThereIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(nil))
		start := time.Now()
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), created(""))
		p.expectTask("tasks/get")
		p.expect("notifications/cancelled")
		assert.Equal(t, 61*time.Second, time.Since(start), "the limit of a call that is idle")
		p.answer(p.expectTask("tasks/get"), got("completed", completed))
		assert.Equal(t, 62*time.Second, time.Since(start))
		_, err := result()
		require.NoError(t, err)
	})
}

func seconds(times []time.Duration) (s []time.Duration) {
	for _, d := range times {
		s = append(s, d/time.Second)
	}
	return s
}

func TestAnAbandonedTaskOverExchanges(t *testing.T) {
	for name, interceptors := range map[string][]mcp.Interceptor{
		"plain": nil,
		"intercepted": {func(context.Context, *mcp.Exchange) (context.Context, func(json.RawMessage, error), error) {
			return nil, nil, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &unreliable{t: t, state: got("working", "")}
				c, err := u.connect(&mcp.Options{Tasks: true, Interceptors: interceptors})
				require.NoError(t, err)
				defer c.Close()
				_, err = c.CallTool(t.Context(), "a", nil,
					mcp.WithMaxTimeout(1500*time.Millisecond), mcp.WithHeader("X", "v"))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				synctest.Wait()
				u.mu.Lock()
				defer u.mu.Unlock()
				assert.Equal(t, []string{"tasks/get", "tasks/cancel"}, u.seen)
			})
		})
	}
}

func TestTheTaskThatTheCallerWasShownStaysAsItIs(t *testing.T) {
	text := strings.Repeat("line\n", 5_000) // long enough to be decoded in place
	s := &mcptest.Server{}
	s.AddTaskTool(&mcp.Tool{Name: "a"}, func(context.Context, *mcptest.Call) (*mcp.CallToolResult, error) {
		return mcptest.Text(text), nil
	})
	c := mcptest.Connect(t, s, &mcp.Options{Tasks: true})
	var shown *mcp.Task
	res, err := c.CallTool(t.Context(), "a", nil, mcp.WithTask(func(task *mcp.Task) error {
		shown = task
		return nil
	}))
	require.NoError(t, err)
	assert.Equal(t, text, res.Text())
	var result mcp.CallToolResult
	require.NoError(t, json.Unmarshal(shown.Result, &result))
	assert.Equal(t, text, result.Text())
}
