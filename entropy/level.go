package entropy

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// LevelFor returns a privacy level below which no mechanism has a worst expected loss of at
// most loss > 0 ([*metric.ValueError]), in units of rho2, and a [Bound] above loss at that
// level. It is 0 with a zero Bound where nothing forbids the loss, +Inf where points at
// rho1-distance 0 do at every level. The level is necessary, not sufficient. A bisection on
// [LowerBounds], about 20 times, to a relative 10^-3.
func LevelFor(ctx context.Context, b metric.Bimetric, loss float64, o *Options) (alpha float64, by Bound, err error) {
	const op = "entropy: LevelFor"
	if err := spaces.CheckSpace(op, b); err != nil {
		return 0, Bound{}, err
	}
	if err := fault.Positive(op, "loss", loss); err != nil {
		return 0, Bound{}, err
	}
	w, err := newWork(ctx, b, []float64{0}, spaces.OrDefault(o))
	if err != nil {
		return 0, Bound{}, err
	}
	// What pairs prove is the place to start: rho2/(1+e^(alpha*rho1)) > loss
	// for alpha < ln(rho2/loss-1)/rho1. Without a pair more than 2*loss apart,
	// a level at which nothing can be told apart.
	start, far, near := 0.0, 0.0, math.Inf(1)
	rows := spaces.NewRows(w.stored)
	for x := range b.Len() {
		if ctx.Err() != nil {
			return 0, Bound{}, ctx.Err()
		}
		r1, r2 := rows.At(x)
		for y := x + 1; y < len(r1); y++ {
			far = max(far, r1[y])
			if r1[y] > 0 {
				near = min(near, r1[y])
			}
			q := r2[y]/loss - 1
			if !(q > 1) {
				continue
			}
			if r1[y] > 0 {
				start = max(start, math.Log(q)/r1[y])
			} else {
				pair := Star{X: x, Points: []int{x, y}, Weights: []float64{1, 1}, Radii: []float64{0, r2[y] * spaces.SlackDown}}
				if v, err := pair.Prove(ctx, b, 1); err != nil || v > loss {
					return math.Inf(1), Bound{Lower, v, "closed star", sourceDual, pair}, err
				}
			}
		}
	}
	start = max(start, 1e-6/far)
	if far == 0 {
		start = 1
	}
	forbids := func(a float64) bool {
		if err != nil || !(a > 0) || math.IsInf(a, 1) {
			return false
		}
		w.alphas[0] = a
		var bounds [][]Bound
		if bounds, err = w.lower(ctx); err != nil {
			return false
		}
		best := bounds[0][0]
		if best.Value <= loss {
			return false
		}
		alpha, by = a, best
		return true
	}
	// Rounding may put start itself on the wrong side.
	if !forbids(start * (1 - levelStep)) {
		return 0, Bound{}, err
	}
	// Beyond top, e^-1000, no point says anything about another, and the bounds
	// of points at rho1-distance 0 stay as they are.
	top, above := min(max(1000/near, 2*start), 1e300), 2*start
	for above < top && forbids(above) {
		above *= 2
	}
	if above = min(above, top); above == top && forbids(top) {
		if far == 0 { // the level does not matter
			alpha = math.Inf(1)
		}
		return alpha, by, err
	}
	_, _, wrong := search.Bisect(alpha, above, levelStep, func(a float64) (bool, error) {
		allows := !forbids(a)
		return allows, err
	})
	if wrong != nil {
		return 0, Bound{}, wrong
	}
	return alpha, by, nil
}

// levelStep is the relative precision of LevelFor.
const levelStep = 1e-3
