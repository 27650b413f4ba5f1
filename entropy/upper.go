package entropy

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// StandardBound returns an upper bound on the worst expected loss of the
// exponential mechanism at level alpha on a maximal s-separated net, where s is
// the entropic scale of the space at alpha/3 and privacy and loss are measured
// by one metric: BSV24 Lemma 4.1 with its constants made explicit,
//
//	min over u >= 2 of 3s + u/alpha + e^(-u/6) (9s + (3u+12)/alpha).
//
// Any u >= 2 gives a valid bound; the one returned is within a relative 1e-9 of
// the least, rounded upward, +Inf on overflow. It increases with s.
func StandardBound(alpha, s float64) (float64, error) {
	const op = "entropy: StandardBound"
	if err := fault.Positive(op, "alpha", alpha); err != nil {
		return 0, err
	}
	if err := fault.NonNegative(op, "s", s); err != nil {
		return 0, err
	}
	// In units of 1/alpha, t = alpha*s. The derivative 1 - e^(-u/6) (3t/2 + u/2
	// - 1) vanishes where e^(u/6) = 3t/2 + u/2 - 1. From u = 0, where the right
	// side is above the left for t > 4/3, to u large the difference of the
	// convex left and the linear right changes sign at most twice; the least
	// value is at 2 or at the last sign change, which bisection finds below 24
	// + 6 ln(1+2t), where the left side is larger.
	t := min(alpha*s, 1e300)
	slope := func(u float64) float64 { return math.Exp(u/6) - (float64(1.5*t) + u/2 - 1) }
	lo, hi := 6*math.Log(3), 24+float64(6*math.Log1p(2*t)) // slope is least where e^(u/6) = 3
	_, hi = search.Change(lo, hi, 1e-12, func(u float64) bool { return slope(u) >= 0 })
	return min(standardAt(2, alpha, s), standardAt(hi, alpha, s)), nil
}

// standardAt is the expression of StandardBound at one u, rounded upward.
func standardAt(u, alpha, s float64) float64 {
	tail := directed.DivUp(directed.AddUp(directed.MulUp(3, u), 12), alpha)
	tail = directed.MulUp(directed.ExpUp(directed.DivUp(-u, 6)), directed.AddUp(directed.MulUp(9, s), tail))
	return directed.AddUp(directed.AddUp(directed.MulUp(3, s), directed.DivUp(u, alpha)), tail)
}

// RelaxedBound returns s + 14*so, rounded upward: an upper bound on the worst
// expected loss of the relaxed ultrametric mechanism at level alpha, where rho2
// is an ultrametric, s the entropic scale at alpha/3 and so the diametric scale
// at alpha/7 (BSV24 Theorem 5.1, its constant made explicit). Both must be
// finite and >= 0.
func RelaxedBound(s, so float64) (float64, error) {
	const op = "entropy: RelaxedBound"
	if err := fault.NonNegative(op, "s", s); err != nil {
		return 0, err
	}
	if err := fault.NonNegative(op, "so", so); err != nil {
		return 0, err
	}
	return directed.AddUp(s, directed.MulUp(14, so)), nil
}

// constantOutput is the point to release whatever the input, which is private
// at every level: the loss is at most its radius under rho2.
type constantOutput struct{ X int }

// Prove implements [Witness]. O(n).
func (w constantOutput) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	if err := checkWitness("entropy: Witness.Prove", b, alpha, w.X, ""); err != nil {
		return 0, err
	}
	far := 0.0
	for _, d := range finite.Row(b.Utility, w.X, nil) {
		far = max(far, d)
	}
	return far, nil
}

// UpperBounds returns upper bounds on the optimal accuracy at level alpha, the
// smallest first:
//
//   - constant: the radius of the space under rho2, by releasing one point
//     whatever the input;
//   - exponential: L times [StandardBound] with the entropic scale of (Z, rho1,
//     rho1) at alpha/3, where rho2 <= L*rho1 for a finite L: the mechanism is
//     alpha-private, and a loss in rho2 is at most L times that in rho1;
//   - relaxed: [RelaxedBound], where rho2 is an ultrametric of a type that says
//     so or of up to 8192 points.
//
// Those that overflow are left out. The theorems are about exact metrics: the
// relative 2^-40 that [metric.Validate] grants to distances is within what
// their constants give away, and is not added. The cost is that of
// [EntropicScale] and [DiametricScale] and some n^2 distances.
func UpperBounds(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) ([]Bound, error) {
	if err := checkScale("entropy: UpperBounds", b, alpha); err != nil {
		return nil, err
	}
	w, err := newWork(ctx, b, []float64{alpha}, orDefault(o))
	if err != nil {
		return nil, err
	}
	if err := w.measure(ctx, Upper); err != nil {
		return nil, err
	}
	return ranked(w.upper()[0]), nil
}

// upper returns the upper bounds for every level, from what measure has taken.
func (w *work) upper() [][]Bound {
	out := make([][]Bound, len(w.alphas))
	for k, alpha := range w.alphas {
		add := func(v float64, name, source string, by Witness) {
			if !math.IsInf(v, 1) {
				out[k] = append(out[k], Bound{Upper, v, name, source, by})
			}
		}
		add(w.radius, "constant", "the radius", constantOutput{w.center})
		level := standardLevel(alpha)
		if s, ok := w.privacy[level]; ok {
			if v, err := StandardBound(alpha, s.Hi); err == nil {
				add(directed.MulUp(w.lipschitz, v), "exponential", "BSV24 Lemma 4.1", nil)
			}
		}
		if s, ok := w.entropic[level]; ok && w.ultra {
			if so, ok := w.diametric[diametricLevel(alpha)]; ok {
				if v, err := RelaxedBound(s.Hi, so.Hi); err == nil {
					add(v, "relaxed", "BSV24 Theorem 5.1", nil)
				}
			}
		}
	}
	return out
}
