package host

import (
	"context"
	"iter"
	"sync"
)

// An Event says that something about a server has changed.
type Event struct {
	// Status is what the server is now, not what it was at each change: changes that come while the loop is busy are
	// one. Of a server that is gone it has only the name.
	Status ServerStatus
	// Gone says that the host does not know the server any more.
	Gone bool
	// Catalog is the current one. Compare it with the last one to see whether it has changed.
	Catalog *Catalog
}

// Events walks what happens to servers, and waits in between. It begins with the servers that there are, so that
// nothing is missed before that. A slow loop holds up nobody, and misses nothing but states that are over: what waits
// for it is at most one event for each server. The loop ends when ctx is done, and after the last event of a host that
// was closed.
func (h *Host) Events(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		l := h.feed.join()
		defer h.feed.leave(l)
		for _, status := range h.Status() {
			l.mark(status.Name)
		}
		for {
			name, ok := l.next(ctx)
			if !ok || !yield(h.event(name)) {
				return
			}
		}
	}
}

func (h *Host) event(name string) Event {
	e := Event{Status: ServerStatus{Name: name}, Gone: true}
	if s := h.server(name); s != nil {
		e.Status, e.Gone = s.snapshot(), false
	}
	e.Catalog = h.Catalog()
	return e
}

// A feed tells listeners which servers have changed.
type feed struct {
	mu        sync.Mutex
	listeners map[*listener]bool
	over      bool
}

// A listener has the names of the servers that changed since it last looked, in the order in which they first did.
type listener struct {
	mu     sync.Mutex
	names  []string
	marked map[string]bool
	over   bool
	wake   chan struct{}
}

func (f *feed) join() *listener {
	l := &listener{marked: make(map[string]bool), wake: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listeners == nil {
		f.listeners = make(map[*listener]bool)
	}
	f.listeners[l] = true
	l.over = f.over
	return l
}

func (f *feed) leave(l *listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listeners, l)
}

func (f *feed) mark(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.listeners {
		l.mark(name)
	}
}

// close ends all loops once they have seen what there is.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	for l := range f.listeners {
		l.mu.Lock()
		l.over = true
		l.mu.Unlock()
		l.signal()
	}
}

func (l *listener) mark(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.marked[name] {
		l.marked[name] = true
		l.names = append(l.names, name)
	}
	l.signal()
}

func (l *listener) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// next waits for a name. It reports false when there will be none.
func (l *listener) next(ctx context.Context) (string, bool) {
	for ctx.Err() == nil {
		name, ok, over := l.take()
		if ok || over {
			return name, ok
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
		}
	}
	return "", false
}

func (l *listener) take() (name string, ok, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names) == 0 {
		return "", false, l.over
	}
	name = l.names[0]
	l.names = l.names[1:]
	delete(l.marked, name)
	return name, true, false
}
