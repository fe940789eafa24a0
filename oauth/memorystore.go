package oauth

import (
	"bytes"
	"context"
	"sync"

	"github.com/seed62b61957/mcp/internal/keylock"
)

// MemoryStore is a [Store] that ends with the process. It keeps each record until an Update removes it, and has no
// limit: to drop one would be to sign a user out.
type MemoryStore struct {
	locks keylock.Locks

	mu      sync.Mutex
	records map[string][]byte // never changed in place
}

var _ Store = (*MemoryStore)(nil)

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return &MemoryStore{records: make(map[string][]byte)} }

// Load implements [Store].
func (s *MemoryStore) Load(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.record(key), nil
}

// Update implements [Store].
func (s *MemoryStore) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	waiting, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	unlock, err := s.locks.Lock(waiting, key)
	if err != nil {
		return lockError(ctx)
	}
	defer unlock()
	record, err := change(s.record(key))
	if err != nil {
		return err
	}
	s.save(key, record)
	return nil
}

func (s *MemoryStore) record(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.records[key])
}

func (s *MemoryStore) save(key string, record []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(record) == 0 {
		delete(s.records, key)
		return
	}
	s.records[key] = bytes.Clone(record)
}
