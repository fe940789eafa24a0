package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
	"github.com/seed62b61957/mcp/transport"
)

// taskID is what nothing but messages may show.
const taskID = "0f5e-secret"

// state is a task as it is on the wire.
func state(status, more string) string {
	return fmt.Sprintf(`"taskId":%q,"status":%q,"createdAt":"2026-07-28T10:00:00Z","lastUpdatedAt":"2026-07-28T10:00:00Z","ttlMs":null%s`,
		taskID, status, more)
}

func created(more string) string { return `{"resultType":"task",` + state("working", more) + `}` }
func got(status, more string) string {
	return `{"resultType":"complete",` + state(status, more) + `}`
}

const completed = `,"result":{"content":[{"type":"text","text":"hello"}]}`

func withTasks(o *mcp.Options) *mcp.Options {
	if o == nil {
		o = new(mcp.Options)
	}
	o.Tasks = true
	return o
}

// expectTask reads a request about the task.
func (p *peer) expectTask(method string) wire {
	p.t.Helper()
	m := p.expect(method)
	require.Equal(p.t, `"`+taskID+`"`, string(paramsOf(p.t, m)["taskId"]))
	return m
}

func (p *peer) refuse(m wire, code int, message string) {
	p.t.Helper()
	p.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, message)
}

func TestACallThatBecomesATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(nil))
		start := time.Now()
		result := call(c, t.Context(), "a", mcp.WithMeta(mcp.Meta{"mine": json.RawMessage("1")}),
			mcp.WithProgress(func(mcp.Progress) {}))
		m := p.expect("tools/call")
		assert.JSONEq(t, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
			string(metaOf(t, m)["io.modelcontextprotocol/clientCapabilities"]))
		p.answer(m, created(`,"pollIntervalMs":5000`))

		m = p.expectTask("tasks/get")
		assert.Equal(t, 5*time.Second, time.Since(start), "the interval is respected from the start")
		assert.Contains(t, string(metaOf(t, m)["io.modelcontextprotocol/clientCapabilities"]), "/tasks", "on each request")
		assert.Contains(t, metaOf(t, m), "mine")
		assert.NotContains(t, metaOf(t, m), "progressToken", "tasks report no progress")
		p.answer(m, got("working", `,"pollIntervalMs":120000`))
		m = p.expectTask("tasks/get")
		assert.Equal(t, 125*time.Second, time.Since(start), "it may change, and be longer than a call may be idle")
		p.answer(m, got("working", ""))
		m = p.expectTask("tasks/get")
		assert.Equal(t, 245*time.Second, time.Since(start), "and holds until then")
		p.answer(m, `{"resultType":"task",`+state("completed", completed)+`}`) // as in the specification's examples
		res, err := result()
		require.NoError(t, err)
		assert.Equal(t, "hello", res.Text())
	})
}

func TestPollInterval(t *testing.T) {
	for given, want := range map[string]time.Duration{
		``:                                       time.Second,
		`,"pollIntervalMs":0`:                    time.Second,
		`,"pollIntervalMs":-1`:                   time.Second,
		`,"pollIntervalMs":"soon"`:               time.Second,
		`,"pollIntervalMs":1e99`:                 time.Second,
		`,"pollIntervalMs":1`:                    100 * time.Millisecond,
		`,"pollIntervalMs":250`:                  250 * time.Millisecond,
		`,"pollIntervalMs":31536000000`:          5 * time.Minute,
		`,"pollIntervalMs":9223372036854775807`:  5 * time.Minute,
		`,"pollIntervalMs":-9223372036854775808`: time.Second,
	} {
		t.Run(given, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := modern(t, withTasks(nil))
				start := time.Now()
				result := call(c, t.Context(), "a")
				p.answer(p.expect("tools/call"), created(given))
				p.answer(p.expectTask("tasks/get"), got("completed", completed))
				assert.Equal(t, want, time.Since(start))
				_, err := result()
				require.NoError(t, err)
			})
		})
	}
}

func TestTheEndOfATask(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		want   string // the error
		code   int64  // of the RPCError in it
	}{
		"failed": {
			answer: got("failed", `,"statusMessage":"m","error":{"code":-32603,"message":"rate limit"}`),
			want:   `the task failed: rate limit (-32603)`, code: -32603,
		},
		"failed for the reason that makes a call be sent again": {
			answer: got("failed", `,"error":{"code":-32020,"message":"mismatch"}`),
			want:   `the task failed: mismatch (-32020)`, code: -32020,
		},
		"failed without an error":  {got("failed", `,"statusMessage":"m"`), `the task failed: m`, 0},
		"cancelled":                {got("cancelled", ``), `the task was cancelled`, 0},
		"cancelled with a reason":  {got("cancelled", `,"statusMessage":"by Ann"`), `the task was cancelled: by Ann`, 0},
		"completed with nothing":   {got("completed", ``), `unusable result: completed, without a result`, 0},
		"completed with a task":    {got("completed", `,"result":{"resultType":"task"}`), `unknown resultType "task"`, 0},
		"an unknown status":        {got("dreaming", ``), `unusable result: has no known status`, 0},
		"another task":             {strings.Replace(got("working", ``), taskID, "x", 1), `another task than was asked for`, 0},
		"no task":                  {`{"resultType":"complete"}`, `unusable result`, 0},
		"input for asking":         {`{"resultType":"input_required","requestState":"s"}`, `unknown resultType "input_required"`, 0},
		"malformed input requests": {got("input_required", `,"inputRequests":{"a":5}`), `unusable result: inputRequests: malformed`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := modern(t, withTasks(nil))
				result := call(c, t.Context(), "a")
				p.answer(p.expect("tools/call"), created(""))
				p.answer(p.expectTask("tasks/get"), test.answer)
				_, err := result()
				require.ErrorContains(t, err, `mcp: tools/call "a": `)
				require.ErrorContains(t, err, test.want)
				var task *mcp.TaskError
				require.ErrorAs(t, err, &task)
				assert.Equal(t, taskID, task.Task.ID)
				assert.NotContains(t, fmt.Sprintf("%v %+v", err, task), taskID)
				assert.False(t, transport.SafeToRetry(err))
				var rpc *mcp.RPCError
				assert.Equal(t, test.code != 0, errors.As(err, &rpc))
				if rpc != nil {
					assert.Equal(t, test.code, rpc.Code)
				}
				synctest.Wait() // for what is on its way
				roundTrip(t, c, p)
			})
		})
	}
}

func TestAFailureOfTheToolIsAResultOfTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(nil))
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), created(""))
		p.answer(p.expectTask("tasks/get"), got("completed", `,"result":{"content":[],"isError":true}`))
		res, err := result()
		require.NoError(t, err)
		assert.True(t, res.IsError)
	})
}

func TestATaskThatIsOverBeforeItIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(nil))
		start := time.Now()
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), `{"resultType":"task",`+state("completed", "")+`}`)
		p.answer(p.expectTask("tasks/get"), got("completed", completed))
		_, err := result()
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
	})
}

func TestATaskWhereNoneMayBe(t *testing.T) {
	callTool := func(ctx context.Context, c *mcp.Client) error {
		_, err := c.CallTool(ctx, "a", nil)
		return err
	}
	for name, test := range map[string]struct {
		method string
		answer string
		call   func(context.Context, *mcp.Client) error
		tasks  bool
		want   string
	}{
		"a prompt": {"prompts/get", created(""), func(ctx context.Context, c *mcp.Client) error {
			_, err := c.GetPrompt(ctx, "a", nil)
			return err
		}, true, `unknown resultType "task"`},
		"a resource": {"resources/read", created(""), func(ctx context.Context, c *mcp.Client) error {
			_, err := c.ReadResource(ctx, "a:b")
			return err
		}, true, `unknown resultType "task"`},
		"nobody asked for it": {"tools/call", created(""), callTool, false, `unknown resultType "task"`},
		"without an ID":       {"tools/call", `{"resultType":"task","status":"working"}`, callTool, true, "has no taskId"},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := modern(t, &mcp.Options{Tasks: test.tasks})
			result := async(func() (any, error) { return nil, test.call(t.Context(), c) })
			p.answer(p.expect(test.method), test.answer)
			_, err := result()
			require.ErrorContains(t, err, "unusable result: "+test.want)
		})
	}
}

func TestOnlyModernRevisionsKnowTheExtension(t *testing.T) {
	for name, o := range map[string]*mcp.Options{
		"an option":    {Tasks: true},
		"an extension": {Extensions: map[string]json.RawMessage{"io.modelcontextprotocol/tasks": json.RawMessage(`{"mine":1}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := modern(t, o)
			result := call(c, t.Context(), "a")
			m := p.expect("tools/call")
			assert.Contains(t, string(metaOf(t, m)["io.modelcontextprotocol/clientCapabilities"]), "/tasks")
			p.answer(m, hello)
			_, err := result()
			require.NoError(t, err)

			tr, p := pair(t)
			initialize := make(chan wire, 1)
			go func() { initialize <- p.handshake(everything) }()
			c, err = mcp.Connect(t.Context(), tr, legacy(o))
			require.NoError(t, err)
			defer c.Close()
			assert.NotContains(t, (<-initialize).line, "/tasks")
			_, err = c.GetTask(t.Context(), taskID)
			var missing *mcp.CapabilityError
			require.ErrorAs(t, err, &missing)
			assert.True(t, transport.SafeToRetry(err))
			assert.NotContains(t, err.Error(), taskID)
		})
	}
}

func TestTasksById(t *testing.T) {
	c, p := modern(t, withTasks(nil))
	task := async(func() (*mcp.Task, error) { return c.GetTask(t.Context(), taskID) })
	p.answer(p.expectTask("tasks/get"),
		got("input_required", `,"statusMessage":"m","pollIntervalMs":5,"inputRequests":{`+askForRoot+`}`))
	known, err := task()
	require.NoError(t, err)
	assert.Equal(t, &mcp.Task{
		ID: taskID, Status: mcp.TaskInputRequired, StatusMessage: "m", PollInterval: 5 * time.Millisecond,
		CreatedAt: "2026-07-28T10:00:00Z", UpdatedAt: "2026-07-28T10:00:00Z",
		InputRequests: map[string]mcp.InputRequest{"where": {Method: "roots/list"}},
	}, known)

	cancelled := async(func() (any, error) { return nil, c.CancelTask(t.Context(), taskID) })
	p.answer(p.expectTask("tasks/cancel"), `{"resultType":"complete"}`)
	_, err = cancelled()
	require.NoError(t, err)

	for _, method := range []string{"tasks/get", "tasks/cancel"} {
		failed := async(func() (any, error) {
			if method == "tasks/get" {
				return c.GetTask(t.Context(), taskID)
			}
			return nil, c.CancelTask(t.Context(), taskID)
		})
		p.refuse(p.expectTask(method), -32602, "no such task")
		_, err := failed()
		assert.EqualError(t, err, "mcp: "+method+": no such task (-32602)")
	}
	_, err = c.GetTask(t.Context(), "")
	require.ErrorContains(t, err, "without an ID")
	c, _ = modern(t, nil)
	_, err = c.AwaitTask(t.Context(), taskID)
	require.ErrorContains(t, err, "Options.Tasks")
}

func TestComingBackToATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := modern(t, withTasks(accepting()))
		start := time.Now()
		var seen []mcp.TaskStatus
		result := async(func() (*mcp.CallToolResult, error) {
			return c.AwaitTask(t.Context(), taskID, mcp.WithTask(func(task *mcp.Task) error {
				seen = append(seen, task.Status)
				return nil
			}))
		})
		p.answer(p.expectTask("tasks/get"), got("working", ""))
		p.answer(p.expectTask("tasks/get"), got("working", ""))
		p.answer(p.expectTask("tasks/get"), got("input_required", `,"inputRequests":{`+askForRoot+`}`))
		m := p.expectTask("tasks/update")
		assert.JSONEq(t, `{"where":{"roots":[{"uri":"file:///a"}]}}`, string(paramsOf(t, m)["inputResponses"]))
		p.answer(m, `{"resultType":"complete"}`)
		p.answer(p.expectTask("tasks/get"), got("completed", completed))
		res, err := result()
		require.NoError(t, err)
		assert.Equal(t, "hello", res.Text())
		assert.Equal(t, 3*time.Second, time.Since(start), "it is asked for at once")
		assert.Equal(t, []mcp.TaskStatus{mcp.TaskWorking, mcp.TaskInputRequired, mcp.TaskCompleted}, seen)

		unknown := async(func() (*mcp.CallToolResult, error) { return c.AwaitTask(t.Context(), taskID) })
		p.refuse(p.expectTask("tasks/get"), -32602, "expired")
		_, err = unknown()
		assert.EqualError(t, err, "mcp: tasks/get: expired (-32602)")
	})
}

func TestTaskJSON(t *testing.T) {
	for _, text := range []string{
		`{"taskId":"a","status":"working","createdAt":"c","lastUpdatedAt":"u","ttlMs":null}`,
		`{"taskId":"a","status":"input_required","createdAt":"c","lastUpdatedAt":"u","ttlMs":60000,"pollIntervalMs":5,"inputRequests":{"k":{"method":"roots/list"}}}`,
		`{"taskId":"a","status":"completed","statusMessage":"<m>","createdAt":"c","lastUpdatedAt":"u","ttlMs":1,"result":{"content":[]},"_meta":{"x":1}}`,
		`{"taskId":"a","status":"failed","createdAt":"c","lastUpdatedAt":"u","ttlMs":null,"error":{"code":-1,"message":"m","data":9007199254740993}}`,
	} {
		var task mcp.Task
		require.NoError(t, json.Unmarshal([]byte(text), &task))
		again, err := task.MarshalJSON()
		require.NoError(t, err)
		assert.Equal(t, text, string(again))
	}
}
