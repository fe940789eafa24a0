// Package keylock has a mutex for each key, whose wait obeys a context.
package keylock

import (
	"context"
	"sync"
)

// Locks are the locks that somebody holds or waits for; no other takes memory. The zero value is ready.
type Locks struct {
	mu   sync.Mutex
	keys map[string]*lock
}

type lock struct {
	held  chan struct{} // holds one token while somebody has the lock
	users int           // the holder and those who wait
}

// Lock waits until nobody holds the key's lock, or ctx is done: then the error is ctx.Err(). Call unlock once.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k := l.use(key)
	select {
	case k.held <- struct{}{}:
		return func() {
			<-k.held
			l.leave(key, k)
		}, nil
	case <-ctx.Done():
		l.leave(key, k)
		return nil, ctx.Err()
	}
}

func (l *Locks) use(key string) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[key]
	if k == nil {
		if l.keys == nil {
			l.keys = make(map[string]*lock)
		}
		k = &lock{held: make(chan struct{}, 1)}
		l.keys[key] = k
	}
	k.users++
	return k
}

func (l *Locks) leave(key string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.keys, key)
	}
}
