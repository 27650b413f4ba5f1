package measure

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

// Measure is a mechanism from the probability measures on the cells of a domain to
// themselves, alpha-private per unit of total variation (the share of mass by which two
// measures differ). It implements [mechanism.Mechanism] on weights of cells, which
// [domain.Domain.Weights] gets from points. That never adds to the total variation, so the same
// level holds for measures on the space.
//
// This is the one release of the library in real arithmetic, with the real noise of package
// walk, of which the same holds. The level is proved for real numbers. The float64s that come
// out are rounded at every step, and then to multiples of 2^-52 (not by [Signed]), which hides
// low bits and proves nothing. No rounding of a single number would: the k numbers of a node
// with k children are k-1 random gaps in random order, or their mean is taken off, and sums of
// weights, which are rounded themselves, get them all at once. Whole numbers at every node would
// do for independent noise, not for that of [KNorm].
//
// So do not show weights made of private data to whom you would not trust with low bits. Data
// that are records are for a [Synthesizer], which is exact; weights that are multiples of 1/N
// are counts of N records ([Counts.AddN]), private at alpha/N for a record.
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
// 1/N, so alpha = N*eps protects records at eps.
func NewMeasure[P any](d *domain.Domain[P], alpha float64, o *MeasureOptions) (*Measure, error) {
	const op = "measure: NewMeasure"
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

// massTolerance is how far from 1 an input may sum: rounding of 2^20 weights.
const massTolerance = 1e-9

// Release returns a private measure near mu, weights >= 0 of the cells that sum
// to 1 (*[metric.SizeError], *[metric.ValueError] otherwise): multiples of
// 2^-52 with sum 1 exactly, unless the estimator is Signed. mu is not modified.
// O(nodes).
func (m *Measure) Release(rng *rand.Rand, mu []float64) ([]float64, error) {
	const op = "measure: Measure.Release"
	if err := m.check(op); err != nil {
		return nil, err
	}
	if err := fault.Private(fault.Distribution(op, "mu", mu, m.p.cells, massTolerance)); err != nil {
		return nil, err
	}
	g := make([]float64, len(mu))
	if err := m.p.walk.Increments(rng, g); err != nil {
		return nil, err
	}
	for c, x := range mu {
		g[c] += x
	}
	y := make([]float64, m.p.Tree.Nodes())
	if err := m.p.Tree.Counts(y, g); err != nil {
		return nil, err
	}
	y[0] = 1
	w, err := m.p.measureFrom(y)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return w, nil
}
