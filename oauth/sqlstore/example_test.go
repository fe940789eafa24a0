package sqlstore_test

import (
	"context"
	"database/sql"
	"log"

	"github.com/seed62b61957/mcp/oauth/sqlstore"
)

// The driver comes with an import of the program's, such as github.com/jackc/pgx/v5/stdlib.
func Example() {
	db, err := sql.Open("pgx", "postgres://agent@db.example.com/agent")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(20) // token requests at the same time

	store, err := sqlstore.New(db, sqlstore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.CreateTable(context.Background()); err != nil {
		log.Fatal(err)
	}
}
