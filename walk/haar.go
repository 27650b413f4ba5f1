package walk

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
)

// OverflowError reports an integer that would not let a transform finish within
// int64.
type OverflowError struct {
	Op    string // the method that refused it
	Index int    // position of the integer
	Value int64  // what was given
	Limit int64  // the largest magnitude allowed there
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("%s: x[%d] = %d would overflow int64: the magnitude may be at most %d", e.Op, e.Index, e.Value, e.Limit)
}

// Haar replaces the values on the leaves of a binary tree by its Haar
// coefficients, in place: x[0] becomes the total, and x[Split(v)], for each
// inner node v, the sum below its first child minus the sum below its second. A
// tree that is not binary is a [*ValueError]. O(n).
func (t *Tree) Haar(x []float64) error {
	if err := t.checkHaar("walk: Tree.Haar", len(x)); err != nil {
		return err
	}
	haar(t, x)
	return nil
}

// HaarInverse undoes [Tree.Haar], in place. O(n).
func (t *Tree) HaarInverse(x []float64) error {
	if err := t.checkHaar("walk: Tree.HaarInverse", len(x)); err != nil {
		return err
	}
	for v := range t.Nodes() {
		c := t.first[v]
		if c == t.first[v+1] {
			continue
		}
		i, j := t.lo[v], t.lo[c+1]
		p, d := float64(x[i]/2), float64(x[j]/2)
		x[i], x[j] = p+d, p-d
	}
	return nil
}

// HaarInt is [Tree.Haar] for integers, exactly. The absolute values must sum to
// at most 2^63-1; where they do not, x is left as it is and the error is an
// [*OverflowError].
func (t *Tree) HaarInt(x []int64) error {
	const op = "walk: Tree.HaarInt"
	if err := t.checkHaar(op, len(x)); err != nil {
		return err
	}
	if err := checkSum(op, x); err != nil {
		return err
	}
	haar(t, x)
	return nil
}

func haar[T int64 | float64](t *Tree, x []T) {
	for v := t.Nodes() - 1; v >= 0; v-- {
		c := t.first[v]
		if c == t.first[v+1] {
			continue
		}
		i, j := t.lo[v], t.lo[c+1]
		x[i], x[j] = x[i]+x[j], x[i]-x[j]
	}
}

// HaarInverseInt undoes [Tree.HaarInt], in place, and multiplies by 2^Height():
// coefficients that carry noise need not belong to integer leaves, but those
// units of 2^-Height() hold the leaves exactly. No magnitude may pass
// [Tree.HaarLimit]: where one does, x is left as it is and the error is an
// [*OverflowError]. [Clamp] before the call makes it safe; for noisy
// coefficients that is post-processing. O(n).
func (t *Tree) HaarInverseInt(x []int64) error {
	const op = "walk: Tree.HaarInverseInt"
	if err := t.checkHaar(op, len(x)); err != nil {
		return err
	}
	if err := checkMagnitude(op, x, t.HaarLimit()); err != nil {
		return err
	}
	if t.Height() > 62 { // then the limit is 0, and x too
		return nil
	}
	for i := range x {
		x[i] <<= t.Height()
	}
	for v := range t.Nodes() {
		c := t.first[v]
		if c == t.first[v+1] {
			continue
		}
		// The sum is even, because at depth l all values are multiples of
		// 2^(Height-l); half of it lies between its terms, so it fits where the
		// sum may not; and so does p-half, which is (p-d)/2.
		i, j := t.lo[v], t.lo[c+1]
		p, d := x[i], x[j]
		half := p&d + (p^d)>>1
		x[i], x[j] = half, p-half
	}
	return nil
}

// HaarLimit returns the largest magnitude of a coefficient that
// [Tree.HaarInverseInt] takes: (2^63-1)/2^Height() rounded down. Every value on
// the way is an average of coefficients in units 2^-Height(), so it is no
// larger than the largest of these.
func (t *Tree) HaarLimit() int64 {
	t.made("walk: Tree.HaarLimit")
	if t.Height() > 62 {
		return 0
	}
	return math.MaxInt64 >> t.Height()
}

// Clamp moves every entry of x to the nearest integer of magnitude at most
// limit, in place, and returns how many moved. limit must not be negative.
func Clamp(x []int64, limit int64) int {
	moved := 0
	for i, v := range x {
		if w := max(-limit, min(v, limit)); w != v {
			x[i] = w
			moved++
		}
	}
	return moved
}

func (t *Tree) checkHaar(op string, n int) error {
	if err := t.check(op); err != nil {
		return err
	}
	if !t.binary {
		return notBinary(op, t)
	}
	return checkLen(op, "x", n, t.Len())
}

func notBinary(op string, t *Tree) error {
	for v := range t.Nodes() {
		if k := t.first[v+1] - t.first[v]; k != 0 && k != 2 {
			return &ValueError{Op: op, Arg: "children of node", Index: v, Value: float64(k), Want: "0 or 2, a binary tree"}
		}
	}
	panic("walk: unreachable")
}

func checkLen(op, arg string, got, want int) error {
	if got == want {
		return nil
	}
	return &fault.SizeError{Op: op, Arg: arg, Got: got, Want: fmt.Sprint(want)}
}

// checkSum checks that the magnitudes of x sum to at most 2^63-1.
func checkSum(op string, x []int64) error {
	room := int64(math.MaxInt64)
	for i, v := range x {
		if v < -room || v > room {
			return &OverflowError{Op: op, Index: i, Value: v, Limit: room}
		}
		if v < 0 {
			v = -v
		}
		room -= v
	}
	return nil
}

func checkMagnitude(op string, x []int64, limit int64) error {
	for i, v := range x {
		if v < -limit || v > limit {
			return &OverflowError{Op: op, Index: i, Value: v, Limit: limit}
		}
	}
	return nil
}
