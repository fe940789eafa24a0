package oauth_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/oauth/storetest"
)

func TestMemoryStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) oauth.Store { return oauth.NewMemoryStore() })
}

func TestMemoryStoreWaitsHalfAMinuteForTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := oauth.NewMemoryStore()
		err := store.Update(t.Context(), "key", func([]byte) ([]byte, error) {
			begun := time.Now()
			err := store.Update(t.Context(), "key", func([]byte) ([]byte, error) { return nil, errors.New("called") })
			require.ErrorIs(t, err, oauth.ErrLockBusy)
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, oauth.LockWait, time.Since(begun))
			return nil, nil
		})
		require.NoError(t, err)
	})
}
