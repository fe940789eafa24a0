package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
)

// hungDB is a database that does not answer one of its statements, as one that vanished from the network: what is sent
// to it returns when its context ends.
type hungDB struct {
	hangs string // what a statement starts with, or COMMIT or ROLLBACK
}

func (h *hungDB) Connect(context.Context) (driver.Conn, error) { return hungConn{h}, nil }
func (h *hungDB) Driver() driver.Driver                        { return nil }

func (h *hungDB) answer(ctx context.Context, statement string) error {
	if h.hangs == "" || !strings.HasPrefix(statement, h.hangs) {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

type hungConn struct{ *hungDB }

func (hungConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (hungConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (hungConn) Close() error                        { return nil }

func (c hungConn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	return hungTx{c, ctx}, c.answer(ctx, "BEGIN")
}

func (c hungConn) ExecContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), c.answer(ctx, query)
}

func (c hungConn) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	return &oneRow{}, c.answer(ctx, query)
}

// hungTx keeps the context that it was begun with, as drivers do for statements that are given none.
type hungTx struct {
	conn hungConn
	ctx  context.Context
}

func (tx hungTx) Commit() error   { return tx.conn.answer(tx.ctx, "COMMIT") }
func (tx hungTx) Rollback() error { return tx.conn.answer(tx.ctx, "ROLLBACK") }

type oneRow struct{ read bool }

func (*oneRow) Columns() []string { return []string{"record"} }
func (*oneRow) Close() error      { return nil }

func (r *oneRow) Next(values []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read = true
	values[0] = []byte("old")
	return nil
}

// However the database hangs, an update ends, and what it waited for is in its error.
func TestUpdateOnADatabaseThatHangs(t *testing.T) {
	refused := errors.New("refused")
	tests := []struct {
		hangs  string
		change error // of change
		takes  time.Duration
		want   error
	}{
		{"nothing", nil, 0, nil},
		{"BEGIN", nil, oauth.LockWait, oauth.ErrLockBusy},
		{"SET", nil, oauth.LockWait, oauth.ErrLockBusy},
		{"INSERT", nil, oauth.LockWait, oauth.ErrLockBusy},
		{"UPDATE", nil, saveLimit, context.DeadlineExceeded},
		{"COMMIT", nil, saveLimit, context.DeadlineExceeded},
		{"ROLLBACK", refused, saveLimit, refused},
	}
	for _, test := range tests {
		t.Run(test.hangs, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := sql.OpenDB(&hungDB{hangs: test.hangs})
				defer db.Close()
				store, err := New(db, Options{})
				require.NoError(t, err)
				begun := time.Now()
				err = store.Update(t.Context(), "key", func(record []byte) ([]byte, error) {
					assert.Equal(t, "old", string(record))
					return []byte("new"), test.change
				})
				require.ErrorIs(t, err, test.want)
				assert.Equal(t, test.takes, time.Since(begun))
				synctest.Wait()
				assert.Zero(t, db.Stats().InUse, "the connection did not come back")
			})
		})
	}
}
