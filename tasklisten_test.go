package mcp_test

import (
	"context"
	"encoding/json"
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

var (
	discoveredTasks = strings.Replace(discovered, `"tools":{}`, `"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}`, 1)
	agreed          = fmt.Sprintf(`{"taskIds":[%q]}`, taskID)
)

// tasking returns a client of a server that offers tasks, and the peer that plays it.
func tasking(t testing.TB, o *mcp.Options) (*mcp.Client, *peer) {
	t.Helper()
	connect, p := connecting(t, t.Context(), withTasks(o))
	p.answer(p.expect("server/discover"), discoveredTasks)
	c, err := connect()
	require.NoError(t, err)
	return c, p
}

// tell sends a state of the task on a subscription.
func (p *peer) tell(listen wire, status, more string) {
	p.t.Helper()
	p.event(string(listen.ID), "notifications/tasks", ","+state(status, more))
}

func TestTheServerTellsOfTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := tasking(t, accepting())
		start := time.Now()
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), created(`,"pollIntervalMs":5000`))
		listen := p.expect("subscriptions/listen")
		assert.JSONEq(t, agreed, string(paramsOf(t, listen)["notifications"]))
		p.acknowledge(listen, agreed)
		p.event(string(listen.ID), "notifications/tasks", ","+strings.Replace(state("failed", ""), taskID, "another", 1))
		p.tell(listen, "input_required", `,"inputRequests":{`+askForRoot+`}`)
		p.answer(p.expectTask("tasks/update"), acknowledged)
		assert.Zero(t, time.Since(start))

		p.answer(p.expectTask("tasks/get"), got("working", ""))
		assert.Equal(t, 5*time.Second, time.Since(start), "something may have happened before the subscription")
		p.answer(p.expectTask("tasks/get"), got("working", ""))
		assert.Equal(t, 65*time.Second, time.Since(start), "and may have been lost later")
		p.tell(listen, "completed", "") // not the whole
		time.Sleep(time.Second)
		p.tell(listen, "completed", completed)
		assert.Equal(t, string(listen.ID), string(paramsOf(t, p.expect("notifications/cancelled"))["requestId"]))
		res, err := result()
		require.NoError(t, err)
		assert.Equal(t, "hello", res.Text())
		assert.Equal(t, 66*time.Second, time.Since(start))
	})
}

func TestTheServerStopsTelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := tasking(t, nil)
		start := time.Now()
		result := call(c, t.Context(), "a")
		p.answer(p.expect("tools/call"), created(""))
		listen := p.expect("subscriptions/listen")
		p.acknowledge(listen, agreed)
		p.answer(p.expectTask("tasks/get"), got("working", ""))
		time.Sleep(10 * time.Second)
		p.answer(listen, acknowledged)
		p.answer(p.expectTask("tasks/get"), got("working", ""))
		assert.Equal(t, 12*time.Second, time.Since(start))
		p.answer(p.expectTask("tasks/get"), got("completed", completed))
		assert.Equal(t, 13*time.Second, time.Since(start))
		_, err := result()
		require.NoError(t, err)
	})
}

func TestAServerThatDoesNotTellIsNotAskedTo(t *testing.T) {
	for name, respond := range map[string]func(*peer, wire){
		"refuses": func(p *peer, m wire) { p.refuse(m, -32601, "unknown") },
		"agrees to nothing": func(p *peer, m wire) {
			p.acknowledge(m, `{}`)
			p.expect("notifications/cancelled")
		},
		"is silent": func(p *peer, _ wire) { p.expect("notifications/cancelled") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := tasking(t, nil)
				start := time.Now()
				result := call(c, t.Context(), "a")
				p.answer(p.expect("tools/call"), created(""))
				respond(p, p.expect("subscriptions/listen"))
				p.answer(p.expectTask("tasks/get"), got("completed", completed))
				assert.LessOrEqual(t, time.Since(start), 2*time.Second, "to listen must not take longer than to ask")
				_, err := result()
				require.NoError(t, err)

				result = call(c, t.Context(), "a")
				p.answer(p.expect("tools/call"), created(""))
				p.answer(p.expectTask("tasks/get"), got("completed", completed))
				_, err = result()
				require.NoError(t, err)
			})
		})
	}
}

// streaming is a transport on which a subscription takes a stream of its own.
type streaming struct{ *exchanges }

func (x streaming) Connect(context.Context) (transport.Conn, error) { return x, nil }
func (x streaming) Traits() transport.Traits                        { return transport.Traits{RequestStreams: true} }

func TestNoStreamIsKeptForATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := mcp.Connect(t.Context(), streaming{exchanging(func(_ context.Context, out transport.Outgoing) error {
			switch out.Message.Method {
			case "server/discover":
				return reply(out, discoveredTasks)
			case "tools/call":
				return reply(out, created(""))
			case "tasks/get":
				return reply(out, got("completed", completed))
			}
			t.Error("unexpected:", out.Message.Method)
			return nil
		})}, withTasks(nil))
		require.NoError(t, err)
		defer c.Close()
		_, err = c.CallTool(t.Context(), "a", nil)
		require.NoError(t, err)
	})
}

func TestListeningForTasks(t *testing.T) {
	c, p := tasking(t, nil)
	s, m := subscribe(t, c, p, mcp.Filter{TaskIDs: []string{taskID}}, agreed)
	assert.JSONEq(t, agreed, string(paramsOf(t, m)["notifications"]))
	assert.Equal(t, []string{taskID}, s.Accepted().TaskIDs)
	for i := range 100 {
		p.event(string(m.ID), "notifications/tasks", ","+strings.Replace(state("working", ""), taskID, fmt.Sprint(i), 1))
		p.tell(m, "working", fmt.Sprintf(`,"statusMessage":"%d"`, i))
	}
	p.tell(m, "completed", completed)
	p.answer(m, acknowledged)
	events, err := rest(t, s)
	require.NoError(t, err)
	require.NotEmpty(t, events)
	assert.LessOrEqual(t, len(events), 2, "the last is enough, and others were not asked for")
	last := events[len(events)-1]
	assert.Equal(t, mcp.TaskChanged, last.Kind)
	assert.Equal(t, mcp.TaskCompleted, last.Task.Status)
	assert.Equal(t, completed, `,"result":`+string(last.Task.Result))
}

func TestTasksThatNobodyListensFor(t *testing.T) {
	other := make(chan string, 1)
	_, p := tasking(t, &mcp.Options{On: mcp.Notifications{
		Other: func(_ context.Context, method string, params json.RawMessage) { other <- method + string(params) },
	}})
	p.write(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{%s}}`, state("working", ""))
	assert.Equal(t, "notifications/tasks{"+state("working", "")+"}", <-other)
}
