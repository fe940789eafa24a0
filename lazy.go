package mcp

import "sync/atomic"

// lazy is a value that is made when it is first needed: hosts have many connections that are idle, and most of what a
// client can do never happens on them. The zero value of T has to be usable.
type lazy[T any] struct{ made atomic.Pointer[T] }

func (l *lazy[T]) get() *T {
	if v := l.made.Load(); v != nil {
		return v
	}
	l.made.CompareAndSwap(nil, new(T))
	return l.made.Load()
}

// peek returns nil if the value was never needed.
func (l *lazy[T]) peek() *T { return l.made.Load() }
