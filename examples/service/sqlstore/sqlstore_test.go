package sqlstore_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/examples/service/internal/pgtest"
	"github.com/metricdp/metricdp/examples/service/sqlstore"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

var _ mechanism.Store = (*sqlstore.Store)(nil)

// databases runs a test on both, with a function that opens the one database.
func databases(t *testing.T, test func(t *testing.T, open func() (*sqlstore.Store, error))) {
	t.Run("sqlite", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a ?%#&'") // of signs that a URL has to escape
		test(t, func() (*sqlstore.Store, error) { return sqlstore.SQLite(context.Background(), dir) })
	})
	t.Run("postgres", func(t *testing.T) {
		source := pgtest.Start(t).Source
		test(t, func() (*sqlstore.Store, error) { return sqlstore.Postgres(context.Background(), source) })
	})
}

// A Swap happens where the value is the old one, and nowhere else.
func TestStore_ComparesAndSets(t *testing.T) {
	databases(t, func(t *testing.T, open func() (*sqlstore.Store, error)) {
		s := testkit.Must(open())
		all := make([]byte, 256) // of any bytes
		for i := range all {
			all[i] = byte(i)
		}
		for i, c := range []struct {
			key      string
			old, new []byte
			swapped  bool
			want     []byte
		}{
			{"a", []byte("1"), []byte("2"), false, nil}, // there is none
			{"a", nil, []byte("1"), true, []byte("1")},
			{"a", nil, []byte("2"), false, []byte("1")},
			{"a", []byte("2"), []byte("3"), false, []byte("1")},
			{"A", nil, []byte("x"), true, []byte("x")}, // keys differ by case
			{"a", []byte("1"), []byte("2"), true, []byte("2")},
			{"a", []byte("1"), []byte("3"), false, []byte("2")},
			{"a", []byte("2"), all, true, all},
			{"a", all[:255], []byte("3"), false, all},
			{"a", all, []byte("3"), true, []byte("3")},
			{"a", []byte("3"), []byte("3"), true, []byte("3")},
		} {
			swapped, err := s.Swap(c.key, c.old, c.new)
			if err != nil || swapped != c.swapped {
				t.Errorf("%d: Swap gives %v, %v", i, swapped, err)
			}
			got, ok, err := s.Load(c.key)
			if err != nil || ok != (c.want != nil) || !bytes.Equal(got, c.want) {
				t.Errorf("%d: Load gives %q, %v, %v, want %q", i, got, ok, err, c.want)
			}
		}
		if err := errors.Join(s.Ping(context.Background()), s.Close()); err != nil {
			t.Error(err)
		}
		if _, _, err := s.Load("a"); err == nil {
			t.Error("a closed store loads")
		}
		if _, err := s.Swap("a", nil, []byte("1")); err == nil {
			t.Error("a closed store swaps")
		}
		s = testkit.Must(open())
		defer s.Close()
		if got, _, err := s.Load("a"); err != nil || string(got) != "3" {
			t.Errorf("opened again: %q, %v", got, err)
		}
	})
}

// Of many who count at once, over connections of their own that are all made at once, each
// counts.
func TestStore_Arbitrates(t *testing.T) {
	const stores, each = 8, 25
	databases(t, func(t *testing.T, open func() (*sqlstore.Store, error)) {
		var all sync.WaitGroup
		for range stores {
			all.Go(func() {
				s, err := open()
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				for done := 0; done < each; {
					old, ok, err := s.Load("n")
					var n int
					if ok {
						fmt.Sscan(string(old), &n)
					}
					swapped := false
					if err == nil {
						swapped, err = s.Swap("n", old, fmt.Append(nil, n+1))
					}
					if err != nil {
						t.Error(err)
						return
					}
					if swapped {
						done++
					}
				}
			})
		}
		all.Wait()
		s := testkit.Must(open())
		defer s.Close()
		if got, _, err := s.Load("n"); err != nil || string(got) != fmt.Sprint(stores*each) {
			t.Errorf("%s, %v, want %d", got, err, stores*each)
		}
	})
}

// The files are their owner's alone, and a folder that others may look into is refused.
func TestSQLite_Permissions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	s := testkit.Must(sqlstore.SQLite(context.Background(), dir))
	defer s.Close()
	if _, err := s.Swap("a", nil, []byte("1")); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("%v, %v: want a database, its log and its index", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	open := t.TempDir()
	testkit.Check(t, os.Chmod(open, 0o750))
	if _, err := sqlstore.SQLite(context.Background(), open); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}

// What a Swap reported is there after a crash of PostgreSQL, also where the server's default
// is not to wait for the disk; and a password is in no error.
func TestPostgres_Durable(t *testing.T) {
	server := pgtest.Start(t)
	db, err := sql.Open("pgx", server.Source)
	if err == nil {
		_, err = db.Exec("ALTER DATABASE postgres SET synchronous_commit = off; ALTER DATABASE postgres SET default_transaction_isolation = serializable")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s := testkit.Must(sqlstore.Postgres(context.Background(), server.Source))
	defer s.Close()
	var old []byte
	for i := range 50 {
		next := fmt.Append(nil, i)
		if ok, err := s.Swap("a", old, next); !ok || err != nil {
			t.Fatal(ok, err)
		}
		old = next
	}
	server.Crash()
	if _, _, err := s.Load("a"); err == nil {
		t.Error("no error without a server")
	}
	server.Up()
	if got, ok, err := s.Load("a"); err != nil || !ok || !bytes.Equal(got, old) {
		t.Errorf("%q, %v, %v, want %q", got, ok, err, old)
	}
	if _, err := sqlstore.Postgres(context.Background(), "postgres://ann:hunter2@/db?port=no"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
