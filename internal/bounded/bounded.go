// Package bounded reads streams of records none of which may grow without bound: a
// quote or a bracket left open would otherwise pull a whole file into memory. It also drops
// the byte order mark of a stream.
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

// WithoutMark returns r without the byte order mark that some programs put first. Nothing
// is read before the first Read, and no error of r is lost.
func WithoutMark(r io.Reader) io.Reader { return &unmarked{r: r} }

type unmarked struct {
	r     io.Reader
	begun bool
	head  []byte // read and not handed out
	err   error  // behind it
}

func (u *unmarked) Read(p []byte) (int, error) {
	const mark = "\ufeff"
	if !u.begun {
		u.begun, u.head = true, make([]byte, len(mark))
		n, err := io.ReadFull(u.r, u.head)
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		if u.head, u.err = u.head[:n], err; string(u.head) == mark {
			u.head = nil
		}
	}
	if len(u.head) > 0 {
		n := copy(p, u.head)
		u.head = u.head[n:]
		return n, nil
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.r.Read(p)
}
