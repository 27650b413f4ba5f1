package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// StandardBound returns an upper bound on the worst expected loss of the exponential
// mechanism at level alpha on a maximal s-separated net, s the entropic scale at alpha/3,
// for one metric: BSV24 Lemma 4.1 with explicit constants,
//
//	min over u >= 2 of 3s + u/alpha + e^(-u/6) (9s + (3u+12)/alpha),
//
// within a relative 1e-9, rounded upward, +Inf on overflow. It increases with s.
func StandardBound(alpha, s float64) (float64, error) {
	const op = "entropy: StandardBound"
	if err := cmp.Or(fault.Positive(op, "alpha", alpha), fault.NonNegative(op, "s", s)); err != nil {
		return 0, err
	}
	// In units of 1/alpha, t = alpha*s. The derivative 1 - e^(-u/6) (3t/2 + u/2 - 1) vanishes where
	// e^(u/6) = 3t/2 + u/2 - 1. From u = 0, where the right side is above the left for t > 4/3, to
	// u large the difference of the convex left and the linear right changes sign at most twice;
	// the least value is at 2 or at the last sign change, which bisection finds below 24 + 6
	// ln(1+2t), where the left side is larger.
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

// The proof of RelaxedBound, more generally of s(Z, c*alpha) + (k (1/2-d)/(1/2-c-d) - 1)
// s_o(Z, d*alpha) for c + d < 1/2. P{y|x} is proportional to e^(-alpha sigma_y/2), sigma_y
// the least rho1(x,v) of the points v of a cell of y: those with rho2(v,y) <= s. x is in a
// cell, so that the sum of the weights is at least 1.
//
// Let v_y attain sigma_y, v_y = x in the cell of x. The loss at y is at most s +
// rho2(x,v_y) <= s + s_o e^(d alpha sigma_y), and s alone for the cell of x. Let n(r) be
// the number of y with sigma_y <= r. Among their v_y, which lie in B1(x,r), take a maximal
// s-separated set: at most e^(c alpha r) points. Every v_y is within s of one of these, w,
// so that the ball of y meets B2(w,s), which at most k do. Hence 1 <= n(r) <= k e^(c alpha
// r). With b = (1/2-d) alpha the sum of e^(-b sigma_y) without the cell of x is
//
//	int b e^(-br) (n(r)-1) dr <= k b/(b - c alpha) - 1.

// RelaxedBound returns s + (15k-1)*so, rounded upward: an upper bound on the worst expected
// loss of the relaxed mechanism at level alpha, any two metrics, on a maximal s-separated
// net N of rho2. s is at least the entropic scale at alpha/3, so the diametric scale at
// alpha/7. k is at least as many points of N as have balls of radius s that meet B2(w,s),
// for every w: 1 for an ultrametric rho2 (BSV24 Theorem 5.1 with an explicit constant),
// otherwise at most the largest N2(B2(w,2s), s).
func RelaxedBound(s, so float64, k int) (float64, error) {
	const op = "entropy: RelaxedBound"
	if err := cmp.Or(fault.NonNegative(op, "s", s), fault.NonNegative(op, "so", so)); err != nil {
		return 0, err
	}
	if k < 1 {
		return 0, fault.Value(op, "k", float64(k), "at least 1")
	}
	factor := directed.SubUp(directed.MulUp(15, float64(k)), 1)
	return directed.AddUp(s, directed.MulUp(factor, so)), nil
}

// constantOutput is the point to release whatever the input, which is private
// at every level: the loss is at most its radius under rho2.
type constantOutput struct{ X int }

// Prove implements [Witness]. O(n).
func (w constantOutput) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	if err := checkWitness("entropy: Witness.Prove", b, alpha, w.X, ""); err != nil {
		return 0, err
	}
	return slices.Max(finite.Row(b.Utility, w.X, nil)), nil
}

// UpperBounds returns upper bounds on the optimal accuracy at level alpha, the smallest
// first: worst losses, rounded upward, of the constant mechanism, the exponential on a net
// of rho1, on up to 2048 points with weights or remapped, and the relaxed one on a net of
// rho2 where the metrics differ or rho2 is an ultrametric. O(n^2 log n).
func UpperBounds(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) ([]Bound, error) {
	if err := spaces.CheckLevel("entropy: UpperBounds", b, alpha); err != nil {
		return nil, err
	}
	w, err := newWork(ctx, b, []float64{alpha}, spaces.OrDefault(o))
	if err != nil {
		return nil, err
	}
	bounds, err := one(w.upper(ctx))
	return ranked(bounds), err
}

// upper returns the upper bounds for every level. With s the entropic scale of rho1 at alpha/3 and
// s_o the diametric scale at alpha/7 the exponential one, the best prefix of a farthest-first
// order, is at most 25 max(s, s_o) for one metric and 15 e^(10 alpha s/21) s_o for any two (BSV24
// Lemma 4.1); the relaxed one, the best of some prefixes, at most [RelaxedBound] for an ultrametric
// of up to 8192 points or of a type that says so (Theorem 5.1). Nets have up to 16384 points.
func (w *work) upper(ctx context.Context) ([][]Bound, error) {
	separations, ultra, err := w.separations(ctx)
	if err != nil {
		return nil, err
	}
	nets, err := w.bestNets(ctx)
	if err != nil {
		return nil, err
	}
	var cells []netOutputs
	if two := !w.b.OneMetric(); two || ultra {
		order, radii := w.order, w.radii
		if two {
			if order, radii, err = metric.FarthestFirst(ctx, w.stored.Utility, len(order), w.center); err != nil {
				return nil, err
			}
		}
		if cells, err = w.bestCells(ctx, order, radii, separations); err != nil {
			return nil, err
		}
	}
	out := make([][]Bound, len(w.alphas))
	for k, alpha := range w.alphas {
		exponential, err := w.onNet(ctx, alpha, nets[k], true)
		if err != nil {
			return nil, err
		}
		exponential.Name, exponential.Source = "exponential", "loss on a net, BSV24 Lemma 4.1"
		if by, ok := exponential.Witness.(netOutputs); ok && by.Answers != nil {
			exponential.Source = "loss of remapped outputs"
		}
		out[k] = []Bound{{Upper, w.radius, "constant", "the radius", constantOutput{w.center}}, exponential}
		if cells != nil {
			relaxed, err := w.onNet(ctx, alpha, cells[k], false)
			if err != nil {
				return nil, err
			}
			relaxed.Name, relaxed.Source = "relaxed", "loss on a net, BSV24 Theorem 5.1"
			out[k] = append(out[k], relaxed)
		}
	}
	return out, nil
}

// separations returns, where rho2 is an ultrametric, which ultra says, the s of Theorem 5.1
// at every level: the entropic scale at alpha/3, rounded up.
func (w *work) separations(ctx context.Context) (s []float64, ultra bool, err error) {
	if spaces.HierarchyOf(ctx, w.b.Utility) == nil {
		return nil, false, nil
	}
	var levels []float64
	for _, a := range w.alphas {
		levels = append(levels, directed.DivDown(a, 3)) // scales fall with alpha
	}
	scales, err := spaces.ByLevel(levels, func(levels []float64) ([]scale.Scale, error) {
		return scale.Entropic(ctx, w.b, levels, w.o)
	})
	for _, v := range scales {
		s = append(s, v.Hi)
	}
	return s, true, err
}

// onNet returns the least loss proved of net, at its rate and in small spaces at a tuned one, and
// there where more says so also of the points of order as outputs with weights, and with answers.
func (w *work) onNet(ctx context.Context, alpha float64, net netOutputs, more bool) (Bound, error) {
	best := Bound{Kind: Upper, Value: math.Inf(1)}
	try := func(by netOutputs) error {
		v, err := by.prove(ctx, w.stored, alpha, w.o.Workers)
		if v < best.Value {
			best.Value, best.Witness = v, by
		}
		return err
	}
	if err := try(net); err != nil || w.b.Len() > spaces.DensePoints {
		return best, err
	}
	l, err := net.leveling(ctx, w.stored, alpha, w.o.Workers)
	if err != nil {
		return best, err
	}
	if net, err = l.tune(ctx, net); err == nil {
		err = try(net)
	}
	if err != nil || !more {
		return best, err
	}
	order := w.order
	fit := func(outputs []int, then func(l *leveling, tight netOutputs) (netOutputs, error)) error {
		all := netOutputs{Outputs: outputs, Rate: 0.5}
		l, err := all.leveling(ctx, w.stored, alpha, w.o.Workers)
		if err != nil {
			return err
		}
		by, err := l.tighten(ctx, all)
		if err == nil && by.Weights == nil {
			by, err = l.tune(ctx, all)
		}
		if err == nil {
			by, err = then(l, by)
		}
		return cmp.Or(err, try(by))
	}
	if err := fit(order, func(_ *leveling, tight netOutputs) (netOutputs, error) { return tight, nil }); err != nil {
		return best, err
	}
	if len(order) > answered && !(w.radii[answered]*alpha <= answeredReach) {
		return best, nil
	}
	err = fit(order[:min(len(order), answered)], func(l *leveling, tight netOutputs) (netOutputs, error) { return l.answer(ctx, tight) })
	return best, err
}
