package entropy

import (
	"cmp"
	"context"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/metric"
)

// LowerBounds returns lower bounds on the optimal accuracy of b at level alpha, the largest
// first, each with its witness, a [Star]:
//
//   - closed star: for every point x in closed form, with all other points or those of a
//     net; exact on equidistant points;
//   - star: the best found by a linear program for some points x, where a mechanism does
//     not show the first to be within a thousandth of the best.
//
// The bounds are about mechanisms whose outputs are points of b, need no triangle
// inequality and are rounded downward: 0 says that no two points are apart under rho2, or
// that the bound is below float64. BSV24 Theorems 3.1 and 3.2, s(Z, 2*alpha)/8 and s_o(Z,
// 2*alpha)/5, are always below.
//
// On spaces of 50 points of many kinds the larger one is .76 to 1 times the optimum. The
// cost is some n^2 distances and exponentials, and a program of up to 48 points, a fraction
// of a second, for up to 32 points x.
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

// lower returns the lower bounds for every level, the largest first.
func (w *work) lower(ctx context.Context) ([][]Bound, error) {
	if w.closed == nil {
		var err error
		if w.closed, err = newClosedStars(ctx, w.near, w.o.Workers); err != nil {
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
		add := func(name, source string, s Star) error {
			v, err := s.Prove(ctx, w.b, alpha)
			out[k] = append(out[k], Bound{Lower, v, name, source, s})
			return err
		}
		if err := add("closed star", sourceStar, w.closed.star(top)); err != nil {
			return nil, err
		}
		if !w.closed.settled(all, top) {
			s, _, err := w.closed.searchedStar(ctx, alpha, all, w.o.Workers)
			if err != nil {
				return nil, err
			}
			if err := add("star", sourceStar, s); err != nil {
				return nil, err
			}
		}
		ranked(out[k])
	}
	return out, ctx.Err()
}

// sourceStar is what all stars rest on.
const sourceStar = "linear programming duality"
