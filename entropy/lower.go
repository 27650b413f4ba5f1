package entropy

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/metric"
)

// LowerBounds returns lower bounds on the optimal accuracy of b at level alpha,
// the largest first, each with its witness:
//
//   - star: a solution of the dual of the linear program for A that uses only
//     the privacy constraints of one point; nearly always the best;
//   - pairs ([TwoPoints]): the best of all pairs;
//   - packing ([Packed]): the best found, unless it is below half of pairs;
//   - entropic scale: s(Z, 2*alpha)/8, BSV24 Theorem 3.1, from
//     the lower end of [EntropicScale] where it is not 0;
//   - diametric scale: s_o(Z, 2*alpha)/5, BSV24 Theorem 3.2,
//     likewise. It is at most 2/5 of pairs.
//
// They are about mechanisms whose outputs are points of b; all but star hold
// for outputs anywhere in a larger metric space. Values are rounded downward,
// and all but star lowered by 2^-38 for the rounding of distances. A value of 0
// proves nothing: no two points are apart under rho2, or e^(-alpha*rho1)
// underflows for all of them.
//
// Beside the cost of [EntropicScale] and [DiametricScale], pairs reads n^2
// distances, and packing and star take about n log n for up to 128 points x.
func LowerBounds(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) ([]Bound, error) {
	if err := checkScale("entropy: LowerBounds", b, alpha); err != nil {
		return nil, err
	}
	w, err := newWork(ctx, b, []float64{alpha}, orDefault(o))
	if err != nil {
		return nil, err
	}
	if err := w.measure(ctx, Lower); err != nil {
		return nil, err
	}
	bounds, err := one(w.lower(ctx))
	return ranked(bounds), err
}

// crowdedBall is a set of points, pairwise at least t apart under rho2, within
// rho1-distance r of the point X, and more than e^(2*alpha*r) of them: the
// witness of s(Z, 2*alpha) >= t and hence of A(Z, alpha) >= t/8 (BSV24 Theorem
// 3.1).
type crowdedBall struct {
	X      int
	Points []int
}

// Prove implements [Witness]: 0 where the points are too few. O(|Points|^2).
func (w crowdedBall) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	if err := checkWitness("entropy: Witness.Prove", b, alpha, w.X, "Points", w.Points...); err != nil {
		return 0, err
	}
	t, err := leastDistance(ctx, b.Utility, w.Points)
	r := farthest(b.Privacy, w.X, w.Points)
	if k := len(w.Points); err != nil || k < 2 || math.IsNaN(r) || !limit.Exceeded(2*alpha, r, k) {
		return 0, err
	}
	return roundOff(t / 8), nil
}

// wideBall is a rho1-ball around X with two points Y and Z in it, of radius r
// the larger of their distances from X: the witness of s_o(Z, 2*alpha) >=
// rho2(Y,Z) e^(-2*alpha*r), and a fifth of that is at most A(Z, alpha) (BSV24
// Theorem 3.2).
type wideBall struct{ X, Y, Z int }

// Prove implements [Witness]. O(1).
func (w wideBall) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	if err := checkWitness("entropy: Witness.Prove", b, alpha, w.X, "Y, Z", w.Y, w.Z); err != nil {
		return 0, err
	}
	r := farthest(b.Privacy, w.X, []int{w.Y, w.Z})
	return roundOff(directed.DivDown(worthDown(b.Utility.Distance(w.Y, w.Z), 2*alpha, r), 5)), nil
}

// lower returns the lower bounds for every level, from the scales that measure
// has taken where it has.
func (w *work) lower(ctx context.Context) ([][]Bound, error) {
	pairs, err := bestPairs(ctx, w.b, w.alphas, w.o)
	if err != nil {
		return nil, err
	}
	out := make([][]Bound, len(w.alphas))
	for k, alpha := range w.alphas {
		pair, err := pairs[k].Prove(ctx, w.near, alpha)
		if err != nil {
			return nil, err
		}
		packings, err := bestPackings(ctx, w.near, alpha, pair/2, w.o.Workers)
		if err != nil {
			return nil, err
		}
		star, err := bestStar(ctx, w.near, alpha, pairs[k], packings, w.o.Workers)
		if err != nil {
			return nil, err
		}
		out[k] = []Bound{{Lower, 0, "star", "linear programming duality", star}, {Lower, 0, "pairs", sourcePairs, pairs[k]}}
		add := func(name, source string, by Witness) { out[k] = append(out[k], Bound{Lower, 0, name, source, by}) }
		if len(packings) > 0 {
			add("packing", "after IKWAT22 Theorem 3", packings[0].Packed)
		}
		if s := w.entropic[2*alpha]; s.Lo > 0 {
			add("entropic scale", "BSV24 Theorem 3.1", crowdedBall{s.X, s.Set})
		}
		if s := w.diametric[2*alpha]; s.Lo > 0 {
			add("diametric scale", "BSV24 Theorem 3.2", wideBall{s.X, s.Set[0], s.Set[1]})
		}
		for i := range out[k] {
			v := &out[k][i]
			if v.Value, err = v.Witness.Prove(ctx, w.b, alpha); err != nil {
				return nil, err
			}
		}
	}
	return out, ctx.Err()
}

const sourcePairs = "the triangle inequality"
