package oauth_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/storestress"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/oauth/storetest"
)

// plays are the other processes, by what they do.
var plays = map[string]func(dir string){
	"count":         func(dir string) { storestress.Play(openFileStore(dir)) },
	"hold the lock": func(dir string) { storetest.Hold(openFileStore(dir)) },
}

func openFileStore(dir string) oauth.Store {
	store, err := oauth.NewFileStore(dir)
	exit(err)
	return store
}

// exit ends a process that plays.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newFileStore(t *testing.T) (store *oauth.FileStore, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "new", "store")
	store, err := oauth.NewFileStore(dir)
	require.NoError(t, err)
	return store, dir
}

func save(t *testing.T, store oauth.Store, key, record string) error {
	t.Helper()
	return store.Update(t.Context(), key, func([]byte) ([]byte, error) { return []byte(record), nil })
}

func load(t *testing.T, store oauth.Store, key string) string {
	t.Helper()
	record, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	return string(record)
}

// recordFile returns the path of the only record in dir.
func recordFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, strings.Repeat("[0-9a-f]", 64)))
	require.NoError(t, err)
	require.Len(t, files, 1)
	return files[0]
}

func TestFileStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) oauth.Store {
		store, _ := newFileStore(t)
		return store
	})
}

func TestFileStoreLosesNothingToKilledProcesses(t *testing.T) {
	store, dir := newFileStore(t)
	storestress.Run(t, store, func() *exec.Cmd { return playing(t, "count", dir) }, 3, 210)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(left), 3, "the record, its lock, and what the last killed process was writing")
	require.NoError(t, save(t, store, "https://mcp.example/count", "last"))
	left, err = filepath.Glob(filepath.Join(dir, "*.tmp"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestFileStoreLockOfAnotherProcess(t *testing.T) {
	store, dir := newFileStore(t)
	storetest.RunLock(t, store, playing(t, "hold the lock", dir))
}

func TestFileStoresOfOneProcessShareTheFolder(t *testing.T) {
	one, dir := newFileStore(t)
	two, err := oauth.NewFileStore(dir)
	require.NoError(t, err)
	err = one.Update(t.Context(), "key", func([]byte) ([]byte, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := two.Update(ctx, "key", func([]byte) ([]byte, error) { return []byte("two"), nil })
		assert.ErrorIs(t, err, oauth.ErrLockBusy)
		return []byte("one"), nil
	})
	require.NoError(t, err)
	assert.Equal(t, "one", load(t, two, "key"))
}

func TestFileStoreRefusesARecordThatIsTooLarge(t *testing.T) {
	store, dir := newFileStore(t)
	require.NoError(t, save(t, store, "key", "old"))
	err := store.Update(t.Context(), "key", func([]byte) ([]byte, error) { return make([]byte, 1<<20+1), nil })
	require.ErrorContains(t, err, "too large")
	assert.Equal(t, "old", load(t, store, "key"))

	require.NoError(t, os.WriteFile(recordFile(t, dir), make([]byte, 1<<20+1), 0o600))
	_, err = store.Load(t.Context(), "key")
	require.ErrorContains(t, err, "more than 1048576 bytes")
}

// A machine that lost power may leave an empty file where another program wrote it. It is no record, nor none.
func TestFileStoreTellsOfAnEmptyFile(t *testing.T) {
	store, dir := newFileStore(t)
	require.NoError(t, save(t, store, "key", "secret"))
	require.NoError(t, os.Truncate(recordFile(t, dir), 0))
	_, err := store.Load(t.Context(), "key")
	require.ErrorContains(t, err, "is empty")
}

func TestFileStoreRemovesWhatAKilledProcessWasWriting(t *testing.T) {
	store, dir := newFileStore(t)
	require.NoError(t, save(t, store, "key", "old"))
	part := recordFile(t, dir) + ".tmp"
	require.NoError(t, os.WriteFile(part, bytes.Repeat([]byte("x"), 100), 0o600))
	assert.Equal(t, "old", load(t, store, "key"))
	require.NoError(t, save(t, store, "key", "old"))
	assert.NoFileExists(t, part)
}

func TestFileStoreWhoseFolderWasRemoved(t *testing.T) {
	store, dir := newFileStore(t)
	require.NoError(t, os.RemoveAll(dir))
	record, err := store.Load(t.Context(), "key")
	require.NoError(t, err)
	assert.Nil(t, record)
	require.ErrorIs(t, save(t, store, "key", "new"), os.ErrNotExist)
}

func TestNewFileStoreRefusesAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := oauth.NewFileStore(file)
	require.ErrorContains(t, err, "oauth: ")
}
