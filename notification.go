package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/seed62b61957/mcp/internal/goexit"
	"github.com/seed62b61957/mcp/internal/jsonscan"
	"github.com/seed62b61957/mcp/transport"
)

// eventQueue takes notifications to the caller's handlers, in order, on one goroutine that exists only while there are
// any.
type eventQueue struct {
	mu      sync.Mutex
	queue   []errand
	changes map[Event]bool // the changes in the queue, which are not queued twice
	bytes   int            // of the messages that the queue keeps
	running bool
}

// An errand is one call of a handler. Those for a change coalesce.
type errand struct {
	change Event              // zero if it is none
	cause  *transport.Message // the notification; of a change only what the event says of it
	run    func(context.Context)
}

// bytes is about how much it holds. The method of a change is a constant.
func (e *errand) bytes() int {
	if e.change != (Event{}) {
		return len(e.cause.Params)
	}
	return len(e.cause.Params) + len(e.cause.Method)
}

const (
	// maxEvents bounds what waits for a slow handler; changes come on top, up to maxChanges different ones.
	maxEvents  = 1024
	maxChanges = 1 << 16
)

// notified takes a notification to where it belongs.
func (c *Client) notified(m *transport.Message) {
	switch m.Method {
	case "notifications/progress":
		c.progressed(m)
	case "notifications/cancelled":
		c.cancelRequest(m.Params)
	case "notifications/elicitation/complete":
		c.elicitationCompleted(m)
	case "notifications/message":
		c.logged(m)
	case "notifications/subscriptions/acknowledged":
		if l := c.listenerOf(m.Params); l != nil {
			l.notified(m)
		}
	default:
		c.otherNotified(m)
	}
}

// otherNotified tells changes, which may belong to a subscription, from what the client does not know. Of tasks nobody
// knows outside a subscription.
func (c *Client) otherNotified(m *transport.Message) {
	e, isEvent := eventOf(m.Method, m.Params)
	if isEvent && c.session.Load().modern() {
		if l := c.listenerOf(m.Params); l != nil {
			l.notified(m)
			return
		}
	}
	if isEvent && e.Task == nil {
		c.noticed(e)
		return
	}
	if on := &c.opts.On; on.Other != nil {
		c.enqueue(Event{}, m, func(ctx context.Context) { on.Other(ctx, m.Method, m.Params) })
	}
}

func (c *Client) elicitationCompleted(m *transport.Message) {
	handler := c.opts.On.ElicitationComplete
	if id := stringMember(m.Params, "elicitationId"); handler != nil && id != "" {
		c.enqueue(Event{}, m, func(ctx context.Context) { handler(ctx, id) })
	}
}

func (c *Client) logged(m *transport.Message) {
	handler := c.opts.On.Log
	if handler == nil {
		return
	}
	message, err := decodeLogMessage(m.Params)
	if err != nil {
		c.log.Warn("skipped a malformed log message", slog.Any("error", err))
		return
	}
	c.enqueue(Event{}, m, func(ctx context.Context) { handler(ctx, message) })
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
func (c *Client) enqueue(e Event, cause *transport.Message, handler func(context.Context)) {
	if handler == nil {
		return
	}
	q := c.events.get()
	q.mu.Lock()
	defer q.mu.Unlock()
	added := errand{e, cause, handler}
	change, bytes := e != Event{}, added.bytes()
	switch {
	case change && q.changes[e]:
		return // it waits already, and the handler will see what is true then
	case change && len(q.changes) >= maxChanges, !change && len(q.queue)-len(q.changes) >= maxEvents,
		bytes > 0 && q.bytes+bytes > maxQueueBytes:
		c.log.Warn("dropped a notification, its handlers are too slow")
		return
	case change:
		if q.changes == nil {
			q.changes = make(map[Event]bool)
		}
		q.changes[e] = true
	}
	q.bytes += bytes
	q.queue = append(q.queue, added)
	if !q.running && c.ctx().Err() == nil {
		q.running = true
		go goexit.Persist(c.runEvent)
	}
}

// runEvent runs the next handler, and reports whether there was one.
func (c *Client) runEvent() (more bool) {
	e, more := c.events.get().next(c.ctx())
	if !more {
		return false
	}
	failure := goexit.Err.Error()
	defer func() {
		if v := recover(); v != nil {
			failure = fmt.Sprintf("panic: %v\n%s", v, debug.Stack())
		}
		if failure != "" {
			c.log.Error("a notification handler failed", slog.String("error", failure))
		}
	}()
	_, err := c.interceptReceived(c.ctx(), e.cause, func(ctx context.Context) (json.RawMessage, error) {
		e.run(ctx)
		return nil, nil
	})
	failure = ""
	if err != nil {
		c.log.Warn("an interceptor refused a notification",
			slog.String("method", e.cause.Method), slog.Any("error", err))
	}
	return more
}

func (q *eventQueue) next(ctx context.Context) (errand, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 || ctx.Err() != nil {
		q.queue, q.changes, q.bytes, q.running = nil, nil, 0, false
		return errand{}, false
	}
	e := q.queue[0]
	q.queue = q.queue[1:]
	q.bytes -= e.bytes()
	delete(q.changes, e.change)
	return e, true
}
