package mechanism

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
)

// fileStore is the Store in a folder.
type fileStore struct{ path string }

// parts is how many folders the records are spread over, each with a lock.
const parts = 64

// OpenFileStore returns the [Store] in a folder, one file for each record, for any number of processes
// of one machine; it makes the folder if there is none, but not the one above. Only the user of the
// process may read what it makes. It needs no closing, and is safe for concurrent use. The error is one
// of package os, or [errors.ErrUnsupported] where files have no locks, as in a browser.
//
// A value is written beside the old one, brought to the disk and renamed, under a lock that ends with the
// process: after a kill, a power cut or with a full disk a record is the old one or the new one, and what
// Load returns is on the disk. A process that is stopped in a Swap keeps the others waiting. Each record
// takes a block of the file system, mostly 4 kB. 50 askers on two cores and ext4 get 19,000 answers of
// [Sticky] a second that are kept, and 350 new ones of one budget (BenchmarkFileStore).
//
// The folder must be on a disk of the machine, not on a network. A copy that is put back forgot what came
// after it: what was drawn and spent since is drawn and spent again.
func OpenFileStore(path string) (Store, error) {
	const op = "mechanism: OpenFileStore"
	if path == "" {
		return nil, fault.Empty(op, "path", 0)
	}
	path, err := filepath.Abs(path) // another working folder is another day
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	s := &fileStore{path}
	folders := []string{path}
	for i := range parts {
		folders = append(folders, s.part(i))
	}
	for _, folder := range folders {
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	// Whoever made them, they are on the disk before this process puts anything into them.
	if err := cmp.Or(syncFolder(path), syncFolder(filepath.Dir(path))); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	l, err := s.lock(s.part(0))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return s, l.Close()
}

func (s *fileStore) part(i int) string { return filepath.Join(s.path, fmt.Sprintf("%02d", i)) }

// find returns the part and the file of a record.
func (s *fileStore) find(op, key string) (part, file string, err error) {
	hash := uint32(0)
	for _, c := range []byte(key) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return "", "", fmt.Errorf("%s: key = %q, want lower-case ASCII letters, digits and '-'", op, key)
		}
		hash = 31*hash + uint32(c)
	}
	if key == "" || len(key) > 80 {
		return "", "", &fault.SizeError{Op: op, Arg: "key", Got: len(key), Want: "1 to 80"}
	}
	part = s.part(int(hash % parts))
	return part, filepath.Join(part, "record-"+key), nil // no name that a system keeps for itself
}

// locked is the file of a lock, which ends when it is closed.
type locked struct {
	*os.File
	turn chan struct{}
}

func (l locked) Close() error {
	defer func() { <-l.turn }()
	return l.File.Close()
}

// turns are chan struct{} by part. Who waits for a lock takes a thread of the system, of which a
// process has 10,000 at most: no more than waiting of its goroutines do at once.
var turns sync.Map

const waiting = 4

// lock waits for the lock of a part. The file has a byte while a name may have changed that is
// not on the disk: who was killed there left it.
func (s *fileStore) lock(part string) (l locked, err error) {
	turn, _ := turns.LoadOrStore(part, make(chan struct{}, waiting))
	l.turn = turn.(chan struct{})
	l.turn <- struct{}{}
	if l.File, err = openLocked(lockFile(part)); err != nil {
		<-l.turn
		return l, err
	}
	info, err := l.Stat()
	if err == nil && info.Size() > 0 {
		if err = syncFolder(part); err == nil {
			err = l.Truncate(0)
		}
	}
	if err != nil {
		l.Close()
	}
	return l, err
}

func lockFile(part string) string { return filepath.Join(part, "lock") }

// read returns what a file holds.
func read(file string) (value []byte, ok bool, err error) {
	value, err = os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return value, err == nil, err
}

func (s *fileStore) Load(key string) (value []byte, ok bool, err error) {
	const op = "mechanism: FileStore.Load"
	part, file, err := s.find(op, key)
	if err != nil {
		return nil, false, err
	}
	if renamesOpen {
		value, ok, err = read(file)
		// Without a byte in the lock now, what was read before is on the disk.
		if info, bad := os.Stat(lockFile(part)); bad == nil && info.Size() == 0 && err == nil {
			return value, ok, nil
		}
	}
	l, err := s.lock(part)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", op, err)
	}
	defer l.Close()
	if value, ok, err = read(file); err != nil {
		err = fmt.Errorf("%s: %w", op, err)
	}
	return value, ok, err
}

func (s *fileStore) Swap(key string, old, new []byte) (swapped bool, err error) {
	const op = "mechanism: FileStore.Swap"
	part, file, err := s.find(op, key)
	if err != nil {
		return false, err
	}
	l, err := s.lock(part)
	if err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	defer l.Close()
	value, ok, err := read(file)
	if err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	if ok != (old != nil) || !bytes.Equal(value, old) {
		return false, nil
	}
	if err := put(l.File, part, file, new); err != nil {
		return false, fmt.Errorf("%s: %w", op, err)
	}
	return true, nil
}

// put brings a value to the disk and then its name.
func put(l *os.File, part, file string, value []byte) error {
	beside := filepath.Join(part, "new") // of whoever has the lock, also what another left there
	w, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = w.Write(value)
	if err = errors.Join(err, w.Sync(), w.Close()); err == nil {
		if err = l.Truncate(1); err == nil {
			err = rename(beside, file)
		}
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside)) // a full disk needs the room
	}
	if err := syncFolder(part); err != nil {
		return err
	}
	return l.Truncate(0)
}
