package mcp

import (
	"context"
	"log/slog"
	"sync"

	"github.com/seed62b61957/mcp/internal/goexit"
)

// logQueue takes diagnostics to the caller's handler on a goroutine of their own, which exists only while there are
// any: they arise where nothing may wait, on the reader and under locks, and the handler may do anything, even close
// the client.
type logQueue struct {
	mu      sync.Mutex
	queue   []logEntry
	dropped int
	running bool
}

type logEntry struct {
	handler slog.Handler
	record  slog.Record
}

const (
	// maxLogged bounds the diagnostics that wait for a slow handler.
	maxLogged = 256
	// maxLoggedText bounds what they repeat of a message that nobody asked for.
	maxLoggedText = 256
)

// queuedHandler is a handler whose records go through a queue.
type queuedHandler struct {
	slog.Handler
	queue *logQueue
}

func (h queuedHandler) Handle(_ context.Context, r slog.Record) error {
	h.queue.add(logEntry{h.Handler, r.Clone()})
	return nil
}

func (h queuedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return queuedHandler{h.Handler.WithAttrs(attrs), h.queue}
}

func (h queuedHandler) WithGroup(name string) slog.Handler {
	return queuedHandler{h.Handler.WithGroup(name), h.queue}
}

func (q *logQueue) add(e logEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) >= maxLogged {
		q.dropped++
		return
	}
	if q.dropped > 0 {
		e.record.AddAttrs(slog.Int("dropped_before", q.dropped))
		q.dropped = 0
	}
	q.queue = append(q.queue, e)
	if !q.running {
		q.running = true
		go goexit.Persist(q.handleNext)
	}
}

// handleNext has the next record handled, and reports whether there was one. It contains what a handler does wrong: the
// process is not the client's to end.
func (q *logQueue) handleNext() (more bool) {
	e, more := q.next()
	if more {
		defer func() { _ = recover() }()
		_ = e.handler.Handle(context.Background(), e.record)
	}
	return more
}

func (q *logQueue) next() (e logEntry, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		q.queue, q.running = nil, false
		return e, false
	}
	e = q.queue[0]
	q.queue = q.queue[1:]
	return e, true
}
