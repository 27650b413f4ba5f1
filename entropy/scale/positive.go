package scale

import (
	"cmp"
	"context"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// PositiveMeasure returns the uniformly positive probability measure of KL10 (Definition
// 3.2; Theorem 3.4, (4) to (3)) on the points of f, which must be public: a base measure
// for the exponential mechanism that leaves no ball empty,
//
//	mu(y) = 1/2 * sum over i = 0, 1, ... with y in C_i of 1/(2^i |C_i|),
//
// C_i the maximal 2^-i*diameter separated net of f ([metric.Net]). A closed ball of radius r has
// measure at least 2^-(i+1)/|C_i| for the first i with 2^-i*diameter <= r. Of points at distance 0
// the first has the weight of all; weights below 2^-1074 are 0. One net a halving of the scale.
func PositiveMeasure(ctx context.Context, f metric.Finite) ([]float64, error) {
	const op = "scale: PositiveMeasure"
	if err := spaces.CheckMetric(op, f); err != nil {
		return nil, err
	}
	s, _, _, err := metric.Diameter(ctx, f)
	if err != nil {
		return nil, err
	}
	if err := fault.NonNegative(op, "a distance of f", s); err != nil {
		return nil, err
	}
	all, err := metric.Net(ctx, f, 0, nil)
	if err != nil {
		return nil, err
	}
	mu := make([]float64, f.Len())
	for w := 0.5; ; w, s = w/2, s/2 {
		c, err := metric.Net(ctx, f, s, nil)
		if err != nil {
			return nil, err
		}
		last := len(c) == len(all) // and so are all finer nets
		if last {
			w *= 2
		}
		for _, y := range c {
			mu[y] += w / float64(len(c))
		}
		if last {
			return mu, nil
		}
	}
}

// BallMass returns the smallest measure of a closed ball of radius r >= 0 around a point of f,
// rounded down, and the first point that has it: the m of Theorem 3.4 of KL10, (3) to (2), at r =
// gamma/2. mu is a distribution on the points of f. O(n^2) distances on every core.
func BallMass(ctx context.Context, f metric.Finite, mu []float64, r float64, o *Options) (mass float64, y int, err error) {
	const op = "scale: BallMass"
	o = spaces.OrDefault(o)
	n := fault.Len(f)
	if err := cmp.Or(spaces.CheckMetric(op, f), fault.Distribution(op, "mu", mu, n, distributionTol), fault.NonNegative(op, "r", r)); err != nil {
		return 0, 0, err
	}
	masses := make([]float64, n)
	err = parallel.Chunks(ctx, n, 64, o.Workers, o.Progress, func(_, lo, hi int) {
		var row []float64
		for y := lo; y < hi; y++ {
			row = finite.Row(f, y, row)
			for z, d := range row {
				if d <= r {
					masses[y] = directed.AddDown(masses[y], mu[z])
				}
			}
		}
	})
	if err != nil {
		return 0, 0, err
	}
	mass = slices.Min(masses)
	return mass, slices.Index(masses, mass), nil
}

// distributionTol is how far a distribution's sum may be from 1: the rounding
// of sums of up to about 10^7 weights.
const distributionTol = 1e-9
