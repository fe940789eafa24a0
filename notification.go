package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// eventQueue takes notifications to the caller's handlers, in order, on one goroutine that exists only while there are
// any.
type eventQueue struct {
	mu      sync.Mutex
	queue   []event
	changes map[eventKey]bool // the changes in the queue, which are not queued twice
	running bool
}

// An event is one call of a handler. Events with a key are changes: they coalesce.
type event struct {
	key eventKey
	run func(context.Context)
}

type eventKey struct{ method, uri string }

const (
	// maxEvents bounds what waits for a slow handler; changes come on top, up to maxChanges different ones.
	maxEvents  = 1024
	maxChanges = 1 << 16
)

// notified takes a notification to where it belongs.
func (c *Client) notified(m *transport.Message) {
	on := &c.opts.On
	change := func(handler func(context.Context)) {
		c.enqueue(eventKey{method: m.Method}, handler)
	}
	switch m.Method {
	case "notifications/progress":
		c.progressed(m)
	case "notifications/cancelled":
		c.cancelRequest(m.Params)
	case "notifications/tools/list_changed":
		c.tools.forget()
		change(on.ToolsChanged)
	case "notifications/prompts/list_changed":
		change(on.PromptsChanged)
	case "notifications/resources/list_changed":
		change(on.ResourcesChanged)
	case "notifications/resources/updated":
		c.resourceUpdated(m.Params)
	case "notifications/elicitation/complete":
		c.elicitationCompleted(m.Params)
	case "notifications/message":
		c.logged(m.Params)
	default:
		if on.Other != nil {
			c.enqueue(eventKey{}, func(ctx context.Context) { on.Other(ctx, m.Method, m.Params) })
		}
	}
}

func (c *Client) resourceUpdated(params json.RawMessage) {
	handler := c.opts.On.ResourceUpdated
	if uri := stringMember(params, "uri"); handler != nil && uri != "" {
		key := eventKey{"notifications/resources/updated", uri}
		c.enqueue(key, func(ctx context.Context) { handler(ctx, uri) })
	}
}

func (c *Client) elicitationCompleted(params json.RawMessage) {
	handler := c.opts.On.ElicitationComplete
	if id := stringMember(params, "elicitationId"); handler != nil && id != "" {
		c.enqueue(eventKey{}, func(ctx context.Context) { handler(ctx, id) })
	}
}

func (c *Client) logged(params json.RawMessage) {
	handler := c.opts.On.Log
	if handler == nil {
		return
	}
	message, err := decodeLogMessage(params)
	if err != nil {
		c.log.Warn("skipped a malformed log message", slog.Any("error", err))
		return
	}
	c.enqueue(eventKey{}, func(ctx context.Context) { handler(ctx, message) })
}

// stringMember reads one string out of params, "" if it is not there.
func stringMember(params json.RawMessage, member string) string {
	var value string
	d := jsonscan.New(params)
	for name := range d.Object() {
		if string(name) == member && d.Kind() == jsonscan.String {
			value = d.Text()
		}
	}
	return value
}

// enqueue has a handler called after those that came before it.
func (c *Client) enqueue(key eventKey, handler func(context.Context)) {
	if handler == nil {
		return
	}
	q := &c.events
	q.mu.Lock()
	defer q.mu.Unlock()
	change := key != eventKey{}
	switch {
	case change && q.changes[key]:
		return // it waits already, and the handler will see what is true then
	case change && len(q.changes) >= maxChanges, !change && len(q.queue)-len(q.changes) >= maxEvents:
		c.log.Warn("dropped a notification, its handlers are too slow")
		return
	case change:
		if q.changes == nil {
			q.changes = make(map[eventKey]bool)
		}
		q.changes[key] = true
	}
	q.queue = append(q.queue, event{key, handler})
	if !q.running && c.ctx.Err() == nil {
		q.running = true
		go c.runEvents()
	}
}

func (c *Client) runEvents() {
	for {
		e, ok := c.events.next(c.ctx)
		if !ok {
			return
		}
		c.runEvent(e)
	}
}

func (c *Client) runEvent(e event) {
	defer func() {
		if v := recover(); v != nil {
			c.log.Error("a notification handler failed", slog.String("error", fmt.Sprintf("panic: %v\n%s", v, debug.Stack())))
		}
	}()
	e.run(c.ctx)
}

func (q *eventQueue) next(ctx context.Context) (event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 || ctx.Err() != nil {
		q.queue, q.changes, q.running = nil, nil, false
		return event{}, false
	}
	e := q.queue[0]
	q.queue = q.queue[1:]
	delete(q.changes, e.key)
	return e, true
}
