package lp

import (
	"context"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// LowerBound returns a bound below the loss of every alpha-private mechanism on
// b, without a linear program: Theorem 3 of IKWAT22 for a packing, a set of
// points that are pairwise far apart under the metric of the loss, seen from
// whichever of them proves most ([entropy.Packed]). nil has one searched for, and
// compares what it proves with the other bounds of [entropy.LowerBounds]; the
// best is returned. The Witness of the result can be checked on its own. Both
// metrics have to obey the triangle inequality, as in package entropy.
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError] for alpha or
// an index outside b; [metric.ErrEmpty] for an empty packing;
// the context's. O(|packing|^3) for a given one.
func LowerBound(ctx context.Context, b metric.Bimetric, alpha float64, packing []int, o *entropy.Options) (entropy.Bound, error) {
	if packing == nil {
		bounds, err := entropy.LowerBounds(ctx, b, alpha, o)
		if err != nil || len(bounds) == 0 {
			return entropy.Bound{}, err
		}
		return bounds[0], nil
	}
	best := entropy.Bound{Kind: entropy.Lower, Name: "packing", Source: "IKWAT22 Theorem 3"}
	if err := fault.Empty("lp: LowerBound", "packing", len(packing)); err != nil {
		return best, err
	}
	for _, x := range packing {
		w := entropy.Packed{X: x, Points: packing}
		value, err := w.Prove(ctx, b, alpha)
		if err != nil {
			return entropy.Bound{}, err
		}
		if best.Witness == nil || value > best.Value {
			best.Value, best.Witness = value, w
		}
	}
	return best, nil
}
