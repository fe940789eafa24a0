package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp"
)

func (p *peer) notify(method, params string) {
	p.t.Helper()
	p.write(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

func TestNotificationsReachTheirHandlersInOrder(t *testing.T) {
	got := make(chan string, 20)
	say := func(what string) func(context.Context) { return func(context.Context) { got <- what } }
	_, p := connected(t, &mcp.Options{On: mcp.Notifications{
		ToolsChanged:        say("tools"),
		PromptsChanged:      say("prompts"),
		ResourcesChanged:    say("resources"),
		ResourceUpdated:     func(_ context.Context, uri string) { got <- "updated " + uri },
		ElicitationComplete: func(_ context.Context, id string) { got <- "complete " + id },
		Log: func(_ context.Context, m *mcp.LogMessage) {
			got <- fmt.Sprintf("log %s %s %s", m.Level, m.Logger, m.Data)
		},
		Other: func(_ context.Context, method string, params json.RawMessage) {
			got <- fmt.Sprintf("other %s %s", method, params)
		},
	}})
	p.notify("notifications/tools/list_changed", `{}`)
	p.notify("notifications/prompts/list_changed", `null`)
	p.notify("notifications/resources/list_changed", `{}`)
	p.notify("notifications/resources/updated", `{"uri":"a:b"}`)
	p.notify("notifications/elicitation/complete", `{"elicitationId":"e1"}`)
	p.notify("notifications/message", `{"level":"warning","logger":"db","data":{"n":9007199254740993}}`)
	p.notify("notifications/x", `{"a":1}`)
	p.write(`{"jsonrpc":"2.0","id":null,"method":"notifications/y"}`)
	for _, want := range []string{
		"tools", "prompts", "resources", "updated a:b", "complete e1", `log warning db {"n":9007199254740993}`, `other notifications/x {"a":1}`, "other notifications/y ",
	} {
		assert.Equal(t, want, <-got)
	}
}

func TestABurstOfChangesCoalesces(t *testing.T) {
	var fetches atomic.Int64
	final := make(chan []*mcp.Tool, 10)
	first := make(chan struct{})
	_, p := connected(t, &mcp.Options{On: mcp.Notifications{ToolsChanged: func(ctx context.Context) {
		if fetches.Add(1) == 1 {
			close(first)
		}
		tools, err := mcp.ClientFromContext(ctx).ListTools(ctx)
		if err == nil {
			final <- tools
		}
	}}})
	p.notify("notifications/tools/list_changed", `{}`)
	<-first
	m := p.expect("tools/list") // the handler is busy from here on
	for range 200 {
		p.notify("notifications/tools/list_changed", `{}`)
	}
	p.answer(m, `{"tools":[]}`)
	assert.Empty(t, <-final)
	p.answer(p.expect("tools/list"), `{"tools":[{"name":"new","inputSchema":{"type":"object"}}]}`)
	tools := <-final
	require.Len(t, tools, 1)
	assert.Equal(t, "new", tools[0].Name)
	assert.JSONEq(t, `{}`, string(p.ask(`1`, "ping", `{}`).Result), "no further fetch was sent")
	assert.EqualValues(t, 2, fetches.Load())
}

func TestChangesOfDifferentResourcesDoNotCoalesce(t *testing.T) {
	release, got := make(chan struct{}), make(chan string, 10)
	_, p := connected(t, &mcp.Options{On: mcp.Notifications{
		ToolsChanged:    func(context.Context) { <-release },
		ResourceUpdated: func(_ context.Context, uri string) { got <- uri },
		Log:             func(context.Context, *mcp.LogMessage) { got <- "log" },
	}})
	p.notify("notifications/tools/list_changed", `{}`)
	for _, uri := range []string{"a", "b", "a", "b", "a"} {
		p.notify("notifications/resources/updated", `{"uri":"`+uri+`"}`)
	}
	p.notify("notifications/message", `{"level":"info","data":1}`)
	close(release)
	for _, want := range []string{"a", "b", "log"} {
		assert.Equal(t, want, <-got)
	}
}

func TestASlowHandlerCostsABoundedQueue(t *testing.T) {
	release := make(chan struct{})
	var got atomic.Int64
	last := make(chan struct{})
	var log diagnostics
	_, p := connected(t, &mcp.Options{Logger: log.logger(), On: mcp.Notifications{
		ToolsChanged:     func(context.Context) { <-release },
		Log:              func(context.Context, *mcp.LogMessage) { got.Add(1) },
		ResourcesChanged: func(context.Context) { close(last) },
	}})
	p.notify("notifications/tools/list_changed", `{}`)
	for range 1500 {
		p.notify("notifications/message", `{"level":"info","data":1}`)
	}
	p.notify("notifications/resources/list_changed", `{}`) // a change is never dropped
	p.ask(`1`, "ping", `{}`)
	close(release)
	<-last
	assert.LessOrEqual(t, got.Load(), int64(1025))
	assert.GreaterOrEqual(t, got.Load(), int64(1023))
	log.wait(t, "dropped a notification")
}

func TestAPanicInANotificationHandlerIsContained(t *testing.T) {
	got := make(chan struct{})
	_, p := connected(t, &mcp.Options{On: mcp.Notifications{
		ToolsChanged:   func(context.Context) { panic("in a handler") },
		PromptsChanged: func(context.Context) { close(got) },
	}})
	p.notify("notifications/tools/list_changed", `{}`)
	p.notify("notifications/prompts/list_changed", `{}`)
	<-got
}

func TestMalformedNotificationsAreHarmless(t *testing.T) {
	_, p := connected(t, &mcp.Options{On: mcp.Notifications{
		ResourceUpdated: func(context.Context, string) {},
		Log:             func(context.Context, *mcp.LogMessage) {},
	}})
	for _, method := range []string{
		"notifications/progress", "notifications/cancelled", "notifications/message", "notifications/resources/updated",
		"notifications/elicitation/complete", "notifications/tools/list_changed",
	} {
		for _, params := range []string{`null`, `[]`, `5`, `"x"`, `{"uri":5,"requestId":{},"progressToken":[1],"level":7}`, `{"requestId":null,"progressToken":null}`} {
			p.notify(method, params)
		}
	}
	assert.JSONEq(t, `{}`, string(p.ask(`1`, "ping", `{}`).Result))
}
