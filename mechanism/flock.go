//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mechanism

import (
	"errors"
	"os"
	"syscall"
)

// renamesOpen tells that a file may be replaced while somebody reads it.
const renamesOpen = true

// openLocked opens a file, which it makes if there is none, and waits for its lock.
func openLocked(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		f.Close()
		return nil, &os.PathError{Op: "flock", Path: file, Err: err}
	}
	return f, nil
}

// syncFolder brings the names in a folder to the disk.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func rename(from, to string) error { return os.Rename(from, to) }
