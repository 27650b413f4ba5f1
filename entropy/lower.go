package entropy

import (
	"cmp"
	"context"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/metric"
)

// LowerBounds returns lower bounds on the optimal accuracy of b at level alpha, the largest
// first: the best [Star] in closed form, and where that may be too small what a linear program
// proves whose inputs are up to 200 points. They are about mechanisms whose outputs are points
// of b, need no triangle inequality and are rounded downward. O(n^2).
func LowerBounds(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) ([]Bound, error) {
	if err := spaces.CheckLevel("entropy: LowerBounds", b, alpha); err != nil {
		return nil, err
	}
	w, err := newWork(ctx, b, []float64{alpha}, spaces.OrDefault(o))
	if err != nil {
		return nil, err
	}
	return one(w.lower(ctx))
}

// lower returns the lower bounds for every level, the largest first. The program is left out where
// a mechanism shows the closed form to be within a thousandth of the best. The larger bound is
// always above BSV24 Theorem 3.2, s_o(Z, 2*alpha)/5, and was above Theorem 3.1, s(Z, 2*alpha)/8, in
// every space tried. It is 0 where no two points are apart under rho2, or below float64.
func (w *work) lower(ctx context.Context) ([][]Bound, error) {
	if w.closed == nil {
		var err error
		if w.closed, err = newClosedStars(ctx, w.stored, w.o.Workers); err != nil {
			return nil, err
		}
	}
	out := make([][]Bound, len(w.alphas))
	for k, alpha := range w.alphas {
		all, err := w.closed.at(ctx, alpha, w.o)
		if err != nil {
			return nil, err
		}
		top := slices.MaxFunc(all, func(p, q closedStar) int { return cmp.Compare(p.v, q.v) })
		closed := w.closed.star(top)
		v, err := closed.Prove(ctx, w.b, alpha)
		if err != nil {
			return nil, err
		}
		out[k] = []Bound{{Lower, v, "closed star", sourceDual, closed}}
		if !w.closed.settled(all, top) {
			program, v, err := w.local(ctx, alpha, hardest(all))
			if err != nil {
				return nil, err
			}
			out[k] = append(out[k], Bound{Lower, v, "program", sourceDual, program})
		}
		ranked(out[k])
	}
	return out, ctx.Err()
}

// sourceDual is what all lower bounds rest on.
const sourceDual = "linear programming duality"

// hardest is the point at which the exponential mechanism on all points would lose most at
// twice its rate.
func hardest(stars []closedStar) int {
	return slices.MaxFunc(stars, func(p, q closedStar) int { return cmp.Compare(p.g/(1+p.sum), q.g/(1+q.sum)) }).x
}
