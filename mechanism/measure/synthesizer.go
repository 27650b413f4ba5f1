package measure

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// Synthesizer releases a data set as a probability measure on regions of a domain, and synthetic
// records drawn from it. It is eps-differentially private for the neighbors of
// SynthesizerOptions.Relation, exactly: counts and noise are integers, drawn with exactly the
// stated probabilities, budgets are whole quanta whose sums do not round, and everything after is
// post-processing. It implements [mechanism.Mechanism].
//
// It divides the space, counts the records of every part with noise, and goes on where the noisy
// counts are large against the noise. Every path down the tree has the same budget, and a region
// where few records are gets all that its path has left. Counts are then averaged up the tree and
// made into masses down it.
//
// The time and memory that a release takes depend on private data: do not let an adversary measure
// them. A Synthesizer is immutable and safe for concurrent use. The zero value releases nothing.
//
// Sources: Koufogiannis, Han, Pappas, "Gradual release of sensitive data under differential
// privacy", 2016; Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially private
// histograms through consistency", 2010, for the average.
type Synthesizer[P any] struct {
	d      *domain.Domain[P]
	space  *region.Space[P] // of d
	opt    SynthesizerOptions
	rule   adaptive.Rule
	budget adaptive.Budget
	g      mechanism.Guarantee
}

// NewSynthesizer returns a Synthesizer on d of level eps, in [1e-50, 1e50]; Guarantee states what
// the counts of a path spend in whole quanta. Errors are *[metric.ValueError] and
// *[metric.SizeError].
func NewSynthesizer[P any](d *domain.Domain[P], eps float64, o *SynthesizerOptions) (*Synthesizer[P], error) {
	const op = "measure: NewSynthesizer"
	space, err := region.Of[P](op, d)
	if err != nil {
		return nil, err
	}
	if !(eps >= 1e-50 && eps <= 1e50) {
		return nil, fault.Value(op, "eps", eps, "a number in [1e-50, 1e50]")
	}
	s := &Synthesizer[P]{d: d, space: space, opt: region.OrZero(o)}
	level, unit, err := region.PerRecord(op, s.opt.Relation, s.opt.PerPerson, eps, 1e-50)
	if err != nil {
		return nil, err
	}
	if s.rule, err = s.opt.rule(op, space.Regions); err != nil {
		return nil, err
	}
	s.budget = adaptive.NewBudget(s.opt.Relation, level)
	loss := s.budget.Loss()
	switch {
	case s.opt.PerPerson > 0:
		loss = directed.MulUp(loss, float64(s.opt.PerPerson))
	case s.opt.Relation == ReplaceOne && space.Cells == 1:
		loss = 0 // nothing to tell apart
	}
	s.g, err = mechanism.NewGuarantee(loss, 0, unit)
	return s, err
}

func (s *Synthesizer[P]) check(op string) error {
	return fault.Made(s != nil && s.d != nil, op, "Synthesizer", "NewSynthesizer")
}

// Guarantee is the level per record replaced, or per record or person added or removed; a zero
// Synthesizer promises nothing. Several releases of one table have the sum, and less at a delta
// ([mechanism.Composition.AuditAt], at distance 1).
func (s *Synthesizer[P]) Guarantee() mechanism.Guarantee {
	if s == nil {
		return mechanism.Guarantee{}
	}
	return s.g
}

// Domain returns the domain.
func (s *Synthesizer[P]) Domain() *domain.Domain[P] {
	return fault.Must(s, s.check("measure: Synthesizer.Domain")).d
}

// String gives the guarantee and the domain.
func (s *Synthesizer[P]) String() string {
	if s.check("") != nil {
		return "no synthesizer"
	}
	return fmt.Sprintf("%v, on a %v", s.g, s.d)
}

// Release releases counts of the same domain, or of one made elsewhere by the same call
// ([ErrMismatch] otherwise). Counts of no records are [metric.ErrEmpty] under ReplaceOne, counts
// made with CountOptions.SkipErrors [ErrSkipped], and of more records a person than PerPerson
// [ErrPersons]. O(cells with records), and about 1 us a region, of which N records have some N
// eps/10.
func (s *Synthesizer[P]) Release(rng *rand.Rand, c *Counts[P]) (*Release[P], error) {
	const op = "measure: Synthesizer.Release"
	if err := s.check(op); err != nil {
		return nil, err
	}
	if err := c.check(op); err != nil {
		return nil, err
	}
	if err := same(op, c.space, s.space); err != nil {
		return nil, err
	}
	from := c.snapshot()
	if err := from.marks.check(op, s.opt.PerPerson); err != nil {
		return nil, err
	}
	if s.opt.Relation == ReplaceOne {
		if from.skipped {
			return nil, fmt.Errorf("%s: %w", op, ErrSkipped)
		}
		if err := fault.Empty(op, "counts", len(from.cells)); err != nil {
			return nil, err
		}
	}
	rng, done := random.Get(rng)
	defer done()
	return newRelease(s, adaptive.Draw(rng, s.space.Regions, adaptive.NewCounts(from.cells, from.n), s.budget, s.rule, s.opt.MaxCells)), nil
}

// Synthetic is [CountAll], Release and [Release.Records] in one: m synthetic records, for m = 0
// Release.Total.
func (s *Synthesizer[P]) Synthetic(ctx context.Context, rng *rand.Rand, records []P, m int) ([]P, error) {
	if err := s.check("measure: Synthesizer.Synthetic"); err != nil {
		return nil, err
	}
	c, err := CountAll(ctx, s.d, records, nil)
	if err != nil {
		return nil, err
	}
	out, err := s.Release(rng, c)
	if err != nil {
		return nil, err
	}
	return out.Records(rng, m, nil)
}

// LowerBound is a lower bound, in units of the metric, on the worst expected W1 error over all data
// sets of so many records (public, or a guess), of every mechanism that is as private: Theorem 8.6
// of BSV22 with constants, on the points of up to 1,024 cells. It reads no data. In a cube
// families.PrivateCubeBound is sharper for more records.
func (s *Synthesizer[P]) LowerBound(ctx context.Context, records float64) (float64, error) {
	const op = "measure: Synthesizer.LowerBound"
	if err := s.check(op); err != nil {
		return 0, err
	}
	if err := fault.Positive(op, "records", records); err != nil {
		return 0, err
	}
	// Replacing a record is removing one and adding another.
	level := s.g.Alpha()
	if s.opt.Relation == AddRemoveOne {
		level *= 2
	}
	if s.space.Cells == 1 {
		return 0, nil
	}
	f, err := s.space.Some(region.LowerCells)
	if err != nil {
		return 0, err
	}
	n := math.Ceil(records) // more records: a lower bound
	if n >= math.MaxInt {
		return 0, nil
	}
	least, err := families.PrivateDataBound(ctx, f, int(n), level)
	return least.Value, err
}

// UpperBound is an upper bound, in units of the metric, on the expected W1 distance between the
// records, whatever they are, and the Weights that Release publishes, at their Points: Corollary
// 7.4 of BSV22 for this mechanism, with constants, proved (adaptive.Upper) and rounded upward. It
// reads no data. With Levels and Shares that suit the number of records it is of the order
// (eps*records)^(-1/d) in the cube of d dimensions, for d = 1 times the square of the logarithm.
//
// It needs Levels, and no Prune: what a default Synthesizer divides depends on the records. Records
// count as clipped, and after [domain.On] as moved to their cells. O(regions) time and memory.
func (s *Synthesizer[P]) UpperBound(records float64) (float64, error) {
	const op = "measure: Synthesizer.UpperBound"
	if err := s.check(op); err != nil {
		return 0, err
	}
	if !(records >= 1 && records <= 1<<53) {
		return 0, fault.Value(op, "records", records, "a number in [1, 2^53]")
	}
	fixed, ok := s.rule.(adaptive.Fixed)
	switch {
	case !ok:
		return 0, &fault.SizeError{Op: op, Arg: "Levels", Got: 0, Want: "at least 1: what a default Synthesizer divides depends on the records"}
	case fixed.Prune > 0:
		return 0, fault.Value(op, "Prune", fixed.Prune, "0")
	}
	return adaptive.Upper(s.space.Regions, s.budget, fixed, s.opt.MaxCells, math.Floor(records), s.space.Size, s.space.Row), nil
}
