package measure

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
)

// Measure is a mechanism from the probability measures on the cells of a domain to
// themselves, alpha-private per unit of total variation (the share of mass by which two
// measures differ). It implements [mechanism.Mechanism] on weights of cells, which
// [Domain.Weights] gets from points; the measure is the weights divided by their sum, as exact
// reals. The level holds for the bits: the ideal release of the noise of package walk is
// rounded once, to a public grid ([walk.Walk.AddShares]), and what follows reads nothing else.
//
// A Measure is immutable and safe for concurrent use. The zero value releases nothing.
//
// Source: BSV22, with Lemma 5.3 for measures on the space.
type Measure struct {
	p *plan
	g mechanism.Guarantee
}

// NewMeasure returns the mechanism of level alpha per unit of total variation
// on the cells of d, of which there must be at most 2^26 (*[metric.MemoryError])
// and none impossible. A change of one of N records moves the empirical measure by
// 1/N, so alpha = N*eps protects records at eps, N being public.
func NewMeasure[P any](d *Domain[P], alpha float64, o *MeasureOptions) (*Measure, error) {
	const op = "measure: NewMeasure"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if err := fault.Positive(op, "alpha", alpha); err != nil {
		return nil, err
	}
	opt := orZero(o)
	opt.Distribution = cmp.Or(opt.Distribution, KNorm)
	p, err := newPlan(op, d, alpha, opt)
	if err != nil {
		return nil, err
	}
	g, err := mechanism.NewGuarantee(p.loss, 0, "TV")
	return &Measure{p, g}, err
}

func (m *Measure) check(op string) error {
	return fault.Made(m != nil && m.p != nil, op, "Measure", "NewMeasure")
}

// Guarantee is the level per unit of total variation. That of a zero Measure
// promises nothing.
func (m *Measure) Guarantee() mechanism.Guarantee {
	if m == nil {
		return mechanism.Guarantee{}
	}
	return m.g
}

// Release returns a private measure near that of weights, numbers >= 0 of the cells whose sum
// is positive and finite (*[metric.SizeError], *[metric.ValueError] otherwise): multiples of
// 2^-52 with sum 1 exactly, unless the estimator is Signed. weights are not modified.
// O(nodes).
func (m *Measure) Release(rng *rand.Rand, weights []float64) ([]float64, error) {
	const op = "measure: Measure.Release"
	if err := m.check(op); err != nil {
		return nil, err
	}
	if err := fault.Private(fault.Size(op, "weights", len(weights), m.p.cells)); err != nil {
		return nil, err
	}
	y := make([]float64, m.p.tree.Nodes())
	if err := m.p.walk.AddShares(rng, y, weights); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	w, err := m.p.measureFrom(y)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return w, nil
}

// Weights returns what d's cells have of weighted points, for [Measure.Release]: each counts
// in its cell. weights are finite numbers >= 0 whose sum is positive and finite; nil gives
// every point 1. Errors are [metric.ErrEmpty], *[metric.SizeError], *[metric.ValueError] and
// those of Cell.
//
// It never adds to the total variation of two measures, and a Measure's level holds for the
// points. For this sums must be exact, as they are of whole numbers up to 2^53 in all, and so
// for nil. Other sums are rounded; the level is then about what Weights returns.
func (d *Domain[P]) Weights(points []P, weights []float64) ([]float64, error) {
	const op = "measure: Domain.Weights"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if _, err := d.explicit(op); err != nil {
		return nil, err
	}
	if err := fault.Empty(op, "points", len(points)); err != nil {
		return nil, err
	}
	if weights != nil && len(weights) != len(points) {
		return nil, &fault.SizeError{Op: op, Arg: "weights", Got: len(weights), Want: fmt.Sprint(len(points))}
	}
	if err := fault.Private(fault.AllNonNegative(op, "weights", weights)); err != nil {
		return nil, err
	}
	mu := make([]float64, d.cells)
	total := 0.0
	for i, p := range points {
		c, err := d.locate(p)
		if err != nil {
			return nil, fmt.Errorf("%s: point %d: %w", op, i, err)
		}
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		mu[c] += w
		total += w
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, fault.Private(fault.Value(op, "sum of weights", total, "a finite number > 0"))
	}
	return mu, nil
}
