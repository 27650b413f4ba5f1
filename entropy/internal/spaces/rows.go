package spaces

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// DensePoints is the number of points up to which distances are stored, 16 MiB
// for either metric: strings and long vectors then cost no more than others.
const DensePoints = 2048

// Stored returns b with its distances stored, if it is small.
func Stored(ctx context.Context, b metric.Bimetric) (metric.Bimetric, error) {
	if b.Len() > DensePoints {
		return b, nil
	}
	one := b.OneMetric()
	p, err := metric.Densify(ctx, b.Privacy)
	if err != nil || one {
		return metric.Same(p), err
	}
	u, err := metric.Densify(ctx, b.Utility)
	return metric.Bimetric{Privacy: p, Utility: u}, err
}

// Rows reads the distances from a point under both metrics, once where they are the same.
type Rows struct {
	b      metric.Bimetric
	same   bool
	r1, r2 []float64
}

// NewRows returns a reader of the rows of b, not for concurrent use.
func NewRows(b metric.Bimetric) *Rows {
	return &Rows{b: b, same: b.OneMetric()}
}

// At returns the distances from x, until the next call.
func (r *Rows) At(x int) (r1, r2 []float64) {
	r.r1 = finite.Row(r.b.Privacy, x, r.r1)
	if r.same {
		return r.r1, r.r1
	}
	r.r2 = finite.Row(r.b.Utility, x, r.r2)
	return r.r1, r.r2
}

// AllPoints returns 0, ..., n-1.
func AllPoints(n int) []int {
	pts := make([]int, n)
	for i := range pts {
		pts[i] = i
	}
	return pts
}

// Ascending returns the places of v in ascending order of its numbers.
func Ascending(v []float64) []int {
	order := AllPoints(len(v))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	return order
}

// ByLevel takes the scales at the levels that are finite and positive.
func ByLevel[T any](alphas []float64, scales func(alphas []float64) ([]T, error)) (map[float64]T, error) {
	out := make(map[float64]T)
	alphas = slices.DeleteFunc(alphas, func(a float64) bool { return math.IsInf(a, 1) || !(a > 0) })
	if len(alphas) == 0 {
		return out, nil
	}
	slices.Sort(alphas)
	alphas = slices.Compact(alphas)
	s, err := scales(alphas)
	if err != nil {
		return nil, err
	}
	for k, a := range alphas {
		out[a] = s[k]
	}
	return out, nil
}

// WorthDown bounds d exp(-alpha r) from below.
func WorthDown(d, alpha, r float64) float64 {
	return max(0, directed.MulDown(d, directed.ExpDown(-directed.MulUp(alpha, r))))
}

// WorthUp bounds d exp(-alpha r) from above.
func WorthUp(d, alpha, r float64) float64 {
	return directed.MulUp(d, directed.ExpUp(-directed.MulDown(alpha, r)))
}
