package oauth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed62b61957/mcp/internal/keylock"
)

const (
	maxRecordFile = 1 << 20 // bytes; a record has some KiB
	lockPoll      = 10 * time.Millisecond
	passingPeriod = 2 * time.Second // for what another program's look at a file holds up, see passing
)

// FileStore is a [Store] in a folder that all processes of a user on one machine may share, each with one FileStore
// or several. A record is a file, at most 1 MiB, that its owner alone may read (0600). It is replaced, never written
// to, and the replacement reaches the disk before Update returns. So whatever ends the process or the machine, the
// file is a whole record, and none older than the last Update that returned nil.
//
// The name of a file is the SHA-256 of its key in hexadecimal, which suits file systems of every kind. Beside it are
// NAME.lock, which is empty and stays, as removing it would let two processes lock two files of that name; and NAME.tmp
// while a record is being written. One that a killed process left is removed by the next Update of the key. The lock is
// flock(2), or LockFileEx on Windows, which the system takes back from a process that ends. Waiting for another process
// is asking every 10 ms, so who is next is chance.
//
// A record that is a symbolic link, or anything but a regular file, is an error. One that others may read is made
// private when it is loaded. On Windows, permissions are those that the folder hands down, so have it in the user's
// profile, as [os.UserConfigDir] is. A network file system is as good as its locks are; oauth/sqlstore is for many
// machines.
type FileStore struct {
	dir   string
	locks keylock.Locks // so that one goroutine at a time asks the system
}

var _ Store = (*FileStore)(nil)

// NewFileStore returns a store in the folder dir. It makes the folder, for its owner alone (0700), when there is none,
// and refuses one that others may write to.
func NewFileStore(dir string) (*FileStore, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("oauth: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("oauth: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("oauth: %w", err)
	}
	if mode := info.Mode().Perm(); permissions && mode&0o022 != 0 {
		return nil, fmt.Errorf("oauth: others may write to the folder %s (mode %#o)", dir, mode)
	}
	return &FileStore{dir: dir}, nil
}

// Load implements [Store].
func (s *FileStore) Load(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return readRecord(folder, recordName(key))
}

// Update implements [Store].
func (s *FileStore) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	waiting, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	leave, err := s.locks.Lock(waiting, key)
	if err != nil {
		return lockError(ctx)
	}
	defer leave()
	folder, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	name := recordName(key)
	lock, err := lockFile(waiting, folder, name+".lock")
	if waiting.Err() != nil && errors.Is(err, waiting.Err()) {
		return lockError(ctx)
	}
	if err != nil {
		return err
	}
	defer lock.Close() // no error that would undo what was saved
	return updateRecord(folder, name, change)
}

// lockFile waits for other processes, until ctx is done: then the error is ctx.Err().
func lockFile(ctx context.Context, folder *os.Root, name string) (*flock.Flock, error) {
	if _, err := regularFile(folder, name); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(folder.Name(), name), flock.SetPermissions(0o600))
	_, err := lock.TryLockContext(ctx, lockPoll)
	return lock, err
}

// updateRecord is for who has the lock.
func updateRecord(folder *os.Root, name string, change func([]byte) ([]byte, error)) error {
	if err := removeFile(folder, name+".tmp"); err != nil {
		return err
	}
	old, err := readRecord(folder, name)
	if err != nil {
		return err
	}
	record, err := change(bytes.Clone(old))
	if err != nil || bytes.Equal(record, old) {
		return err
	}
	return replaceRecord(folder, name, record)
}

// recordName maps keys to names without a collision, for file systems that fold case and have names that are devices.
func recordName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// readRecord returns nil when there is none.
func readRecord(folder *os.Root, name string) ([]byte, error) {
	if found, err := regularFile(folder, name); !found || err != nil {
		return nil, err
	}
	var f *os.File
	err := persist(func() (err error) {
		f, err = folder.Open(name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) { // removed just now
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := makePrivate(f); err != nil {
		return nil, err
	}
	record, err := io.ReadAll(io.LimitReader(f, maxRecordFile+1))
	if err != nil {
		return nil, err
	}
	if len(record) > maxRecordFile {
		return nil, fmt.Errorf("the record's file %s has more than %d bytes", f.Name(), maxRecordFile)
	}
	if len(record) == 0 {
		return nil, fmt.Errorf("the record's file %s is empty", f.Name()) // no Update leaves one
	}
	return record, nil
}

// regularFile tells whether there is a file of that name; one that is a link, a pipe or the like is an error.
func regularFile(folder *os.Root, name string) (found bool, err error) {
	info, err := folder.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file", filepath.Join(folder.Name(), name))
	}
	return true, nil
}

// makePrivate is for a file that was copied here, or restored from a backup, under a careless umask.
func makePrivate(f *os.File) error {
	if !permissions {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return f.Chmod(0o600)
}

// replaceRecord makes the record durable before it takes the name, and then the name.
func replaceRecord(folder *os.Root, name string, record []byte) error {
	if len(record) > maxRecordFile {
		return fmt.Errorf("a record of %d bytes is too large, at most %d", len(record), maxRecordFile)
	}
	if len(record) == 0 {
		if err := removeFile(folder, name); err != nil {
			return err
		}
		return syncFolder(folder)
	}
	part := name + ".tmp"
	err := writeFile(folder, part, record)
	if err == nil {
		err = persist(func() error { return folder.Rename(part, name) })
	}
	if err != nil {
		_ = removeFile(folder, part) // or the next Update does
		return err
	}
	return syncFolder(folder)
}

// writeFile makes a new file: O_EXCL follows no link.
func writeFile(folder *os.Root, name string, data []byte) error {
	f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func removeFile(folder *os.Root, name string) error {
	err := persist(func() error { return folder.Remove(name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// persist repeats what failed for a reason that passes.
func persist(try func() error) error {
	end := time.Now().Add(passingPeriod)
	for {
		err := try()
		if !passing(err) || time.Now().After(end) {
			return err
		}
		time.Sleep(lockPoll)
	}
}
