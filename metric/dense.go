package metric

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Dense is a finite metric with its n(n-1)/2 distances stored.
type Dense struct {
	n     int
	upper []float64 // (0,1), (0,2), ..., (0,n-1), (1,2), ...
	unit  Unit
}

// NewDense returns the metric on n points whose distances, row by row above the diagonal, are
// upper: d(0,1), d(0,2), ..., d(0,n-1), d(1,2), ... It copies upper. A negative, NaN or infinite
// entry is a [*ValueError], a length other than n(n-1)/2 a [*SizeError].
func NewDense(n int, upper []float64) (*Dense, error) {
	const op = "metric: NewDense"
	if err := cmp.Or(condensedSize(op, "n", n), fault.Size(op, "upper", len(upper), n*(n-1)/2),
		fault.AllNonNegative(op, "upper", upper)); err != nil {
		return nil, err
	}
	return &Dense{n: n, upper: slices.Clone(upper)}, nil
}

// NewMatrix returns the metric whose distances are the rows of an n x n symmetric matrix with
// zero diagonal. A wrong entry is a [*Violation] that names it. O(n^2).
func NewMatrix(rows [][]float64) (*Dense, error) {
	const op = "metric: NewMatrix"
	n := len(rows)
	if err := condensedSize(op, "rows", n); err != nil {
		return nil, err
	}
	upper := make([]float64, 0, n*(n-1)/2)
	for i, row := range rows {
		arg := fmt.Sprintf("rows[%d]", i)
		if err := cmp.Or(fault.Size(op, arg, len(row), n), fault.AllNonNegative(op, arg, row)); err != nil {
			return nil, err
		}
		if row[i] != 0 {
			return nil, &Violation{Op: op, Axiom: ZeroSelf, I: i, J: i, K: -1, Excess: row[i]}
		}
		for j := range i {
			if row[j] != rows[j][i] {
				return nil, &Violation{Op: op, Axiom: Symmetry, I: j, J: i, K: -1, Excess: row[j] - rows[j][i]}
			}
		}
		upper = append(upper, row[i+1:]...)
	}
	return &Dense{n: n, upper: upper}, nil
}

// Densify stores all distances of f; a *Dense is returned as it is. More than 16 GiB (1 GiB on 32
// bits) are a [*MemoryError], a negative or non-finite distance a [*ValueError] with its position
// as in [NewDense]. O(n^2).
func Densify(ctx context.Context, f Finite) (*Dense, error) {
	const op = "metric: Densify"
	if d, ok := f.(*Dense); ok {
		return d, nil
	}
	n := fault.Len(f)
	if err := condensedSize(op, "f", n); err != nil {
		return nil, err
	}
	d := &Dense{n, make([]float64, n*(n-1)/2), UnitOf(f)}
	err := parallel.Chunks(ctx, n, 16, 0, nil, func(_, lo, hi int) {
		var row []float64
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			row = finite.Row(f, i, row)
			copy(d.upper[d.at(i, i+1):], row[i+1:])
		}
	})
	const piece = 1 << 22
	for lo := 0; lo < len(d.upper) && err == nil; lo += piece {
		err = cmp.Or(ctx.Err(), fault.AllNonNegative(op, "distance", d.upper[lo:min(len(d.upper), lo+piece)]))
		if v, ok := err.(*ValueError); ok {
			v.Index += lo
		}
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// condensedSize checks that there are n points, and memory for their distances.
func condensedSize(op, arg string, n int) error {
	return cmp.Or(fault.Empty(op, arg, n), fault.Memory(op, float64(n)*float64(n-1)/2, 8))
}

// at is the position of (i, j), i < j, in the condensed triangle.
func (d *Dense) at(i, j int) int { return i*(2*d.n-i-1)/2 + j - i - 1 }

// Len returns the number of points.
func (d *Dense) Len() int { return d.n }

// Unit returns that of the metric whose distances [Densify] stored.
func (d *Dense) Unit() Unit { return d.unit }

// String is for people: "metric on 5 points".
func (d *Dense) String() string { return fmt.Sprintf("metric on %d points", d.n) }

// Distance returns the distance between points i and j.
func (d *Dense) Distance(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	if i < 0 || j >= d.n {
		panic(fmt.Sprintf("metric: index (%d, %d) out of range [0, %d)", i, j, d.n))
	}
	if i == j {
		return 0
	}
	return d.upper[d.at(i, j)]
}

// DistancesFrom implements [RowReader].
func (d *Dense) DistancesFrom(i int, dst []float64) []float64 {
	dst = finite.Grow(dst, d.n)
	for k, j := i-1, 0; j < i; j++ { // (j, i) sits at j(2n-j-1)/2 + i-j-1
		dst[j] = d.upper[k]
		k += d.n - j - 2
	}
	dst[i] = 0
	if i+1 < d.n {
		copy(dst[i+1:], d.upper[d.at(i, i+1):])
	}
	return dst
}
