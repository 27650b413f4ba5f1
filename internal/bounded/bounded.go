// Package bounded reads streams of records none of which may grow without bound: a
// quote or a bracket left open would otherwise pull a whole file into memory.
package bounded

import (
	"fmt"
	"io"
)

// Reader passes on what R yields until one record is longer than Max bytes, which is
// an [*Error]. Whoever parses the stream calls [Reader.Begin] before each record.
type Reader struct {
	R    io.Reader
	Max  int64
	What string // the record in the message, as in "a row"

	read, start int64 // bytes handed out; where the present record begins
}

// Error reports a record longer than Max bytes.
type Error struct {
	What string
	Max  int64
}

func (e *Error) Error() string { return fmt.Sprintf("%s is longer than %d bytes", e.What, e.Max) }

// Begin says that a record begins at this offset from the start of the stream.
func (b *Reader) Begin(offset int64) { b.start = offset }

// Read implements [io.Reader].
func (b *Reader) Read(p []byte) (int, error) {
	if b.read-b.start > b.Max {
		return 0, &Error{b.What, b.Max}
	}
	n, err := b.R.Read(p)
	b.read += int64(n)
	return n, err
}
