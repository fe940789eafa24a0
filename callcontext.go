package mcp

import (
	"context"
	"sync"
	"time"
)

// A callContext is the ctx of one request: that of the caller, with an end of its own. Most requests are over before
// anybody waits for their end, so what that takes is made when it is asked for.
type callContext struct {
	parent context.Context

	mu     sync.Mutex
	cause  error           // why it has ended; nil if it has not, or ended with the parent
	inner  context.Context // nil until somebody asks for more than Err
	cancel context.CancelCauseFunc
}

// own returns the context below, which ends when this one does.
func (c *callContext) own() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithCancelCause(c.parent)
		if c.cause != nil {
			c.cancel(c.cause)
		}
	}
	return c.inner
}

// end ends it, unless it has ended.
func (c *callContext) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
	}
	if c.cancel != nil {
		c.cancel(cause)
	}
}

func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.inner != nil:
		return c.inner.Err()
	case c.cause != nil:
		return context.Canceled
	}
	return c.parent.Err()
}

func (c *callContext) Done() <-chan struct{} { return c.own().Done() }

// Value also leads package context to the cancellation below, so that contexts made of this one need no goroutine.
func (c *callContext) Value(key any) any { return c.own().Value(key) }

func (c *callContext) Deadline() (deadline time.Time, ok bool) { return c.parent.Deadline() }
