package oauthinterop

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/internal/storestress"
	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/oauth/sqlstore"
	"github.com/seed62b61957/mcp/oauth/storetest"
)

// postgresVar has the connection string of a database that the tests may make tables in.
const postgresVar = "MCP_POSTGRES"

// long is a period that no test lets pass.
const long = 20 * time.Second

// plays are the other processes, by what they do with a table.
var plays = map[string]func(table string){
	"count":         func(table string) { storestress.Play(openStore(table)) },
	"hold the lock": func(table string) { storetest.Hold(openStore(table)) },
}

func openStore(table string) oauth.Store {
	db, err := sql.Open("pgx", os.Getenv(postgresVar))
	exit(err)
	store, err := sqlstore.New(db, sqlstore.Options{Table: table})
	exit(err)
	return store
}

func openDB(t *testing.T) *sql.DB {
	t.Helper()
	source := os.Getenv(postgresVar)
	require.NotEmpty(t, source, postgresVar+" is not set: run .ci/oauth")
	db, err := sql.Open("pgx", source)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

var tables atomic.Int32

// newStore returns a store in a table of its own.
func newStore(t *testing.T, o sqlstore.Options) (store *sqlstore.Store, db *sql.DB, table string) {
	t.Helper()
	db = openDB(t)
	table = fmt.Sprintf("records_%d_%d", os.Getpid(), tables.Add(1))
	o.Table = table
	store, err := sqlstore.New(db, o)
	require.NoError(t, err)
	require.NoError(t, store.CreateTable(t.Context()))
	t.Cleanup(func() {
		_, err := db.Exec("DROP TABLE " + table)
		assert.NoError(t, err)
		assert.Zero(t, db.Stats().InUse, "a connection did not come back")
	})
	return store, db, table
}

// another returns a store in the same table, as another process has: its goroutines are not known to the first.
func another(t *testing.T, table string) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.New(openDB(t), sqlstore.Options{Table: table})
	require.NoError(t, err)
	return store
}

func save(t *testing.T, store oauth.Store, key, record string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	return store.Update(ctx, key, func([]byte) ([]byte, error) { return []byte(record), nil })
}

func load(t *testing.T, store oauth.Store, key string) string {
	t.Helper()
	record, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	return string(record)
}

// waitForWaiters returns once so many sessions wait for a row that another has locked.
func waitForWaiters(t *testing.T, db *sql.DB, table string, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	for waiters := 0; waiters != count; {
		err := db.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO '||$1||' %'`, table).Scan(&waiters)
		require.NoError(t, err)
	}
}

func TestPostgresStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) oauth.Store {
		store, _, _ := newStore(t, sqlstore.Options{})
		return store
	})
}

func TestPostgresLosesNothingToKilledProcesses(t *testing.T) {
	store, _, table := newStore(t, sqlstore.Options{})
	storestress.Run(t, store, func() *exec.Cmd { return playing(t, "count", table) }, 3, 300)
}

func TestPostgresLockOfAProcessThatIsKilled(t *testing.T) {
	store, _, table := newStore(t, sqlstore.Options{})
	storetest.RunLock(t, store, playing(t, "hold the lock", table))
}

// A lock of a row that is removed is one of nothing: who waited for it must not save into the void.
func TestPostgresRowThatIsRemovedWhileAnotherWaitsForIt(t *testing.T) {
	for _, before := range []string{"old", ""} {
		store, db, table := newStore(t, sqlstore.Options{})
		require.NoError(t, save(t, store, "key", before))
		other := another(t, table)
		waited := make(chan error, 1)
		err := store.Update(t.Context(), "key", func([]byte) ([]byte, error) {
			go func() {
				waited <- other.Update(t.Context(), "key", func(record []byte) ([]byte, error) {
					assert.Nil(t, record)
					return []byte("new"), nil
				})
			}()
			waitForWaiters(t, db, table, 1)
			return nil, nil
		})
		require.NoError(t, err)
		require.NoError(t, <-waited)
		assert.Equal(t, "new", load(t, store, "key"))
	}
}

func TestPostgresUpdateThatSavesNothingLeavesNoRow(t *testing.T) {
	store, db, table := newStore(t, sqlstore.Options{})
	require.NoError(t, save(t, store, "key", ""))
	refused := errors.New("refused")
	err := store.Update(t.Context(), "key", func([]byte) ([]byte, error) { return nil, refused })
	require.ErrorIs(t, err, refused)
	assert.Zero(t, db.Stats().InUse, "the transaction was not over")
	var rows int
	require.NoError(t, db.QueryRow("SELECT count(*) FROM "+table).Scan(&rows))
	assert.Zero(t, rows)
}

func TestPostgresConnectionThatIsLostDuringAChange(t *testing.T) {
	store, db, table := newStore(t, sqlstore.Options{})
	require.NoError(t, save(t, store, "key", "old"))
	err := store.Update(t.Context(), "key", func([]byte) ([]byte, error) {
		var ended bool
		err := db.QueryRow(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE state = 'idle in transaction' AND query LIKE 'INSERT INTO '||$1||' %'`, table).Scan(&ended)
		assert.NoError(t, err)
		assert.True(t, ended)
		require.NoError(t, save(t, another(t, table), "key", "newer"))
		return []byte("late"), nil
	})
	require.ErrorContains(t, err, "sqlstore: ")
	assert.Equal(t, "newer", load(t, store, "key"))
	require.NoError(t, save(t, store, "key", "next"))
}

func TestPostgresTakesTheLockFromAChangeThatLastsTooLong(t *testing.T) {
	store, _, table := newStore(t, sqlstore.Options{HoldLimit: 100 * time.Millisecond})
	require.NoError(t, save(t, store, "key", "old"))
	err := store.Update(t.Context(), "key", func([]byte) ([]byte, error) {
		require.NoError(t, save(t, another(t, table), "key", "newer")) // which waits for the lock
		return []byte("late"), nil
	})
	require.ErrorContains(t, err, "sqlstore: ")
	assert.Equal(t, "newer", load(t, store, "key"))
}

func TestPostgresWaitersOfOneKeyTakeOneConnection(t *testing.T) {
	store, db, _ := newStore(t, sqlstore.Options{})
	db.SetMaxOpenConns(2)
	var waiters sync.WaitGroup
	err := store.Update(t.Context(), "key", func([]byte) ([]byte, error) {
		for range 50 {
			waiters.Go(func() { assert.NoError(t, save(t, store, "key", "waited")) })
		}
		for range 50 { // while they come
			assert.Empty(t, load(t, store, "key"))
		}
		assert.NoError(t, save(t, store, "another key", "not waited"))
		return nil, nil
	})
	require.NoError(t, err)
	waiters.Wait()
	assert.Zero(t, db.Stats().WaitCount, "the pool had no connection left")
}

func TestPostgresPoolThatIsExhausted(t *testing.T) {
	store, db, _ := newStore(t, sqlstore.Options{})
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = store.Update(ctx, "key", func([]byte) ([]byte, error) { return nil, errors.New("change was called") })
	require.ErrorIs(t, err, oauth.ErrLockBusy)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, conn.Close())
	require.NoError(t, save(t, store, "key", "record"))
}

func TestPostgresTableThatManyCreate(t *testing.T) {
	for range 5 {
		_, db, table := newStore(t, sqlstore.Options{})
		_, err := db.Exec("DROP TABLE " + table)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { assert.NoError(t, another(t, table).CreateTable(t.Context())) })
		}
		all.Wait()
	}
}

func TestPostgresTableThatIsMissing(t *testing.T) {
	store := another(t, "nowhere")
	_, err := store.Load(t.Context(), "key")
	require.ErrorContains(t, err, `"nowhere" does not exist`)
	require.ErrorContains(t, save(t, store, "key", "a secret record"), `"nowhere" does not exist`)
}

func TestPostgresErrorsShowNoRecord(t *testing.T) {
	store, db, table := newStore(t, sqlstore.Options{})
	_, err := db.Exec("ALTER TABLE " + table + " ADD CHECK (length(record) < 10)")
	require.NoError(t, err)
	err = save(t, store, "key", "a secret record")
	require.ErrorContains(t, err, "violates check constraint")
	for _, form := range []string{"%v", "%+v", "%#v"} {
		text := strings.ToLower(fmt.Sprintf(form, err))
		assert.NotContains(t, text, "secret")
		assert.NotContains(t, text, fmt.Sprintf("%x", "secret")) // as PostgreSQL writes bytes
	}
	assert.Empty(t, load(t, store, "key"))
}
