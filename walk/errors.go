package walk

import (
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
)

// ErrEmpty reports a tree without nodes; see errors.Is. It is metric.ErrEmpty.
var ErrEmpty = fault.ErrEmpty

// The error types of this package, those of package metric, whose doc has the
// fields; see errors.As.
type (
	// ValueError reports one number outside its domain.
	ValueError = fault.ValueError
	// SizeError reports a length that does not fit the tree.
	SizeError = fault.SizeError
	// MemoryError reports a tree refused before it was allocated.
	MemoryError = fault.MemoryError
)

func checkLen(op, arg string, got, want int) error {
	if got == want {
		return nil
	}
	return &fault.SizeError{Op: op, Arg: arg, Got: got, Want: fmt.Sprint(want)}
}
