package lp

import (
	"cmp"
	"context"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// LowerBound returns a bound below the loss of every alpha-private mechanism on
// b, without a linear program: Theorem 3 of IKWAT22 for a packing, a set of
// points that are pairwise far apart under the metric of the loss, seen from
// whichever of them proves most. The Witness of the result, an [entropy.Packed],
// can be checked on its own. Both metrics have to obey the triangle inequality.
// [entropy.LowerBounds] searches for a packing and has other bounds.
//
// Errors: those of [metric.Bimetric.Check]; a [*metric.ValueError] for alpha or
// an index outside b; [metric.ErrEmpty] for an empty packing. O(|packing|^3).
func LowerBound(ctx context.Context, b metric.Bimetric, alpha float64, packing []int) (entropy.Bound, error) {
	const op = "lp: LowerBound"
	if err := b.Check(); err != nil {
		return entropy.Bound{}, fault.Within(op, err)
	}
	if err := cmp.Or(fault.Empty(op, "packing", len(packing)), fault.Indices(op, "packing", packing, b.Len())); err != nil {
		return entropy.Bound{}, err
	}
	best := entropy.Bound{Kind: entropy.Lower, Name: "packing", Source: "IKWAT22 Theorem 3"}
	for _, x := range packing {
		w := entropy.Packed{X: x, Points: packing}
		value, err := w.Prove(ctx, b, alpha)
		if err != nil {
			return entropy.Bound{}, fault.Within(op, err)
		}
		if best.Witness == nil || value > best.Value {
			best.Value, best.Witness = value, w
		}
	}
	return best, nil
}
