package measure

import (
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// Synthesizer releases a data set as a probability measure on the cells of a
// domain, and synthetic records drawn from it. It is eps-differentially private
// for the neighbours that Options.Relation names: counts are integers, their
// noise is integers with exactly the stated probabilities, and all that comes
// after is post-processing. It implements [mechanism.Mechanism].
//
// With a lazy domain the output is as private, but the time and memory that a
// release takes depend on private data, because cells are unfolded where there
// seems to be mass. Do not let an adversary measure them.
//
// A Synthesizer is immutable and safe for concurrent use. The zero value releases
// nothing.
type Synthesizer[P any] struct {
	d *Domain[P]
	p *plan
	g mechanism.Guarantee
}

// NewSynthesizer returns a Synthesizer of level eps on d. It is eps-private by
// construction: the walk's loss at the final scales, rounded up, is what
// Guarantee states. Errors are *[metric.ValueError] and *[metric.SizeError].
// O(nodes).
func NewSynthesizer[P any](d *Domain[P], eps float64, o *Options) (*Synthesizer[P], error) {
	const op = "measure: NewSynthesizer"
	if err := d.check(op); err != nil {
		return nil, err
	}
	if err := fault.Positive(op, "eps", eps); err != nil {
		return nil, err
	}
	p, err := newPlan(op, d.arrangement, eps, true, o)
	if err != nil {
		return nil, err
	}
	unit := metric.Unit("record replaced")
	if p.opt.Relation == AddRemoveOne {
		unit = "record added or removed"
	}
	g, err := mechanism.NewGuarantee(p.loss, 0, unit)
	return &Synthesizer[P]{d, p, g}, err
}

// check refuses a Synthesizer that NewSynthesizer did not make.
func (s *Synthesizer[P]) check(op string) error {
	if s == nil || s.p == nil {
		return zeroError(op, "Synthesizer", "NewSynthesizer")
	}
	return nil
}

// Guarantee is the level per record replaced, or per record added or removed.
// That of a zero Synthesizer promises nothing.
func (s *Synthesizer[P]) Guarantee() mechanism.Guarantee {
	if s == nil {
		return mechanism.Guarantee{}
	}
	return s.g
}

// Domain returns the domain.
func (s *Synthesizer[P]) Domain() *Domain[P] {
	if err := s.check("measure: Synthesizer.Domain"); err != nil {
		panic(err)
	}
	return s.d
}

// String gives the guarantee and the domain.
func (s *Synthesizer[P]) String() string {
	if s.check("") != nil {
		return "no synthesizer"
	}
	return fmt.Sprintf("%v, on a %v", s.g, s.d)
}

// Release releases counts of the same domain, or of one made elsewhere by the
// same call, lazy or not ([ErrMismatch] otherwise). Counts of no records are
// [metric.ErrEmpty] under ReplaceOne, where that is public; under AddRemoveOne
// they have a release as all others. Counts made with CountOptions.SkipErrors
// are [ErrSkipped] under ReplaceOne. A nil r is a secure generator. Some 100 ns
// a node, with 60 bytes each.
func (s *Synthesizer[P]) Release(r *rand.Rand, c *Counts[P]) (*Release[P], error) {
	const op = "measure: Synthesizer.Release"
	if err := s.check(op); err != nil {
		return nil, err
	}
	if err := c.check(op); err != nil {
		return nil, err
	}
	if err := c.d.same(op, s.d.arrangement); err != nil {
		return nil, err
	}
	from := c.snapshot()
	if s.p.opt.Relation == ReplaceOne {
		if from.skipped {
			return nil, fmt.Errorf("%s: %w", op, ErrSkipped)
		}
		if err := fault.Empty(op, "counts", len(from.cells)); err != nil {
			return nil, err
		}
	}
	r, done := rng.Get(r)
	defer done()
	if s.p.tree == nil {
		return s.unfold(r, from)
	}
	x := make([]int64, s.d.cells)
	for i, cell := range from.cells {
		x[cell] = from.n[i]
	}
	y, err := s.noisyCounts(r, x)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	total := s.total(y)
	weights, moved, err := s.p.measureFrom(y, s.p.law == walk.DiscreteLaplace, s.finite)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return &Release[P]{Weights: weights, Total: total, s: s, moved: moved}, nil
}

// total returns the number of records as released, and puts what the measure
// is relative to in its place: at least 1.
func (s *Synthesizer[P]) total(y []float64) float64 {
	total := y[0]
	y[0] = max(1, total)
	return total
}

// noisyCounts returns the counts of all nodes with noise.
func (s *Synthesizer[P]) noisyCounts(r *rand.Rand, x []int64) ([]float64, error) {
	t := s.p.tree
	y := make([]float64, t.Nodes())
	if s.p.law == walk.DiscreteLaplace {
		counts := make([]int64, t.Nodes())
		if err := t.CountsInt(counts, x); err != nil {
			return nil, err
		}
		if err := s.p.walk.AddCounts(r, counts); err != nil {
			return nil, err
		}
		for v, n := range counts {
			y[v] = float64(n)
		}
		return y, nil
	}
	haar := append([]int64(nil), x...)
	if err := t.HaarInt(haar); err != nil {
		return nil, err
	}
	if err := s.p.walk.AddHaar(r, haar); err != nil {
		return nil, err
	}
	// Differences of children are what was released; the rest is float64.
	y[0] = float64(haar[0])
	for v := range y {
		if lo, hi := t.Children(v); lo < hi {
			d := float64(haar[t.Split(v)])
			y[lo], y[lo+1] = (y[v]+d)/2, (y[v]-d)/2
		}
	}
	return y, nil
}

func (s *Synthesizer[P]) finite() (metric.Finite, error) { return s.d.Points() }

// Synthetic counts records, releases them and returns m synthetic ones, or as
// many as there were where m is 0 (under AddRemoveOne, as there were by the noisy
// count): [CountAll], Release and [Release.Records] in one.
func (s *Synthesizer[P]) Synthetic(r *rand.Rand, records []P, m int) ([]P, error) {
	if err := s.check("measure: Synthesizer.Synthetic"); err != nil {
		return nil, err
	}
	c, err := CountAll(s.d, records, nil)
	if err != nil {
		return nil, err
	}
	out, err := s.Release(r, c)
	if err != nil {
		return nil, err
	}
	return out.Records(r, m, nil)
}
