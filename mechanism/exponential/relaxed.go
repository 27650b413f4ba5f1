package exponential

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// SeparationRule is how [Relaxed] chooses its separation s.
type SeparationRule int

const (
	// BestSeparation tries many and takes the one with the least loss.
	BestSeparation SeparationRule = iota
	// TheoremSeparation takes s(Z, alpha/3), the upper end of
	// [entropy.EntropicScale].
	TheoremSeparation
	// GivenSeparation takes RelaxedOptions.Separation.
	GivenSeparation
)

// RelaxedOptions tune [Relaxed]. Nil and the zero value mean the defaults.
type RelaxedOptions struct {
	Rule       SeparationRule // how the separation is chosen
	Separation float64        // for GivenSeparation: finite, >= 0
	// Candidates is how many separations BestSeparation tries at most, not
	// counting 0 and that of the theorem; 0 is 64. Up to that many different
	// values are all tried.
	Candidates int
	// Criterion and Prior say what loss BestSeparation minimises.
	Criterion Criterion
	Prior     []float64 // for Mean; nil is uniform
	// Tuned takes the largest rate whose audited level is at most alpha, as
	// [Tuned] does, unless alpha/2 has less loss. BestSeparation does so with at
	// most 8 separations, those with the least loss at rate alpha, which no
	// tuning reaches beyond, while that is below the loss found already. Each
	// costs O(n^2*k) time; O(n^2) memory.
	Tuned bool
	// Accuracy asks for the Bound: a utility metric that is no ultrametric is
	// then refused.
	Accuracy bool
	// Outputs lists the points that may be released, in the order in which they
	// are preferred as the representative of their cluster; the default is every
	// point. It is only read.
	Outputs  []int
	Unit     metric.Unit           // of the privacy metric
	Context  context.Context       // nil: never stopped
	Progress func(done, total int) // of the audit
	Workers  int                   // 0: all processors
}

// RelaxedMechanism is a mechanism of [Relaxed], with what is known of its loss.
type RelaxedMechanism struct {
	*Mechanism
	Separation float64 // s
	// Bound is at least the worst expected loss (the expected loss by Criterion
	// and Prior), by BSV24 Theorem 5.1 at rate alpha/2; rounding may lower Beta
	// below that by a relative 2^-19. It is +Inf where the utility metric is no
	// ultrametric, Outputs leaves points out or a given s is below Entropic.
	Bound float64
	// Entropic >= s(Z, alpha/3) and Diametric >= s_o(Z, alpha/7) are the scales
	// behind the bound; NaN where they were not needed.
	Entropic, Diametric float64
}

// Relaxed returns the mechanism of BSV24 Theorem 5.1: on a maximal s-separated
// net N of the utility metric rho2, P{y|x} is proportional to
// exp(-alpha*sigma(x,y)/2) with
//
//	sigma(x,y) = min of rho1(x,v) over the points v with rho2(v,y) <= s,
//
// how far x is, in the privacy metric rho1, from the cluster that y stands for.
// It is private for any two metrics, because sigma changes no faster with x
// than rho1 does. Where rho1 sees little of what rho2 means it is more accurate
// than [Standard], which knows rho1 only. At s = 0 it is the standard mechanism,
// if rho2 tells all points apart.
//
// The channel is audited; errors and guarantee are as in Standard.
//
// # Accuracy
//
// Where rho2 is an ultrametric (exactly: other metrics are refused with a
// [*metric.Violation] if Accuracy asks) and s >= s(Z, alpha/3),
//
//	E rho2(x, M(x)) <= s + 14*s_o(Z, alpha/7)
//
// by Abel summation on the paper's proof, see [entropy.RelaxedBound]. The
// general form has s(Z, c*alpha), s_o(Z, d*alpha) and the constant
// c/(1/2-c-d) for any c, d > 0 with c + d < 1/2; 14 is that for 1/3 and 1/7. It
// holds at rates above alpha/2 too, because both scales fall with alpha.
// BestSeparation compares the losses themselves, and the theorem's s is among
// those it compares, so its loss is below the bound too. The other separations
// are 0 and merge heights of the ultrametric, thinned out where there are too
// many; for a metric that is no ultrametric they are 0 and covering radii of
// [metric.FarthestFirst], and the theorem's s is not tried.
//
// # Cost
//
// sigma of one point to all clusters takes O(n) for an ultrametric rho2, which
// cuts the points into clusters, and up to O(n*k) otherwise: a separation costs
// O(n^2 + n*k) for k outputs, the audit O(n^2*k), memory is O(n*k). Every core
// works.
func Relaxed(b metric.Bimetric, alpha float64, o *RelaxedOptions) (*RelaxedMechanism, error) {
	const op = "exponential: Relaxed"
	if o == nil {
		o = &RelaxedOptions{}
	}
	if err := o.check(op, b, alpha); err != nil {
		return nil, err
	}
	tree, err := metric.AsUltrametric(o.context(), b.Utility)
	if err != nil && (o.Accuracy || !noUltrametric(err)) {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return relax(b, tree, alpha, o)
}

// relax is Relaxed for checked arguments. tree is the utility metric if that is an
// ultrametric, else nil.
func relax(b metric.Bimetric, tree *metric.Ultrametric, alpha float64, o *RelaxedOptions) (*RelaxedMechanism, error) {
	const op = "exponential: Relaxed"
	r := &relaxation{b: b, alpha: alpha, o: o, tree: tree}
	if tree == nil {
		r.index = metric.NewIndex(b.Utility)
	}
	m := &RelaxedMechanism{Bound: math.Inf(1), Entropic: math.NaN(), Diametric: math.NaN()}
	proved := r.tree != nil && r.complete()
	if o.Accuracy && !proved {
		return nil, fmt.Errorf("%s: Accuracy: Outputs must list every point", op)
	}
	if err := r.scales(m, proved); err != nil {
		return nil, err
	}
	if o.Tuned { // which reads all distances once for every separation
		d, err := metric.DensifyContext(o.context(), b.Privacy)
		if err != nil {
			return nil, err
		}
		r.b.Privacy = d
	}
	var err error
	tries := []float64{o.Separation}
	switch o.Rule {
	case TheoremSeparation:
		tries[0] = m.Entropic
	case BestSeparation:
		if tries, err = r.candidates(m.Entropic); err != nil {
			return nil, err
		}
	}
	fam, s, beta, err := r.best(tries)
	if err != nil {
		return nil, err
	}
	m.Separation = s
	if proved {
		switch s := max(m.Separation, m.Entropic); {
		case o.Rule == BestSeparation:
			m.Bound, err = entropy.RelaxedBound(m.Entropic, m.Diametric)
		case s == m.Separation:
			m.Bound, err = entropy.RelaxedBound(s, m.Diametric)
		case o.Accuracy:
			return nil, fmt.Errorf("%s: Accuracy: Separation %v is below the entropic scale %v at alpha/3", op, m.Separation, m.Entropic)
		}
	}
	if err != nil {
		return nil, err
	}
	if m.Mechanism, err = fam.certify(beta); err != nil {
		return nil, err
	}
	return m, nil
}

func (o *RelaxedOptions) check(op string, b metric.Bimetric, alpha float64) error {
	if err := b.Check(); err != nil {
		return err
	}
	if err := fault.Positive(op, "alpha", alpha); err != nil {
		return err
	}
	if o.Rule < BestSeparation || o.Rule > GivenSeparation {
		return &fault.ValueError{Op: op, Arg: "Rule", Index: -1, Value: float64(o.Rule), Want: "BestSeparation, TheoremSeparation or GivenSeparation"}
	}
	if err := fault.NonNegative(op, "Separation", o.Separation); err != nil {
		return err
	}
	if o.Candidates < 0 {
		return &fault.ValueError{Op: op, Arg: "Candidates", Index: -1, Value: float64(o.Candidates), Want: "at least 0"}
	}
	if err := checkCriterion(op, o.Criterion, o.Prior, b.Len()); err != nil {
		return err
	}
	if o.Outputs == nil {
		return nil
	}
	if err := fault.Empty(op, "Outputs", len(o.Outputs)); err != nil {
		return err
	}
	return fault.Indices(op, "Outputs", o.Outputs, b.Len())
}

func (o *RelaxedOptions) context() context.Context { return orBackground(o.Context) }

// relaxation is the work of one call of Relaxed.
type relaxation struct {
	b     metric.Bimetric
	alpha float64
	o     *RelaxedOptions
	tree  *metric.Ultrametric // the utility metric, where it is an ultrametric
	index *metric.Index       // of the utility metric, where it is not
}

// noUltrametric tells that a metric is no ultrametric from other failures.
func noUltrametric(err error) bool {
	var v *metric.Violation
	return errors.As(err, &v) && v.Axiom == metric.UltrametricLaw
}

// complete tells whether every point may be released.
func (r *relaxation) complete() bool {
	if r.o.Outputs == nil {
		return true
	}
	net := slices.Clone(r.o.Outputs)
	slices.Sort(net)
	return len(slices.Compact(net)) == r.b.Len()
}

// scales finds those that the rule or the bound needs.
func (r *relaxation) scales(m *RelaxedMechanism, bound bool) error {
	if !bound && r.o.Rule != TheoremSeparation {
		return nil
	}
	b := r.b
	if r.tree != nil {
		b.Utility = r.tree
	}
	o := &entropy.Options{Context: r.o.Context, Workers: r.o.Workers}
	s, err := entropy.EntropicScale(b, directed.DivDown(r.alpha, 3), o)
	if err != nil {
		return err
	}
	m.Entropic = s.Hi
	if bound {
		d, err := entropy.DiametricScale(b, directed.DivDown(r.alpha, 7), o)
		if err != nil {
			return err
		}
		m.Diametric = d.Hi
	}
	return nil
}

// criterionLoss is what a criterion makes of the losses.
func criterionLoss(l mechanism.Losses, c Criterion, prior []float64) (float64, error) {
	if c == Mean {
		return l.Mean(prior)
	}
	worst, _ := l.Worst()
	return worst, nil
}

// checkCriterion refuses what criterionLoss cannot use, for n points.
func checkCriterion(op string, c Criterion, prior []float64, n int) error {
	if c != WorstCase && c != Mean {
		return &fault.ValueError{Op: op, Arg: "Criterion", Index: -1, Value: float64(c), Want: "WorstCase or Mean"}
	}
	if prior == nil {
		return nil
	}
	_, err := make(mechanism.Losses, n).Mean(prior)
	return err
}
