package keylock

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestOneHolderAKey(t *testing.T) {
	var locks Locks
	var all sync.WaitGroup
	counts := map[string]*int{"a": new(int), "b": new(int)}
	for key, count := range counts {
		for range 20 {
			all.Go(func() {
				for range 100 {
					unlock, err := locks.Lock(t.Context(), key)
					if assert.NoError(t, err) {
						*count++ // the race detector watches
						unlock()
					}
				}
			})
		}
	}
	all.Wait()
	assert.Equal(t, 2000, *counts["a"])
	assert.Equal(t, 2000, *counts["b"])
	assert.Empty(t, locks.keys, "free locks take memory")
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var locks Locks
		unlock, err := locks.Lock(t.Context(), "key")
		require.NoError(t, err)

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := locks.Lock(ctx, "key")
			ended <- err
		}()
		synctest.Wait() // it waits
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)

		unlock()
		assert.Empty(t, locks.keys)
		unlock, err = locks.Lock(t.Context(), "key")
		require.NoError(t, err, "the wait that ended took nothing along")
		unlock()
	})
}
