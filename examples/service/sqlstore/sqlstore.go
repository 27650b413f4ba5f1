// Package sqlstore keeps the records of package mechanism in one table of an SQL
// database: a file of SQLite for the processes of one machine, or PostgreSQL for those of
// several.
//
// A [Store] is a mechanism.Store. It compares and sets in one statement, which both
// databases carry out as one step, and both write to the disk before they answer.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite", in Go alone
)

// patience is how long a statement may take, with the wait for its turn.
const patience = 10 * time.Second

// Store is a mechanism.Store in a database. It is safe for concurrent use.
type Store struct {
	read, write *sql.DB // of one database
}

// SQLite opens the database metricdp.db in a folder, and makes both where they are not
// there: the folder for its owner alone. A folder that others may look into is an error.
// The folder must not be on a network file system.
func SQLite(ctx context.Context, dir string) (*Store, error) {
	if err := private(dir); err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	path, err := filepath.Abs(filepath.Join(dir, "metricdp.db"))
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	// SQLite gives the files beside it the same permissions.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	source := "file:" + url.PathEscape(path) + "?" + url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()), // first: the next may have to wait
		"journal_mode(WAL)",
		"synchronous(FULL)", // a commit is on the disk, also after a power cut
	}}.Encode()
	s := new(Store)
	if s.write, err = sql.Open("sqlite", source); err == nil {
		s.read, err = sql.Open("sqlite", source)
	}
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err)
	}
	// SQLite has one writer at a time. Within the process they queue, which is fair and
	// costs nothing; between processes they try again and again.
	s.write.SetMaxOpenConns(1)
	s.read.SetMaxOpenConns(8)
	s.read.SetMaxIdleConns(8)
	return s.create(ctx, `CREATE TABLE IF NOT EXISTS metricdp (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID`)
}

// private makes a folder of the owner's alone, or checks that it is.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s: others may look into it (%v): chmod 700: %w", dir, info.Mode().Perm(), fs.ErrPermission)
	}
	return err
}

// Postgres opens the table metricdp of a PostgreSQL database, and makes it where it is not
// there. source is a URL or a list of settings, as libpq takes them. It must lead to the
// primary: a replica is behind.
func Postgres(ctx context.Context, source string) (*Store, error) {
	config, err := pgx.ParseConfig(source)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %w", err) // without the password
	}
	// What the server's defaults must not undo: a commit is on the disk, and an UPDATE
	// that waited looks again.
	config.RuntimeParams["synchronous_commit"] = "on"
	config.RuntimeParams["default_transaction_isolation"] = "read committed"
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	s := &Store{read: db, write: db}
	return s.create(ctx,
		`SELECT pg_advisory_xact_lock(7310033)`, // of two that create a table at once one fails
		`CREATE TABLE IF NOT EXISTS metricdp (key TEXT PRIMARY KEY, value BYTEA NOT NULL)`)
}

// create prepares the database, in one transaction.
func (s *Store) create(ctx context.Context, statements ...string) (*Store, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tx, err := s.write.BeginTx(ctx, nil)
	for _, statement := range statements {
		if err == nil {
			_, err = tx.ExecContext(ctx, statement)
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlstore: %w", err), s.Close())
	}
	return s, nil
}

// Load returns the value under a key, and false where there is none.
func (s *Store) Load(key string) (value []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err = s.read.QueryRowContext(ctx, `SELECT value FROM metricdp WHERE key = $1`, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return value, err == nil, err
}

// Swap puts a value under a key where the value is old, or where old is nil and there is
// none, and reports whether it did. It is on the disk then.
func (s *Store) Swap(key string, old, new []byte) (swapped bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var r sql.Result
	if old == nil {
		r, err = s.write.ExecContext(ctx, `INSERT INTO metricdp (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, key, new)
	} else {
		r, err = s.write.ExecContext(ctx, `UPDATE metricdp SET value = $3 WHERE key = $1 AND value = $2`, key, old, new)
	}
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n == 1, err
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return s.read.QueryRowContext(ctx, `SELECT 1`).Scan(&one)
}

// Close ends the connections.
func (s *Store) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }
