package exponential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// RelaxedOptions tune [Relaxed]. Nil and the zero value mean the defaults.
type RelaxedOptions struct {
	// Of the Outputs the first in a cluster stands for it.
	Options
	// Separation is s, finite. 0 tries many and takes the one of least loss; to merge none
	// but coincident points give a number below the least distance.
	Separation float64
	// Prior is the distribution of the inputs, under which expected losses are
	// compared; nil: in the worst case.
	Prior []float64
	// Tuned takes the largest rate whose audited level is at most alpha, as [Tuned] does, unless alpha/2
	// has less loss; of many separations it does so for at most 8. Each costs O(n^2*k) time; O(n^2) memory.
	Tuned    bool
	Accuracy bool // asks for the Bound also where it takes a search: see there
}

// RelaxedMechanism is a mechanism of [Relaxed], with what is known of its loss.
type RelaxedMechanism struct {
	Mechanism
	Separation float64 // s
	// Bound is at least the expected loss, in the worst case or under Prior, by [entropy.RelaxedBound] at rate
	// alpha/2, below which rounding may lower Beta by a relative 2^-11. It is +Inf where Outputs leaves points
	// out, a given s is below Entropic, or the utility metric is no ultrametric and Accuracy does not ask.
	Bound float64
	// Entropic >= s(Z, alpha/3), Diametric >= s_o(Z, alpha/7) and Overlap = k are behind the bound (see
	// [Relaxed]); NaN and 0 where they were not needed.
	Entropic, Diametric float64
	Overlap             int
}

// Relaxed returns the mechanism for two metrics, private for any two: the points of a maximal s-separated net
// of the utility metric rho2, with P{y|x} proportional to exp(-alpha*sigma(x,y)/2),
//
//	sigma(x,y) = min of rho1(x,v) over the points v with rho2(v,y) <= s.
//
// Errors and guarantee are as in [Standard]. For s >= s(Z, alpha/3), with s(Z, a) the [scale.Entropic] and
// s_o(Z, a) the [scale.Diametric] at level a, and k the most outputs within 2s of a point under rho2, or 1
// where rho2 is an ultrametric, E rho2(x, M(x)) <= s + (15k-1)*s_o(Z, alpha/7) ([entropy.RelaxedBound]).
//
// Unless Separation is given, losses are compared at 0, at merge heights of the ultrametric or, for other
// metrics, covering radii of [metric.FarthestFirst], and, where the bound is known, at the theorem's s. A
// separation costs O(n^2) for an ultrametric rho2, and up to O(n^2*k) otherwise, the audit O(n^2*k); memory is
// O(n*k). Source: BSV24, Theorem 5.1, with its constant and beyond ultrametrics.
func Relaxed(ctx context.Context, b metric.Bimetric, alpha float64, o *RelaxedOptions) (*RelaxedMechanism, error) {
	// It is private because sigma changes no faster with x than rho1 does.
	const op = "exponential: Relaxed"
	if o == nil {
		o = &RelaxedOptions{}
	}
	if err := o.check(op, b, alpha); err != nil {
		return nil, err
	}
	tree, err := metric.AsUltrametric(ctx, b.Utility)
	if err != nil && !noUltrametric(err) {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return relax(ctx, b, tree, alpha, o)
}

// relax is Relaxed for checked arguments; tree is nil without an ultrametric.
func relax(ctx context.Context, b metric.Bimetric, tree *metric.Ultrametric, alpha float64, o *RelaxedOptions) (*RelaxedMechanism, error) {
	const op = "exponential: Relaxed"
	unit, err := fault.Unit(op, o.Unit, metric.UnitOf(b.Privacy))
	if err != nil {
		return nil, err
	}
	r := &relaxation{b: b, alpha: alpha, o: o, tree: tree, unit: unit}
	if tree == nil {
		r.index = metric.NewIndex(b.Utility)
	}
	m := &RelaxedMechanism{Bound: math.Inf(1), Entropic: math.NaN(), Diametric: math.NaN()}
	proved := r.complete() && (tree != nil || o.Accuracy)
	if o.Accuracy && !proved {
		return nil, fmt.Errorf("%s: Accuracy: Outputs must list every point", op)
	}
	if proved {
		if err := r.scales(ctx, m); err != nil {
			return nil, err
		}
	}
	if o.Tuned { // which reads all distances once for every separation
		d, err := metric.Densify(ctx, b.Privacy)
		if err != nil {
			return nil, err
		}
		r.b.Privacy = d
	}
	tries := []float64{o.Separation}
	if o.Separation == 0 {
		if tries, err = r.candidates(ctx, m.Entropic); err != nil {
			return nil, err
		}
	}
	fam, s, beta, err := r.best(ctx, tries)
	if err != nil {
		return nil, err
	}
	m.Separation = s
	if proved {
		if o.Separation == 0 { // the theorem's was among them
			s = m.Entropic
		}
		if err := r.bound(ctx, m, s); err != nil {
			return nil, err
		}
	}
	certified, err := fam.certify(ctx, beta)
	if err != nil {
		return nil, err
	}
	m.Mechanism = *certified
	return m, nil
}

func (o *RelaxedOptions) check(op string, b metric.Bimetric, alpha float64) error {
	if err := b.Check(); err != nil {
		return err
	}
	if err := cmp.Or(fault.Positive(op, "alpha", alpha), fault.NonNegative(op, "Separation", o.Separation)); err != nil {
		return err
	}
	if err := checkPrior(op, o.Prior, b.Len()); err != nil {
		return err
	}
	return checkOutputs(op, o.Outputs, b.Len())
}

// relaxation is the work of one call of Relaxed.
type relaxation struct {
	b     metric.Bimetric
	alpha float64
	o     *RelaxedOptions
	unit  metric.Unit
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
	net := slices.Sorted(slices.Values(r.outputs()))
	return len(slices.Compact(net)) == r.b.Len()
}

// scales finds those that the bound needs.
func (r *relaxation) scales(ctx context.Context, m *RelaxedMechanism) error {
	b := r.b
	if r.tree != nil {
		b.Utility = r.tree
	}
	s, err := scale.Entropic(ctx, b, []float64{directed.DivDown(r.alpha, 3)}, &scale.Options{Workers: r.o.Workers})
	if err != nil {
		return err
	}
	d, err := scale.Diametric(ctx, b, []float64{directed.DivDown(r.alpha, 7)}, &scale.Options{Workers: r.o.Workers})
	if err != nil {
		return err
	}
	m.Entropic, m.Diametric = s[0].Hi, d[0].Hi
	return nil
}

// bound sets the bound at the separation s.
func (r *relaxation) bound(ctx context.Context, m *RelaxedMechanism, s float64) error {
	if s < m.Entropic {
		if r.o.Accuracy {
			return fmt.Errorf("exponential: Relaxed: Accuracy: Separation %v is below the entropic scale %v at alpha/3", s, m.Entropic)
		}
		return nil
	}
	m.Overlap = 1
	if r.tree == nil {
		c, err := r.clusters(ctx, s)
		if err != nil {
			return err
		}
		// Balls that meet have centers up to 2s apart, and what the triangle inequality may lack.
		near := make([]int, r.b.Len())
		var ball []int
		for _, y := range c.net {
			ball = r.index.Ball(y, directed.MulUp(2*s, 1+metric.DefaultTolerance), ball[:0])
			for _, w := range ball {
				near[w]++
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		m.Overlap = slices.Max(near)
	}
	var err error
	m.Bound, err = entropy.RelaxedBound(s, m.Diametric, m.Overlap)
	return err
}

const (
	// mostCandidates, beside 0 and that of the theorem, step outputs by a factor of 1.16 on 10^4 points.
	mostCandidates = 64
	// tunedCandidates bounds the work of tuning, each about that of the audit.
	tunedCandidates = 8
)

// best returns the member with the least loss, the first of equals. No tuning
// reaches below a separation's loss at rate alpha.
func (r *relaxation) best(ctx context.Context, tries []float64) (_ *family, s, beta float64, err error) {
	type try struct{ s, half, full float64 } // a separation, its loss at alpha/2 and alpha
	all := make([]try, len(tries))
	first := 0 // with the least loss at alpha/2
	for i, s := range tries {
		all[i].s = s
		if len(tries) == 1 && !r.o.Tuned {
			break
		}
		c, err := r.clusters(ctx, s)
		if err != nil {
			return nil, 0, 0, err
		}
		if all[i].half, err = r.loss(ctx, c, r.alpha/2); err == nil && r.o.Tuned {
			all[i].full, err = r.loss(ctx, c, r.alpha)
		}
		if err != nil {
			return nil, 0, 0, err
		}
		if all[i].half < all[first].half {
			first = i
		}
	}
	s, beta = all[first].s, r.alpha/2
	c, err := r.clusters(ctx, s)
	if err != nil {
		return nil, 0, 0, err
	}
	fam, least := r.family(c), all[first].half
	if !r.o.Tuned {
		return fam, s, beta, nil
	}
	slices.SortStableFunc(all, func(a, b try) int { return cmp.Compare(a.full, b.full) })
	for _, t := range all[:min(len(all), tunedCandidates)] {
		if t.full >= least && len(all) > 1 {
			break
		}
		c, err := r.clusters(ctx, t.s)
		if err != nil {
			return nil, 0, 0, err
		}
		f := r.family(c)
		rate, err := f.largestRate(ctx)
		if err != nil {
			return nil, 0, 0, err
		}
		loss, err := r.loss(ctx, c, rate)
		if err != nil {
			return nil, 0, 0, err
		}
		if loss < least {
			fam, s, beta, least = f, t.s, rate, loss
			fam.method = MethodRelaxedTuned
		}
	}
	return fam, s, beta, nil
}

// family is the family of channels on the clusters.
func (r *relaxation) family(c *clusters) *family {
	rows := sync.Pool{New: func() any { return new([]float64) }}
	return &family{op: "exponential: Relaxed", method: MethodRelaxed, f: r.b.Privacy, net: c.net, alpha: r.alpha,
		unit: r.unit, audit: mechanism.AuditOptions{Progress: r.o.Progress, Workers: r.o.Workers},
		rho: func(x int, dst []float64) {
			row := rows.Get().(*[]float64)
			*row = finite.Row(r.b.Privacy, x, *row)
			c.sigma(*row, dst)
			rows.Put(row)
		}}
}

// loss is the objective at rate beta, in float64, right to about 14 digits.
func (r *relaxation) loss(ctx context.Context, c *clusters, beta float64) (float64, error) {
	n := r.b.Len()
	losses := make(mechanism.Losses, n)
	err := parallel.Chunks(ctx, n, 32, r.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		sigma := make([]float64, len(c.net))
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			row = finite.Row(r.b.Privacy, x, row)
			c.sigma(row, sigma)
			row = finite.Row(r.b.Utility, x, row)
			near := slices.Min(sigma)
			z, sum := 0.0, 0.0
			for j, d := range sigma {
				w := exact.Exp(-beta * (d - near))
				z += w
				sum += float64(w * row[c.net[j]])
			}
			losses[x] = sum / z
		}
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return 0, err
	}
	return objective(losses, r.o.Prior)
}

// candidates returns the separations to try, 0 and theorem (unless NaN) among
// them, the largest first: of equal losses it has the fewest outputs.
func (r *relaxation) candidates(ctx context.Context, theorem float64) ([]float64, error) {
	tries, err := r.thinned(ctx)
	if err != nil {
		return nil, err
	}
	if !math.IsNaN(theorem) {
		tries = append(tries, theorem)
	}
	tries = append(tries, 0)
	slices.SortFunc(tries, descending)
	return slices.Compact(tries), nil
}

func descending(a, b float64) int { return cmp.Compare(b, a) }

// thinned returns at most mostCandidates separations, of ranks in a geometric
// progression: scales[k-1] leaves about k outputs.
func (r *relaxation) thinned(ctx context.Context) ([]float64, error) {
	var scales []float64
	if r.tree != nil {
		scales = r.tree.Heights()
		slices.SortFunc(scales, descending)
	} else {
		_, radii, err := metric.FarthestFirst(ctx, r.b.Utility, r.b.Len(), 0)
		if err != nil {
			return nil, err
		}
		scales = radii[1:]
	}
	if different := slices.Compact(slices.Clone(scales)); len(different) <= mostCandidates {
		return different, nil
	}
	thin := make([]float64, mostCandidates)
	for i := range thin {
		rank := math.Pow(float64(len(scales)), float64(i)/(mostCandidates-1))
		thin[i] = scales[min(len(scales), int(rank+0.5))-1]
	}
	return thin, nil
}
