package frequency

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// Project returns a probability vector on the n points of space nearest, in the earth mover's
// distance, to the signed weights g, and its distance from them, by [wasserstein.Project]. What the
// total of g lacks of 1 is first spread evenly over all points. For an unbiased estimate g of a
// distribution q, d_EM(p, q) <= 2 d_EM(g, q).
func Project(ctx context.Context, space metric.Finite, g []float64) (p []float64, dist float64, err error) {
	const op = "frequency: Project"
	if len(g) != fault.Len(space) {
		return nil, 0, &fault.SizeError{Op: op, Arg: "g", Got: len(g), Want: "the number of points"}
	}
	if err := cmp.Or(fault.Empty(op, "g", len(g)), fault.AllFinite(op, "g", g)); err != nil {
		return nil, 0, err
	}
	r, err := wasserstein.Project(ctx, space, withTotalOne(g), nil)
	if err != nil {
		return nil, 0, fault.Within(op, err)
	}
	p = r.P
	// Where g is large its rounding is that of p, whose total is to be 1.
	sum := 0.0
	for i, v := range p {
		p[i] = max(0, v)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p, r.Cost, nil
}

// withTotalOne returns g, or a copy with all weights shifted to sum to 1. Where weights
// nearly cancel in the shift, its rounding takes another.
func withTotalOne(g []float64) []float64 {
	for shifts := 0; ; shifts++ {
		var sum exact.DD
		size := 1.0
		for _, v := range g {
			sum = sum.AddFloat(v)
			size += math.Abs(v)
		}
		lack := sum.Neg().AddFloat(1).Hi
		if math.Abs(lack) <= 0x1p-53*size || shifts == 3 { // rounding of the weights themselves
			return g
		}
		if shifts == 0 {
			g = slices.Clone(g)
		}
		floats.AddConst(lack/float64(len(g)), g)
	}
}
