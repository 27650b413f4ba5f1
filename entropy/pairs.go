package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/slack"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// TwoPoints are two points of a bimetric space as the witness of
//
//	A(Z, alpha) >= rho2(x,y) / (1 + e^(alpha*rho1(x,y))).
//
// Let the losses at x and y be at most A. The output Y of x has the
// distribution of the output Y' of y up to a factor, so that
//
//	A >= E rho2(x,Y) >= e^(-alpha*rho1(x,y)) E rho2(x,Y')
//	  >= e^(-alpha*rho1(x,y)) (rho2(x,y) - A),
//
// by the triangle inequality. Solve for A.
type TwoPoints struct{ X, Y int }

// Prove implements [Witness]. O(1).
func (w TwoPoints) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	if err := checkWitness("entropy: TwoPoints.Prove", b, alpha, w.X, "Y", w.Y); err != nil {
		return 0, err
	}
	e := directed.ExpUp(directed.MulUp(alpha, b.Privacy.Distance(w.X, w.Y)))
	return roundOff(directed.DivDown(b.Utility.Distance(w.X, w.Y), directed.AddUp(1, e))), nil
}

// roundOff gives up what the rounding of distances may cost a bound that rests
// on the triangle inequality, and never returns less than 0 (which a quotient
// below the least float64 is rounded to).
func roundOff(v float64) float64 { return max(0, directed.MulDown(v, slack.Down)) }

// bestPairs returns the best pair for every level, from one pass over all
// pairs. O(n^2) distances, O(n) memory.
func bestPairs(ctx context.Context, b metric.Bimetric, alphas []float64, o *Options) ([]TwoPoints, error) {
	type found struct {
		v float64
		w TwoPoints
	}
	const chunk = 64
	n := b.Len()
	parts := make([][]found, (n+chunk-1)/chunk)
	err := parallel.Chunks(ctx, n, chunk, o.Workers, o.Progress, func(c, lo, hi int) {
		best := make([]found, len(alphas))
		rows := newBimetricRows(b)
		for x := lo; x < hi; x++ {
			r1, r2 := rows.at(x)
			r1, r2 = r1[x+1:], r2[x+1:]
			for k, alpha := range alphas {
				top := &best[k]
				for i, d2 := range r2 {
					// 1 + e^u >= 2 + u spares most exponentials.
					u := float64(alpha * r1[i])
					if d2 <= top.v*(2+u) {
						continue
					}
					if v := d2 / (1 + math.Exp(u)); v > top.v {
						*top = found{v, TwoPoints{x, x + 1 + i}}
					}
				}
			}
		}
		parts[c] = best
	})
	if err != nil {
		return nil, err
	}
	out := make([]TwoPoints, len(alphas))
	for k := range alphas {
		top := slices.MaxFunc(parts, func(p, q []found) int { return cmp.Compare(p[k].v, q[k].v) })
		out[k] = top[k].w
	}
	return out, nil
}

// bimetricRows reads the distances from a point under both metrics, once where
// they are the same.
type bimetricRows struct {
	b      metric.Bimetric
	same   bool
	r1, r2 []float64
}

func newBimetricRows(b metric.Bimetric) *bimetricRows {
	return &bimetricRows{b: b, same: b.OneMetric()}
}

func (r *bimetricRows) at(x int) (r1, r2 []float64) {
	r.r1 = finite.Row(r.b.Privacy, x, r.r1)
	if r.same {
		return r.r1, r.r1
	}
	r.r2 = finite.Row(r.b.Utility, x, r.r2)
	return r.r1, r.r2
}
