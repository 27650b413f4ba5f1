package measure

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// A domain's id keeps its counts from being added to another's: a digest of
// which records are in which cell and where the cells are. Two calls with the
// same arguments, on any two machines, make domains of one id.

const idSize = 16

// identify sets the id to a digest of what the constructor writes: numbers and
// slices of numbers of fixed size, whose lengths follow from what.
func (a *arrangement) identify(values ...any) {
	h := sha256.New()
	io.WriteString(h, a.what)
	for _, v := range values {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			panic(err) // a type without fixed size: an error in this package
		}
	}
	copy(a.id[:], h.Sum(nil))
}

// degrees are the nodes' numbers of children: the shape of the tree.
func (a *arrangement) degrees() []int32 {
	degrees := make([]int32, a.tree.Nodes())
	for v := range degrees {
		lo, hi := a.tree.Children(v)
		degrees[v] = int32(hi - lo)
	}
	return degrees
}

// same refuses to have what was counted in a taken for counts in to.
func (a *arrangement) same(op string, to *arrangement) error {
	if a.id == to.id {
		return nil
	}
	from, here := a.what+": "+a.layout(), to.what+": "+to.layout()
	if from == here {
		here += ", of other bounds, points or distances"
	}
	return fmt.Errorf("%s: %w: counted in a %s, not in this %s", op, ErrMismatch, from, here)
}

// sketch is a digest of distances of n points: of i and i+s, for all i and every
// step s up to 8, and in steps of about an eighth from there to most. That is
// every pair of nine points, and of n points at most 8 n log n. The distances
// are rounded to 16 bits after the first, because Go may fuse multiplications
// with additions, so that two machines need not agree on the last of 52; that
// they round apart has a probability of some 2^-36 a distance, and then counts
// are refused.
func sketch(ctx context.Context, n, most int, distance func(i, j int) (float64, error)) (digest [sha256.Size]byte, err error) {
	h := sha256.New()
	for s := 1; s < n && s <= most; s += 1 + s/8 {
		row := make([]uint32, n-s)
		err := each(ctx, len(row), 1<<10, func(i int) error {
			d, err := distance(i, i+s)
			row[i] = uint32((math.Float64bits(d) + 1<<35) >> 36)
			return err
		})
		if err != nil {
			return digest, err
		}
		if err := binary.Write(h, binary.LittleEndian, row); err != nil {
			return digest, err
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// read returns a distance of f, or an error if it is none.
func read(op string, f metric.Finite, i, j int) (float64, error) {
	d := f.Distance(i, j)
	if !(d >= 0) || math.IsInf(d, 1) {
		return d, notADistance(op, i, j, d, "a finite number >= 0")
	}
	return max(d, 0), nil // not -0
}

func notADistance(op string, i, j int, d float64, want string) error {
	return &fault.ValueError{Op: op, Arg: fmt.Sprintf("distance of point %d", i), Index: j, Value: d, Want: want}
}

// each calls f for 0 to n-1 on every core; the error is the lowest number's.
func each(ctx context.Context, n, size int, f func(i int) error) error {
	bad := make([]error, n)
	err := parallel.Chunks(ctx, n, size, 0, nil, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			bad[i] = f(i)
		}
	})
	if err != nil {
		return err
	}
	return cmp.Or(bad...)
}

// names is a digest of points or labels, by the types and values that Go would
// write them with. Where they hold pointers, those are what tells them apart.
func names[P any](n int, at func(i int) P) [sha256.Size]byte {
	h := sha256.New()
	var b []byte
	for i := range n {
		p := at(i)
		b = fmt.Appendf(b[:0], "%T %#v", p, p)
		fmt.Fprintf(h, "%d ", len(b))
		h.Write(b)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
