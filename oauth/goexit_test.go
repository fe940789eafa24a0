package oauth_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// exitingStore is a store whose Update ends its goroutine.
type exitingStore struct {
	oauth.Store
	exits atomic.Bool
}

func (s *exitingStore) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	if s.exits.Load() {
		runtime.Goexit()
	}
	return s.Store.Update(ctx, key, change)
}

func TestAStoreThatEndsTheGoroutineOfARefresh(t *testing.T) {
	f := newFake(t)
	store := &exitingStore{Store: oauth.NewMemoryStore()}
	a := newAuthorizer(t, f, func(c *oauth.Config) { c.Store = store })
	signIn(t, f, a)
	requireCall(t, f, a)
	f.revoke()
	store.exits.Store(true)
	_, err := call(t.Context(), f, a)
	require.ErrorContains(t, err, "Goexit")
}
