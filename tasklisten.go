package mcp

import (
	"context"
	"slices"
	"time"
)

// A server may tell of changes of a task to a client that listens for them (Task Status Notifications). That spares
// asking, where it costs no connection.

// minListenTime is for how long at least the server may think about a subscription to a task.
const minListenTime = time.Second

// subscribe listens for changes of the task, if the server offers that. It takes no longer than until the task is asked
// for next. A server that does not agree is not asked again.
func (w *taskWait) subscribe(ctx context.Context) {
	c := w.client
	if w.sub != nil || w.listened || c.tasksUntold.Load() || c.conn.Traits().RequestStreams ||
		c.Server().Capabilities.Extensions[tasksExtension] == nil {
		return
	}
	w.listened = true
	limited, cancel := context.WithTimeout(ctx, max(w.interval, minListenTime))
	defer cancel()
	sub, err := c.listen(limited, Filter{TaskIDs: []string{w.id}})
	switch {
	case err == nil && slices.Contains(sub.accepted.TaskIDs, w.id):
		w.sub = sub
	case err == nil:
		_ = sub.Close()
		c.tasksUntold.Store(true)
	case ctx.Err() == nil && c.cause() == nil:
		c.tasksUntold.Store(true)
	}
}

func (w *taskWait) unsubscribe() {
	if w.sub != nil {
		_ = w.sub.Close()
		w.sub, w.asked = nil, false
	}
}

// changes has something in it when there is a change; nil if nobody tells.
func (w *taskWait) changes() <-chan struct{} {
	if w.sub == nil {
		return nil
	}
	return w.sub.wake
}

// told returns the state that the server has told, nil if it has not. A subscription that is over is done with.
func (w *taskWait) told() (task *Task) {
	events, over, _ := w.sub.take()
	for _, e := range events {
		if e.Task != nil && e.Task.ID == w.id && (e.Task.Status != TaskCompleted || e.Task.Result != nil) {
			task = e.Task
		}
	}
	if over {
		w.unsubscribe()
	}
	return task
}
