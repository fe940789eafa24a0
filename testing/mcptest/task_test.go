package mcptest_test

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
	"github.com/seed62b61957/mcp/testing/mcptest"
)

// withTasks declares the extension on a modern request.
func withTasks(members string) string {
	return strings.Replace(withModernMeta(members), `{"roots":{}}`, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)
}

// taskServer has a tool that says when it runs, and goes on when it is let.
func taskServer() (s *mcptest.Server, running, release chan struct{}) {
	s = &mcptest.Server{PollInterval: 5 * time.Second}
	running, release = make(chan struct{}), make(chan struct{})
	s.AddTaskTool(&mcp.Tool{Name: "t"}, func(ctx context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		call.Status("running")
		if err := call.Progress(ctx, 1, 2, ""); err != nil {
			return nil, err
		}
		running <- struct{}{}
		select {
		case <-release:
			return mcptest.Text("done"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return s, running, release
}

func begin(t *testing.T, w *wire) (id string) {
	t.Helper()
	var created struct {
		Type     string `json:"resultType"`
		ID       string `json:"taskId"`
		Status   string `json:"status"`
		Interval int    `json:"pollIntervalMs"`
	}
	answer := w.call("tools/call", withTasks(`"name":"t"`))
	require.NoError(t, json.Unmarshal([]byte(answer), &created))
	require.Equal(t, "task", created.Type, answer)
	require.Equal(t, "working", created.Status, answer)
	require.Equal(t, 5000, created.Interval, answer)
	return created.ID
}

func about(id string) string { return withTasks(fmt.Sprintf(`"taskId":%q`, id)) }

func TestATaskOnTheWire(t *testing.T) {
	s, running, release := taskServer()
	w := dial(t, s)
	assert.Contains(t, w.modern("server/discover", ""), `"extensions":{"io.modelcontextprotocol/tasks":{}}`)
	id := begin(t, w)
	<-running
	answer := w.call("tasks/get", about(id))
	assert.Contains(t, answer, `"resultType":"complete"`)
	assert.Contains(t, answer, `"status":"working"`)
	assert.Contains(t, answer, `"statusMessage":"running"`)

	release <- struct{}{}
	require.Eventually(t, func() bool {
		answer = w.call("tasks/get", about(id))
		return strings.Contains(answer, `"status":"completed"`)
	}, 5*time.Second, time.Millisecond)
	assert.Contains(t, answer, `"result":{"content":[{"type":"text","text":"done"}]}`)
	assert.Contains(t, w.call("tasks/cancel", about(id)), `"resultType":"complete"`, "what has ended stays as it is")
	assert.Contains(t, w.call("tasks/get", about(id)), `"status":"completed"`)
	assert.Contains(t, w.call("tasks/get", about("x")), `-32602`)
	assert.Contains(t, w.modern("tasks/get", `"taskId":"`+id+`"`), `-32021`, "the client has to declare it each time")
	assert.Contains(t, w.modern("subscriptions/listen", `"notifications":{"taskIds":["`+id+`"]}`), `-32021`)
}

func TestCancellingATask(t *testing.T) {
	s, running, _ := taskServer()
	w := dial(t, s)
	id := begin(t, w)
	<-running
	assert.NotContains(t, w.call("tasks/cancel", about(id)), `error`)
	require.Eventually(t, func() bool {
		return strings.Contains(w.call("tasks/get", about(id)), `"status":"cancelled"`)
	}, 5*time.Second, time.Millisecond)
}

func TestATaskToolWithoutTheExtension(t *testing.T) {
	for name, o := range map[string]*mcp.Options{
		"modern": nil,
		"legacy": {Versions: []string{mcp.Version20251125}, Tasks: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, running, release := taskServer()
			c := mcptest.Connect(t, s, o)
			go func() { <-running; release <- struct{}{} }()
			res, err := c.CallTool(t.Context(), "t", nil)
			require.NoError(t, err)
			assert.Equal(t, "done", res.Text())
			assert.Empty(t, s.Received("tasks/get"))
		})
	}
}

// asker is a server whose tasks ask for two things, one after the other.
func asker() *mcptest.Server {
	s := &mcptest.Server{}
	s.AddTaskTool(&mcp.Tool{Name: "t"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		answer, err := call.Elicit(&mcp.ElicitRequest{Message: "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		if err != nil {
			return nil, err
		}
		roots, err := call.Roots()
		if err != nil {
			return nil, err
		}
		return mcptest.Text(fmt.Sprint(answer.Action, len(roots))), nil
	})
	return s
}

func TestATaskThatAsks(t *testing.T) {
	s := asker()
	c := mcptest.Connect(t, s, &mcp.Options{
		Tasks: true,
		Elicit: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///a"}}, nil },
	})
	res, err := c.CallTool(t.Context(), "t", nil)
	require.NoError(t, err)
	assert.Equal(t, "accept1", res.Text())
	assert.Len(t, s.Received("tasks/update"), 2)
	assert.Len(t, s.Received("tools/call"), 1)
}

func TestCancellingATaskThatAsks(t *testing.T) {
	c := mcptest.Connect(t, asker(), &mcp.Options{Tasks: true})
	_, err := c.CallTool(t.Context(), "t", nil, mcp.WithManualInput())
	var task *mcp.TaskError
	require.ErrorAs(t, err, &task)
	require.NoError(t, c.CancelTask(t.Context(), task.Task.ID))
	_, err = c.AwaitTask(t.Context(), task.Task.ID)
	require.ErrorContains(t, err, "the task was cancelled")
}

func TestATaskThatFails(t *testing.T) {
	s := &mcptest.Server{}
	s.AddTaskTool(&mcp.Tool{Name: "t"}, func(_ context.Context, call *mcptest.Call) (*mcp.CallToolResult, error) {
		if string(call.Arguments) == "{}" {
			return nil, errors.New("for the model")
		}
		return nil, &mcp.RPCError{Code: -1, Message: "for the client"}
	})
	c := mcptest.Connect(t, s, &mcp.Options{Tasks: true})
	res, err := c.CallTool(t.Context(), "t", nil)
	require.NoError(t, err)
	assert.True(t, res.IsError)
	_, err = c.CallTool(t.Context(), "t", map[string]int{"n": 1})
	var rpc *mcp.RPCError
	require.ErrorAs(t, err, &rpc)
	assert.EqualValues(t, -1, rpc.Code)
}

func TestATaskOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, running, release := taskServer()
		connect := func() *mcp.Client {
			c, err := mcp.Connect(t.Context(), s.Transport(), &mcp.Options{Tasks: true})
			require.NoError(t, err)
			return c
		}
		c := connect()
		go func() { <-running }()
		leave := errors.New("later")
		var id string
		_, err := c.CallTool(t.Context(), "t", nil, mcp.WithTask(func(task *mcp.Task) error {
			id = task.ID
			return leave
		}))
		require.ErrorIs(t, err, leave)
		require.NoError(t, c.Close())

		c = connect()
		defer c.Close()
		start := time.Now()
		time.AfterFunc(7*time.Second, func() { close(release) })
		res, err := c.AwaitTask(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, "done", res.Text())
		assert.Equal(t, 7*time.Second, time.Since(start), "the server tells of it")
	})
}
