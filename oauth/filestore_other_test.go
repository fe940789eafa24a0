//go:build !windows

package oauth_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Mode()
}

func TestFileStoreIsPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	store, dir := newFileStore(t)
	require.NoError(t, save(t, store, "key", "secret"))
	assert.Equal(t, fs.ModeDir|0o700, mode(t, dir))
	assert.Equal(t, fs.FileMode(0o600), mode(t, recordFile(t, dir)))
	assert.Equal(t, fs.FileMode(0o600), mode(t, recordFile(t, dir)+".lock"))
}

func TestFileStoreMakesAFilePrivate(t *testing.T) {
	store, dir := newFileStore(t)
	require.NoError(t, save(t, store, "key", "secret"))
	file := recordFile(t, dir)
	for _, wide := range []fs.FileMode{0o644, 0o640, 0o604} {
		require.NoError(t, os.Chmod(file, wide))
		assert.Equal(t, "secret", load(t, store, "key"))
		assert.Equal(t, fs.FileMode(0o600), mode(t, file))
	}
	require.NoError(t, os.Chmod(file, 0o400))
	assert.Equal(t, "secret", load(t, store, "key"))
	assert.Equal(t, fs.FileMode(0o400), mode(t, file), "what is narrower stays")
}

func TestNewFileStoreRefusesAFolderThatOthersWriteTo(t *testing.T) {
	dir := t.TempDir()
	for _, wide := range []fs.FileMode{0o777, 0o770, 0o702, fs.ModeSticky | 0o777} {
		require.NoError(t, os.Chmod(dir, wide))
		_, err := oauth.NewFileStore(dir)
		assert.ErrorContains(t, err, "others may write to the folder "+dir, "%v", wide)
	}
	require.NoError(t, os.Chmod(dir, 0o755))
	_, err := oauth.NewFileStore(dir)
	assert.NoError(t, err)
}

// A link could let the owner of its target have the tokens, or make the store write elsewhere.
func TestFileStoreFollowsNoLink(t *testing.T) {
	for _, suffix := range []string{"", ".lock", ".tmp"} {
		t.Run("record"+suffix, func(t *testing.T) {
			store, dir := newFileStore(t)
			require.NoError(t, save(t, store, "key", "secret"))
			file := recordFile(t, dir)
			target := filepath.Join(dir, "target")
			require.NoError(t, os.WriteFile(target, []byte("target"), 0o644))
			_ = os.Remove(file + suffix)
			require.NoError(t, os.Symlink("target", file+suffix))

			err := save(t, store, "key", "new")
			if suffix == ".tmp" { // what is left of a save is removed whatever it is
				require.NoError(t, err)
				assert.Equal(t, "new", load(t, store, "key"))
			} else {
				require.ErrorContains(t, err, filepath.Base(file)+suffix+" is not a regular file")
			}
			if suffix == "" {
				_, err = store.Load(t.Context(), "key")
				require.ErrorContains(t, err, "is not a regular file")
			}
			content, err := os.ReadFile(target)
			require.NoError(t, err)
			assert.Equal(t, "target", string(content))
			assert.Equal(t, fs.FileMode(0o644), mode(t, target))
		})
	}
}

func TestFileStoreDoesNotWaitForAPipe(t *testing.T) {
	store, dir := newFileStore(t)
	require.NoError(t, save(t, store, "key", "secret"))
	file := recordFile(t, dir)
	require.NoError(t, os.Remove(file))
	require.NoError(t, syscall.Mkfifo(file, 0o600))
	_, err := store.Load(t.Context(), "key")
	require.ErrorContains(t, err, "is not a regular file")
}

func TestFileStoreKeepsTheRecordWhenTheDiskIsFull(t *testing.T) {
	store, dir := newFileStore(t)
	require.NoError(t, save(t, store, "key", "old"))
	file := recordFile(t, dir)

	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) }()
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: before.Max}))
	err := save(t, store, "key", "longer than the limit of the test")
	require.ErrorIs(t, err, syscall.EFBIG)

	assert.Equal(t, "old", load(t, store, "key"))
	assert.NoFileExists(t, file+".tmp")
}
