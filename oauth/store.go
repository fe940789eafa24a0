package oauth

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Store keeps records: what an [Authorizer] must not forget, one record a key. A record is some KiB of bytes that only
// the Authorizer reads, and holds secrets; [Sealed] encrypts them for any store. Here are [NewMemoryStore] and
// [NewFileStore], and oauth/sqlstore is for programs on many machines. A store of your own needs these two methods, and
// nothing but what follows is asked of it:
//
//   - All methods may be called concurrently, for the same key and for others.
//   - A key is a text in UTF-8 without NUL, of at most 2 KiB; two keys that differ in any byte are two keys.
//   - A record that was loaded is whole: one that some Update has saved, with every byte.
//   - The caller may change the bytes that it is given. Bytes that it gives are not changed, and not kept.
//   - An error is about the store, and has no part of a record in it.
//
// oauth/storetest tests whether a store keeps to this.
type Store interface {
	// Load returns the record that the last Update saved, or nil when there is none. It does not wait for an Update
	// that is under way. ctx bounds it.
	Load(ctx context.Context, key string) ([]byte, error)

	// Update replaces the record. It waits for the key's lock, calls change with the record (nil: there is none) and
	// saves what change returns: nil or nothing in it removes the record, and an equal one need not be written.
	//
	// The lock excludes every other Update of the key, in all goroutines and, where processes or machines share the
	// store, in all of those too: change sees what the Update before it saved. The lock ends with Update, when change
	// panics, and when its process dies, however it does. A change may take as long as a token request, 15 s; a store
	// may take the lock from one that takes more than a minute. It must not update the same key, which would wait for
	// itself.
	//
	// ctx bounds the wait for the lock and no more: what change has returned is saved even when ctx is done by then,
	// since it may be the only copy of a refresh token. So the store bounds the saving itself, by some seconds.
	//
	// With a nil error the record is saved, and survives the end of the process (and of the machine, where the store is
	// on a disk). An error of change is returned as it is, and nothing is saved. After any other error the record may
	// be the old one or the new one, never a part. When the lock was not to be had, by the end of ctx or within
	// [LockWait], change was not called and the error matches [ErrLockBusy], and ctx.Err() where that was the reason.
	Update(ctx context.Context, key string, change func(record []byte) ([]byte, error)) error
}

// LockWait is how long the stores of this package and oauth/sqlstore wait for a lock when ctx lets them: longer than
// the token request that its holder may be busy with.
const LockWait = 30 * time.Second

// ErrLockBusy is matched by the error of a [Store] that waited for a lock in vain.
var ErrLockBusy = errors.New("the lock of the record was not to be had")

// lockError is the error of a wait that ended with waiting, which is bounded by ctx and by LockWait.
func lockError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrLockBusy, err)
	}
	return fmt.Errorf("%w, after %v", ErrLockBusy, LockWait)
}
