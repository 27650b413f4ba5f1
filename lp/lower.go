package lp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// LowerBound returns a bound below the loss of every alpha-private mechanism on b, without a
// linear program: for a packing, points at least t > 0 apart under the metric of the loss, and
// G = sum_y rho2(x,y) e^(-alpha*rho1(x,y)) over them,
//
//	t/2 (1 - 1/(1 + 2G/t)),
//
// for the best x among them, or if that is more Theorem 3 of IKWAT22 at any x: t/2 (1 - 1/N),
// N = sum_y e^(-alpha*rho1(x,y)). The Witness is an [entropy.Star].
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError]; [metric.ErrEmpty] for an
// empty packing. O(n*|packing|^2).
func LowerBound(ctx context.Context, b metric.Bimetric, alpha float64, packing []int) (entropy.Bound, error) {
	const op = "lp: LowerBound"
	if err := b.Check(); err != nil {
		return entropy.Bound{}, fault.Within(op, err)
	}
	if err := cmp.Or(fault.Positive(op, "alpha", alpha), fault.Empty(op, "packing", len(packing)), fault.Indices(op, "packing", packing, b.Len())); err != nil {
		return entropy.Bound{}, err
	}
	t := math.Inf(1)
	for i, y := range packing {
		for _, z := range packing[:i] {
			t = min(t, b.Utility.Distance(y, z))
		}
	}
	from := slices.Clone(packing)
	if t > 0 && !math.IsInf(t, 1) {
		seen, most := 0, 0. // the largest N, and its point
		for x := range b.Len() {
			sum := 0.
			for _, y := range packing {
				sum += math.Exp(-alpha * b.Privacy.Distance(x, y))
			}
			if sum > most {
				seen, most = x, sum
			}
		}
		from = append(from, seen)
	}
	best := entropy.Bound{Kind: entropy.Lower, Name: "packing", Source: "after IKWAT22 Theorem 3"}
	for i, x := range from {
		// The weights are those at which all sums of the star are >= 0, lowered
		// for the rounding of distances, or last those of Theorem 3.
		star := entropy.Star{X: x, Points: []int{x}, Weights: []float64{1}, Radii: []float64{0}}
		if i == len(packing) {
			star = entropy.Star{X: x}
		}
		for _, y := range packing {
			weight := 1.
			if i < len(packing) {
				weight = b.Utility.Distance(x, y) / (t / 2) * (1 - 0x1p-38)
			}
			if t > 0 && (y != x || i == len(packing)) {
				star.Points = append(star.Points, y)
				star.Weights = append(star.Weights, weight)
				star.Radii = append(star.Radii, t/2)
			}
		}
		value, err := star.Prove(ctx, b, alpha)
		if err != nil {
			return entropy.Bound{}, fault.Within(op, err)
		}
		if best.Witness == nil || value > best.Value {
			best.Value, best.Witness = value, star
		}
	}
	return best, nil
}
