package chain

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// lossTol is the relative error of Channel.Loss: probabilities are right to a
// relative 2^-42 or so (mechanism), and the sum of at most 2^10 products adds
// 2^-42 more.
const lossTol = 0x1p-40

// link is a mechanism of the chain.
type link struct {
	name  string
	c     *mechanism.Channel
	level float64 // that the constructor states beside the guarantee: its audit's
	bound float64 // stated for the loss, +Inf where there is none
}

// TestChain_Accuracy is the whole chain: see the package's documentation.
func TestChain_Accuracy(t *testing.T) {
	for _, s := range corpus(t, testkit.Sweep(2, 12)) {
		t.Run(s.name, func(t *testing.T) {
			last := math.Inf(1) // Objective at a smaller alpha
			for _, span := range spans {
				alpha := span / s.diameter()
				t.Run(fmt.Sprintf("alpha*diameter=%g", span), func(t *testing.T) {
					last = accuracy(t, s.Bimetric, alpha, last)
				})
			}
		})
	}
}

// accuracy checks the chain at one level. A falls with alpha, so that last, an
// upper bound at a smaller level, is one here. It returns the objective.
func accuracy(t *testing.T, b metric.Bimetric, alpha, last float64) float64 {
	opt := testkit.Must(lp.Optimal(t.Context(), b, alpha, nil))
	if !(opt.DualBound <= opt.Objective && opt.DualBound <= last) {
		t.Errorf("DualBound %v, objective %v, at a smaller level %v", opt.DualBound, opt.Objective, last)
	}
	// The gap that lp.Options promises at these sizes, where rounding lets it.
	if opt.Gap > 1e-6 && opt.Status == lp.StatusOptimal || opt.Status != lp.StatusOptimal && opt.Status != lp.StatusStalled {
		t.Errorf("gap %g, %v", opt.Gap, opt.Status)
	}
	sp := testkit.Must(lp.Spanner(t.Context(), b, alpha, nil))
	if !(sp.DualBound <= sp.Objective && sp.DualBound <= opt.Objective) {
		t.Errorf("Spanner: bound %v, objective %v, of Optimal %v", sp.DualBound, sp.Objective, opt.Objective)
	}
	co := testkit.Must(lp.ConstOPT(t.Context(), b, alpha, nil))
	links := append(mechanisms(t, b, alpha),
		link{"Optimal", opt.Channel, opt.Audited.Hi, opt.Objective},
		link{"Spanner", sp.Channel, sp.Audited.Hi, sp.Objective},
		link{"ConstOPT", co.Channel, co.Audited.Hi, co.Objective})

	// Lower bounds <= A, each with a witness of exactly that.
	lowers := testkit.Must(entropy.LowerBounds(t.Context(), b, alpha, nil))
	far, _, err := metric.FarthestFirst(t.Context(), b.Utility, min(4, b.Len()), 0)
	testkit.Check(t, err)
	packed := testkit.Must(lp.LowerBound(t.Context(), b, alpha, far))
	lowest := 0.0
	for _, l := range append(lowers, packed) {
		lowest = max(lowest, l.Value)
		if !(l.Value <= opt.Objective) {
			t.Errorf("%v is above the optimum, %v", l, opt.Objective)
		}
		if p, err := l.Witness.Prove(t.Context(), b, alpha); p != l.Value || err != nil {
			t.Errorf("%v is proved %v (%v)", l, p, err)
		}
	}

	// A <= losses <= their bounds, and levels.
	var losses []entropy.Loss
	for _, m := range links {
		l := testkit.Must(m.c.Loss(t.Context(), b.Utility))
		loss, _ := l.Worst()
		losses = append(losses, entropy.Loss{Name: m.name, Value: loss})
		if floor := max(lowest, opt.DualBound); !(loss >= floor*(1-lossTol)) {
			t.Errorf("%s loses %v, less than the lower bound %v", m.name, loss, floor)
		}
		if !(loss*(1-lossTol) <= m.bound) {
			t.Errorf("%s loses %v, above its bound %v", m.name, loss, m.bound)
		}
		audit := testkit.Must(m.c.Audit(t.Context(), b.Privacy, nil))
		stated := m.c.Guarantee()
		if !(audit.Lo <= audit.Hi && audit.Hi <= stated.Alpha() && m.level <= stated.Alpha() && stated.Alpha() <= alpha) || stated.Delta() != 0 {
			t.Errorf("%s: audited %v, beside it %v, stated %v of %v", m.name, audit, m.level, stated, alpha)
		}
	}

	// Upper bounds without a mechanism.
	uppers := testkit.Must(entropy.UpperBounds(t.Context(), b, alpha, nil))
	for _, u := range uppers {
		if !(u.Value >= max(lowest, opt.DualBound)) {
			t.Errorf("%v is below the lower bound %v", u, max(lowest, opt.DualBound))
		}
		if p, err := u.Witness.Prove(t.Context(), b, alpha); p != u.Value || err != nil {
			t.Errorf("%v is proved %v (%v)", u, p, err)
		}
	}

	// The bracket accepts all, and lies between the best of each.
	bracket := testkit.Must(entropy.Accuracy(t.Context(), b, []float64{alpha}, nil))[0]
	bracket = testkit.Must(bracket.With(losses...))
	if !(bracket.Lo <= opt.Objective && bracket.Lo <= bracket.Hi && opt.DualBound*(1-lossTol) <= bracket.Hi) {
		t.Errorf("bracket %v, optimum in [%v, %v]", bracket, opt.DualBound, opt.Objective)
	}
	return opt.Objective
}

// mechanisms builds every mechanism of package exponential that the space
// admits, with its bound.
func mechanisms(t *testing.T, b metric.Bimetric, alpha float64) []link {
	t.Helper()
	n := b.Len()
	inf := math.Inf(1)
	var out []link
	add := func(name string, bound float64) func(*exponential.Mechanism, error) {
		return func(m *exponential.Mechanism, err error) {
			t.Helper()
			switch {
			case errors.As(err, new(*exponential.NegativeWeightError)), errors.Is(err, exponential.ErrSingular): // there is none here
			case err != nil:
				t.Errorf("%s: %v", name, err)
			default:
				out = append(out, link{name, m.Channel, m.Audited.Hi, bound})
			}
		}
	}

	radius, center, err := metric.Radius(t.Context(), b.Utility)
	testkit.Check(t, err)
	weights := make([]float64, n)
	for i, r := 0, random.Seeded(1); i < n; i++ {
		weights[i] = r.ExpFloat64()
	}
	add("Constant", radius*(1+lossTol))(exponential.Constant(n, center, ""))
	add("Standard", inf)(exponential.Standard(t.Context(), b.Privacy, alpha, nil))
	add("Weighted", inf)(exponential.Weighted(t.Context(), b.Privacy, alpha, weights, nil))
	add("Tuned", inf)(exponential.Tuned(t.Context(), b.Privacy, alpha, nil))
	add("Tight", inf)(exponential.Tight(t.Context(), b.Privacy, alpha, nil))

	// Lemma 4.1 of BSV24: the standard mechanism on a net, by s(Z, alpha/3).
	s := testkit.Must(scale.Entropic(t.Context(), metric.Same(b.Privacy), []float64{alpha / 3}, nil))[0]
	net := testkit.Must(metric.Net(t.Context(), b.Privacy, s.Hi, nil))
	bound := testkit.Must(entropy.StandardBound(alpha, s.Hi))
	stretch, _, _, _ := b.Lipschitz(t.Context()) // rho2 <= stretch*rho1
	if stretch == 0 {
		bound = 0
	} else {
		bound *= stretch * (1 + lossTol)
	}
	add("Standard on the net of Lemma 4.1", bound)(exponential.Standard(t.Context(), b.Privacy, alpha, &exponential.Options{Outputs: net}))

	// Theorem 5.1 beyond ultrametrics: the relaxed mechanism, by s + (15k-1) s_o.
	entropic := testkit.Must(scale.Entropic(t.Context(), b, []float64{directed.DivDown(alpha, 3)}, nil))[0]
	for _, o := range []exponential.RelaxedOptions{{}, {Tuned: true}, {Separation: max(entropic.Hi, math.SmallestNonzeroFloat64), Accuracy: true}, {Accuracy: true, Tuned: true}} {
		name := fmt.Sprintf("Relaxed %+v", o)
		m, err := exponential.Relaxed(t.Context(), b, alpha, &o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		add(name, m.Bound)(&m.Mechanism, nil)
		if o.Accuracy && math.IsInf(m.Bound, 1) {
			t.Errorf("%s has no bound", name)
		}
	}

	best := testkit.Must(exponential.Best(t.Context(), b, alpha, nil))
	add("Best", best.Objective*(1+lossTol))(&best.Mechanism, nil)
	return out
}
