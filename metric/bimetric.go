package metric

import (
	"cmp"
	"context"
	"math"
	"reflect"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
)

// Bimetric is one set of points under two metrics (BSV24), which number them alike: rho1, which
// says how far privacy must reach, and rho2, which says how much an error costs.
type Bimetric struct {
	Privacy Finite // rho1
	Utility Finite // rho2
}

// Same is the bimetric space in which one metric measures both.
func Same(f Finite) Bimetric { return Bimetric{f, f} }

// Len returns the number of points.
func (b Bimetric) Len() int { return b.Privacy.Len() }

// OneMetric reports whether one value measures both privacy and utility, as in the result of
// [Same]. It does not compare distances.
func (b Bimetric) OneMetric() bool {
	p, u := reflect.ValueOf(b.Privacy), reflect.ValueOf(b.Utility)
	return p.Type() == u.Type() && p.Comparable() && u.Comparable() && p.Equal(u)
}

// Check reports a missing, empty or mismatched metric. Functions that take a Bimetric call it.
func (b Bimetric) Check() error { return b.check("metric: Bimetric.Check") }

func (b Bimetric) check(op string) error {
	n, m := fault.Len(b.Privacy), fault.Len(b.Utility)
	return cmp.Or(fault.Empty(op, "Privacy", n), fault.Empty(op, "Utility", m), fault.Size(op, "Utility", m, n))
}

// Lipschitz returns the largest rho2(i,j)/rho1(i,j) over all pairs and the first pair that attains
// it: +Inf where rho1 is 0 and rho2 is not, 0 with the pair (0, 0) where rho2 is 0 throughout.
// O(n^2).
func (b Bimetric) Lipschitz(ctx context.Context) (ratio float64, i, j int, err error) {
	if err := b.check("metric: Bimetric.Lipschitz"); err != nil {
		return 0, 0, 0, err
	}
	var r1, r2 []float64
	for x := range b.Len() {
		if err := ctx.Err(); err != nil {
			return 0, 0, 0, err
		}
		r1, r2 = finite.Row(b.Privacy, x, r1), finite.Row(b.Utility, x, r2)
		for y := x + 1; y < len(r1); y++ {
			// 0/0 is NaN, which no comparison lets through.
			if q := r2[y] / r1[y]; q > ratio {
				ratio, i, j = q, x, y
			}
		}
		if math.IsInf(ratio, 1) {
			break
		}
	}
	return ratio, i, j, nil
}
