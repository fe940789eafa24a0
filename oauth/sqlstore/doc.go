// Package sqlstore keeps the records of package oauth in a PostgreSQL database, for programs that run on many machines
// and share their users' grants. It needs database/sql and a driver for PostgreSQL, which the program chooses:
//
//	db, err := sql.Open("pgx", "postgres://...")
//	store, err := sqlstore.New(db, sqlstore.Options{})
//	err = store.CreateTable(ctx)
//
// It is tested on PostgreSQL 15 with pgx v5. The statements are such as PostgreSQL has had since 9.6; neither older
// versions nor other databases that speak its protocol were tested. The database must be the primary: a replica may
// have an older record.
//
// # Table
//
// A record is a row, some KiB. CreateTable does this, unless the table is there, which a migration of the program's may
// do as well:
//
//	CREATE TABLE mcp_oauth_records (
//		key        text COLLATE "C" PRIMARY KEY,
//		record     bytea NOT NULL DEFAULT '',
//		updated_at timestamptz NOT NULL DEFAULT now()
//	);
//
// The record holds tokens, and a database may be told to log the values of its statements: oauth.Sealed encrypts
// records. updated_at is for whoever removes the rows of users that are gone; to delete a row is to sign the user out
// here.
//
// # Lock
//
// The lock of a key is that of its row, in a transaction that lasts as long as the update. It ends with the connection,
// so with the process, however that dies. When a machine vanishes from the network without closing its connections,
// the database ends the transaction after Options.HoldLimit.
//
// So an update keeps a connection while it asks the authorization server for a token, up to 15 s; a lease in the table
// would not, but would outlive a process that died. Goroutines that wait for the same key take no connection but one,
// and updates of different keys take one each: as many as there are users whose tokens expire at once. A program whose
// pool is too small for that opens a second *sql.DB for the store, with a limit of its own (SetMaxOpenConns); those who
// find no connection wait for one, as for the lock. A pooler between is no obstacle: all that is needed of the session
// is inside the transaction.
package sqlstore
