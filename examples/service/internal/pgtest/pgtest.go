// Package pgtest starts servers of PostgreSQL for tests, of Debian's package postgresql or
// whatever has its programs on the PATH.
package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Server is a running PostgreSQL of its own, which ends with the test.
type Server struct {
	Source string // for sqlstore.Postgres

	tb       testing.TB
	bin, dir string
	as       *syscall.Credential // nil: who runs the test
}

// Start starts a server with the defaults of PostgreSQL, on a socket in a temporary folder
// alone. Where PostgreSQL is not installed the test is skipped, and under CI=true it fails.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil && found == nil {
		found = []string{path}
	}
	if len(found) == 0 {
		if os.Getenv("CI") == "true" {
			tb.Fatal("PostgreSQL is not installed, and CI=true")
		}
		tb.Skip("PostgreSQL is not installed: apt-get install postgresql")
	}
	s.bin = filepath.Dir(found[len(found)-1])
	var err error
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil { // short, for the socket
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(s.dir) })
	if os.Getuid() == 0 { // whom PostgreSQL refuses
		if s.as, err = nobody(); err == nil {
			err = os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	s.run("initdb", "-D", s.data(), "-U", "metricdp", "-A", "trust", "-E", "UTF8", "--no-sync")
	s.Up()
	tb.Cleanup(func() { s.run("pg_ctl", "-D", s.data(), "-m", "immediate", "stop") })
	s.Source = fmt.Sprintf("host=%s user=metricdp dbname=postgres", s.dir)
	return s
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Up starts the server again after a Crash.
func (s *Server) Up() {
	s.tb.Helper()
	s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "-l", filepath.Join(s.dir, "log"), "-o", "-c listen_addresses='' -k "+s.dir, "start")
}

// Crash ends the server as a crash does: what is not on the disk is lost.
func (s *Server) Crash() {
	s.tb.Helper()
	s.run("pg_ctl", "-D", s.data(), "-m", "immediate", "-w", "stop")
}

// run runs a program of PostgreSQL.
func (s *Server) run(name string, args ...string) {
	s.tb.Helper()
	out, err := os.Create(filepath.Join(s.dir, "out")) // no pipe, which the server would keep open
	if err != nil {
		s.tb.Fatal(err)
	}
	defer out.Close()
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir, c.Stdout, c.Stderr = s.dir, out, out
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	if err := c.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.tb.Fatalf("%s: %v\n%s%s", name, err, text, log)
	}
}

// nobody is a user without rights.
func nobody() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}
