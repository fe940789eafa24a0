package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/seed62b61957/mcp/internal/keylock"
	"github.com/seed62b61957/mcp/oauth"
)

// DefaultTable is the name of the table.
const DefaultTable = "mcp_oauth_records"

// saveLimit bounds each of the steps that ctx does not: the saving, and the giving up.
const saveLimit = 10 * time.Second

// Options are a [Store]'s. The zero value is good.
type Options struct {
	// Table is the name of the table, with the schema where that is needed: "auth.records". Default: DefaultTable.
	Table string
	// HoldLimit is how long a change may take before the database takes the lock from it, which makes that Update fail.
	// It is for machines that vanish from the network. Default: a minute.
	HoldLimit time.Duration
}

// Store is an [oauth.Store] in a table of a PostgreSQL database.
type Store struct {
	db    *sql.DB
	locks keylock.Locks // so that one goroutine a key has a connection

	hold, create, load, lock, save, remove string
}

var _ oauth.Store = (*Store)(nil)

// tableName is a name, or two of them, that need no quotes.
var tableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$`)

// New returns a store in db, which stays the caller's to close. It does not touch the database.
func New(db *sql.DB, o Options) (*Store, error) {
	table := o.Table
	if table == "" {
		table = DefaultTable
	}
	if !tableName.MatchString(table) {
		return nil, fmt.Errorf("sqlstore: %q is no name of a table", table)
	}
	hold := o.HoldLimit
	if hold <= 0 {
		hold = time.Minute
	}
	return &Store{
		db:   db,
		hold: fmt.Sprintf("SET LOCAL idle_in_transaction_session_timeout = %d", max(hold.Milliseconds(), 1)),
		create: "CREATE TABLE IF NOT EXISTS " + table + ` (
			key        text COLLATE "C" PRIMARY KEY,
			record     bytea NOT NULL DEFAULT '',
			updated_at timestamptz NOT NULL DEFAULT now())`,
		load: "SELECT record FROM " + table + " WHERE key = $1",
		// It locks a row that is there and one that is not, which others then wait for, too. SELECT FOR UPDATE does
		// not.
		lock: "INSERT INTO " + table + " (key) VALUES ($1) " +
			"ON CONFLICT (key) DO UPDATE SET key = EXCLUDED.key RETURNING record",
		save:   "UPDATE " + table + " SET record = $2, updated_at = clock_timestamp() WHERE key = $1",
		remove: "DELETE FROM " + table + " WHERE key = $1",
	}, nil
}

// CreateTable creates the table unless there is one. Any number of processes may do so at the same time.
func (s *Store) CreateTable(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, s.create)
	if err != nil {
		// Of two that create it at the same time, PostgreSQL lets one fail all the same, once the other is done.
		_, err = s.db.ExecContext(ctx, s.create)
	}
	return wrap(err)
}

// Load implements [oauth.Store].
func (s *Store) Load(ctx context.Context, key string) ([]byte, error) {
	var record []byte
	err := s.db.QueryRowContext(ctx, s.load, key).Scan(&record)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return record, wrap(err)
}

// Update implements [oauth.Store].
func (s *Store) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	waiting, cancel := context.WithTimeout(ctx, oauth.LockWait)
	defer cancel()
	leave, err := s.locks.Lock(waiting, key)
	if err != nil {
		return lockError(ctx)
	}
	defer leave()

	// The transaction ends with its context, and what was changed must be saved even after the end of ctx. So it has a
	// context of its own, which ends with the wait until there is a lock.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stop := context.AfterFunc(waiting, end)
	tx, err := s.db.BeginTx(life, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err == nil {
		defer within(end, tx.Rollback) // which does nothing after Commit
	}
	var old []byte
	if err == nil {
		old, err = s.lockRow(life, tx, key)
	}
	if !stop() {
		return lockError(ctx)
	}
	if err != nil {
		return wrap(err)
	}

	record, err := change(bytes.Clone(old))
	if err != nil || bytes.Equal(record, old) {
		return err
	}
	return wrap(within(end, func() error { return s.replace(life, tx, key, record) }))
}

// lockRow returns the record, or nothing when there is none: then there is a row for as long as the transaction lasts.
func (s *Store) lockRow(ctx context.Context, tx *sql.Tx, key string) (record []byte, err error) {
	if _, err := tx.ExecContext(ctx, s.hold); err != nil {
		return nil, err
	}
	err = tx.QueryRowContext(ctx, s.lock, key).Scan(&record)
	if len(record) == 0 {
		return nil, err
	}
	return record, err
}

// replace is for who has the lock, and ends it.
func (s *Store) replace(ctx context.Context, tx *sql.Tx, key string, record []byte) (err error) {
	if len(record) == 0 {
		_, err = tx.ExecContext(ctx, s.remove, key)
	} else {
		_, err = tx.ExecContext(ctx, s.save, key, record)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// within bounds a step that takes no context of its own: end is called when it takes longer than saveLimit.
func within(end context.CancelFunc, step func() error) error {
	limit := time.AfterFunc(saveLimit, end)
	err := step()
	if !limit.Stop() && err != nil { // it says that its context was cancelled, which the caller's was not
		return fmt.Errorf("no answer within %v: %w", saveLimit, context.DeadlineExceeded)
	}
	return err
}

// lockError is the error of a wait that ended with waiting, which is bounded by ctx and by LockWait.
func lockError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sqlstore: %w: %w", oauth.ErrLockBusy, err)
	}
	return fmt.Errorf("sqlstore: %w, after %v", oauth.ErrLockBusy, oauth.LockWait)
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlstore: %w", err)
}
