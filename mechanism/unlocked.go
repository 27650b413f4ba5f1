//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package mechanism

import (
	"errors"
	"os"
)

const renamesOpen = false

// openLocked says that there are no locks here.
func openLocked(file string) (*os.File, error) {
	return nil, &os.PathError{Op: "lock", Path: file, Err: errors.ErrUnsupported}
}

func syncFolder(string) error { return nil }

func rename(from, to string) error { return os.Rename(from, to) }
