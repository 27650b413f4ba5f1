package private

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/walk"
)

// Measure is a mechanism from the probability measures on the cells of a domain to themselves,
// alpha-private per unit of total variation (the share of mass by which two measures differ). It
// implements [mechanism.Mechanism] on weights of cells, as from [domain.Domain.Weights], divided by
// their sum, as exact reals. The level holds for the bits that are released.
//
// A Measure is immutable and safe for concurrent use. The zero value releases nothing.
//
// Source: BSV22, with Lemma 5.3 for measures on the space.
type Measure struct {
	// The ideal release of the noise of package walk is rounded once, to a public grid
	// ([walk.Walk.AddShares]), and what follows reads nothing else.
	p *plan
	g mechanism.Guarantee
}

// New returns the mechanism of level alpha, in [1e-50, 1e50], per unit of total variation on the
// cells of d, of which there must be at most 2^26 (*[metric.MemoryError]) and none impossible.
// A change of one of N records moves the empirical measure by 1/N, so alpha = N*eps protects
// records at eps, N being public.
func New[P any](d *domain.Domain[P], alpha float64, o *Options) (*Measure, error) {
	const op = "private: New"
	if !(alpha >= 1e-50 && alpha <= 1e50) {
		return nil, fault.Value(op, "alpha", alpha, "a number in [1e-50, 1e50]")
	}
	opt := region.OrZero(o)
	opt.Distribution = cmp.Or(opt.Distribution, walk.KNorm)
	p, err := newPlan(op, d, alpha, opt)
	if err != nil {
		return nil, err
	}
	g, err := mechanism.NewGuarantee(p.loss, 0, "TV")
	return &Measure{p, g}, err
}

func (m *Measure) check(op string) error {
	return fault.Made(m != nil && m.p != nil, op, "Measure", "New")
}

// Guarantee is the level per unit of total variation. That of a zero Measure promises nothing.
func (m *Measure) Guarantee() mechanism.Guarantee {
	if m == nil {
		return mechanism.Guarantee{}
	}
	return m.g
}

// Release returns a private measure near that of weights, numbers >= 0 of the cells whose sum is
// positive and finite (*[metric.SizeError], *[metric.ValueError] otherwise): multiples of 2^-52
// with sum 1 exactly, unless the estimator is Signed. weights are not modified. O(nodes).
func (m *Measure) Release(rng *rand.Rand, weights []float64) ([]float64, error) {
	const op = "private: Measure.Release"
	if err := m.check(op); err != nil {
		return nil, err
	}
	if err := fault.Private(fault.Size(op, "weights", len(weights), m.p.cells)); err != nil {
		return nil, err
	}
	y := make([]float64, m.p.Tree.Nodes())
	if err := m.p.walk.AddShares(rng, y, weights); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	w, err := m.p.measureFrom(y)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return w, nil
}
