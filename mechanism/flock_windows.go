package mechanism

import (
	"os"
	"syscall"
	"unsafe"
)

// renamesOpen tells that a file may be replaced while somebody reads it.
const renamesOpen = false

// openLocked opens a file, which it makes if there is none, for nobody else meanwhile.
func openLocked(file string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(file)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: file, Err: err}
	}
	for attempt := 0; ; attempt++ {
		h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
		if err == nil {
			return os.NewFile(uintptr(h), file), nil
		}
		const sharingViolation = syscall.Errno(32)
		if err != sharingViolation {
			return nil, &os.PathError{Op: "open", Path: file, Err: err}
		}
		pause(attempt)
	}
}

// syncFolder does nothing: rename waits for the disk.
func syncFolder(string) error { return nil }

var moveFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("MoveFileExW")

// rename replaces a file, and returns when that is on the disk.
func rename(from, to string) error {
	const replaceExisting, writeThrough = 1, 8
	a, err := syscall.UTF16PtrFromString(from)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	b, err := syscall.UTF16PtrFromString(to)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	if ok, _, err := moveFileEx.Call(uintptr(unsafe.Pointer(a)), uintptr(unsafe.Pointer(b)), replaceExisting|writeThrough); ok == 0 {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
