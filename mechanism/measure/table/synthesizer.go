package table

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

// Options are for [New]; nil and zero mean the defaults.
type Options struct {
	// Relation names the neighbors that are protected from one another.
	Relation measure.Relation
	// PerPerson, where not 0, makes eps the level of a person with up to so many rows:
	// see [Synthesizer.ReleasePersons]. Relation must then be AddRemoveOne.
	PerPerson int
	// Possible, where not nil, reports whether a row may have lo[i] <= x[i] <= hi[i] in
	// all its entries, as domain.BoxOptions.Possible does. It must be public. Rows
	// are drawn until they are possible: [Release.Records] asks it with lo and hi the
	// same row, which it must not change. Rows that are counted are not asked about.
	Possible func(lo, hi []float64) bool
}

// Shares of the budget, by simulation (BenchmarkTable has other data).
const (
	marginShare = 0.5   // of the columns' margins, where there are several
	pickShare   = 0.025 // of the choice of an edge, but
	picksShare  = 0.2   // of all choices at most
	maxColumns  = 256
)

// roundDown leaves room for what rounding adds to the sum of the parts' levels.
const roundDown = 1 - 0x1p-40

// Synthesizer releases a table as a tree of columns, from which rows are drawn. It
// releases, each with a share of eps,
//
//   - the margin of every column, a measure on a tree of its values (half of eps). It makes
//     the column a number in [0, 1], the rank: a region of mass w is an interval of length w,
//     in which a row's rank is drawn at random;
//   - which pairs of columns depend on one another most: a forest, picked edge by edge by
//     noisy scores (.025 of eps an edge, .2 at most), until no pair is better than none. A
//     score says how far a table of 8 x 8 ranks is from that of independent columns;
//   - the ranks of each pair of the forest, a measure on a square. Without an edge margins
//     are released again instead, with what is left.
//
// Rows are drawn along the forest: a column's rank given that of its parent, from the
// regions of the pair that contain it; then the ranks of all rows are spread evenly, and
// the value of a rank is drawn from its region.
//
// It is eps-differentially private for the neighbors that Options.Relation names, exactly:
// margins and pairs are releases of package measure of counts to which every row adds one,
// picks are private by a proof beside the code, and their levels, rounded up, add up to
// what [Synthesizer.Guarantee] states. Everything else is post-processing. The time and
// memory that a release takes depend on private data: do not let an adversary measure them.
// A Synthesizer is immutable and safe for concurrent use. The zero value releases nothing.
//
// Sources: those of the overview, and for the choice by noisy scores McKenna, Sheldon,
// "Permute-and-flip", 2020, and Ding et al., "The permute-and-flip mechanism is identical to
// report-noisy-max with exponential noise", 2021.
type Synthesizer struct {
	columns []domain.Column
	opt     Options
	from    []int // where a column's entries begin in a row, and all end
	margins []*measure.Synthesizer[[]float64]
	again   []*measure.Synthesizer[[]float64] // margins with what is left where there are no edges
	pairs   []*measure.Synthesizer[[]float64] // pairs[e] releases an edge where there are e
	rate    float64                           // of the noise on scores
	g       mechanism.Guarantee
}

// New returns a Synthesizer of level eps for rows of the given columns, which have
// one entry for each. Errors are [metric.ErrEmpty], *[metric.ValueError], and
// *[metric.SizeError] for more than 256 columns, and those of [domain.NewBox].
// O(columns).
func New(columns []domain.Column, eps float64, o *Options) (*Synthesizer, error) {
	const op = "table: New"
	if err := fault.Empty(op, "columns", len(columns)); err != nil {
		return nil, err
	}
	if len(columns) > maxColumns {
		return nil, &metric.SizeError{Op: op, Arg: "columns", Got: len(columns), Want: fmt.Sprintf("at most %d", maxColumns)}
	}
	if err := fault.Positive(op, "eps", eps); err != nil {
		return nil, err
	}
	s := &Synthesizer{columns: slices.Clone(columns), from: []int{0}}
	if o != nil {
		s.opt = *o
	}
	for _, c := range s.columns {
		width := 1
		if c.Radius > 0 {
			width = 2 // a place
		}
		s.from = append(s.from, s.from[len(s.from)-1]+width)
	}
	switch k := s.opt.PerPerson; {
	case k < 0 || k > 1<<30:
		return nil, fault.Value(op, "PerPerson", float64(k), "an integer in [0, 2^30]")
	case k > 0 && s.opt.Relation != measure.AddRemoveOne:
		return nil, fault.Value(op, "Relation", float64(s.opt.Relation), "AddRemoveOne with PerPerson, because how many rows persons have is private")
	case k > 0: // to add a person is to add up to k rows, one by one
		eps = directed.DivDown(eps, float64(k))
	}
	if err := s.divide(op, eps*roundDown); err != nil {
		return nil, err
	}
	if k := s.opt.PerPerson; k > 0 {
		var err error
		if s.g, err = mechanism.NewGuarantee(directed.MulUp(s.g.Alpha(), float64(k)), 0, "person added or removed"); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// divide makes the parts and adds up what they cost, all rounded against the user:
// each gets a share rounded down, and the level is the sum of theirs rounded up, for
// the number of edges that costs most.
func (s *Synthesizer) divide(op string, eps float64) (err error) {
	k := len(s.columns)
	share := 1.0
	if k > 1 {
		share = marginShare
	}
	type (
		domains      = []*domain.Domain[[]float64]
		synthesizers = []*measure.Synthesizer[[]float64]
	)
	single := make(domains, k)
	for a, c := range s.columns {
		if single[a], err = domain.NewBox([]domain.Column{c}, nil); err != nil {
			return fmt.Errorf("%s: column %d: %w", op, a, err)
		}
	}
	o := &measure.SynthesizerOptions{Relation: s.opt.Relation}
	parts := func(on domains, eps float64) (all synthesizers, loss float64, err error) {
		for _, d := range on {
			part, err := measure.NewSynthesizer(d, directed.DivDown(eps, float64(len(on))), o)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", op, err)
			}
			all, loss = append(all, part), directed.AddUp(loss, part.Guarantee().Alpha())
		}
		return all, loss, nil
	}
	var spent float64
	if s.margins, spent, err = parts(single, directed.MulDown(share, eps)); err != nil {
		return err
	}
	unit := s.margins[0].Guarantee().Unit()
	if k == 1 {
		s.g, err = mechanism.NewGuarantee(spent, 0, unit)
		return err
	}
	square, err := pairDomain()
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	twice := 2 * float64(sensitivity(s.opt.Relation))
	s.rate = directed.DivDown(directed.MulDown(min(pickShare, picksShare/float64(k-1)), eps), twice)
	pick := directed.MulUp(twice, s.rate)
	s.pairs = make(synthesizers, k)
	most := 0.0
	for e := range k {
		total := directed.AddUp(spent, directed.MulUp(pick, float64(min(e+1, k-1))))
		rest, loss := directed.SubDown(eps, total), 0.0
		if e == 0 {
			s.again, loss, err = parts(single, rest)
		} else {
			var one synthesizers
			if one, loss, err = parts(domains{square}, directed.DivDown(rest, float64(e))); err == nil {
				s.pairs[e], loss = one[0], directed.MulUp(loss, float64(e))
			}
		}
		if err != nil {
			return err
		}
		most = max(most, directed.AddUp(total, loss))
	}
	s.g, err = mechanism.NewGuarantee(most, 0, unit)
	return err
}

// pairDomain is that of the ranks of two columns, a square.
func pairDomain() (*domain.Domain[[]float64], error) {
	return domain.NewBox([]domain.Column{{Hi: 1}, {Hi: 1}}, nil)
}

func (s *Synthesizer) check(op string) error {
	return fault.Made(s != nil && s.columns != nil, op, "Synthesizer", "New")
}

// Guarantee is the level per row replaced, or per row or person added or removed.
// That of a zero Synthesizer promises nothing.
func (s *Synthesizer) Guarantee() mechanism.Guarantee {
	if s == nil {
		return mechanism.Guarantee{}
	}
	return s.g
}

// Columns returns the columns.
func (s *Synthesizer) Columns() []domain.Column {
	return slices.Clone(fault.Must(s, s.check("table: Synthesizer.Columns")).columns)
}

// String gives the guarantee and the number of columns.
func (s *Synthesizer) String() string {
	if s.check("") != nil {
		return "no synthesizer"
	}
	return fmt.Sprintf("%v, on tables of %d columns", s.g, len(s.columns))
}

// Release releases a table. A row has the entries of the columns in their order.
// Errors are those of [measure.Count]: the first row of another length, or with a
// value that its column does not have; [metric.ErrEmpty] for no rows under
// ReplaceOne; [measure.ErrPersons] with Options.PerPerson; and that of ctx. O(rows
// columns^2), for 10^6 rows of 5 columns some seconds.
func (s *Synthesizer) Release(ctx context.Context, rng *rand.Rand, rows [][]float64) (*Release, error) {
	const op = "table: Synthesizer.Release"
	if err := s.check(op); err != nil {
		return nil, err
	}
	if s.opt.PerPerson > 0 {
		return nil, fmt.Errorf("%s: %w: with PerPerson call ReleasePersons", op, measure.ErrPersons)
	}
	return s.release(ctx, op, rng, rows)
}

// ReleasePersons is [Synthesizer.Release] of the first Options.PerPerson rows of each
// person, and not of the others. Without PerPerson it is [measure.ErrPersons]. Where
// later rows say other things than the first, as in time, bring them in random order.
func (s *Synthesizer) ReleasePersons(ctx context.Context, rng *rand.Rand, rows []measure.Row[string, []float64]) (*Release, error) {
	const op = "table: Synthesizer.ReleasePersons"
	if err := s.check(op); err != nil {
		return nil, err
	}
	if s.opt.PerPerson == 0 {
		return nil, fmt.Errorf("%s: %w: PerPerson is not set", op, measure.ErrPersons)
	}
	seen := make(map[string]int)
	var kept [][]float64
	for _, row := range rows {
		if seen[row.Person]++; seen[row.Person] <= s.opt.PerPerson {
			kept = append(kept, row.Record)
		}
	}
	return s.release(ctx, op, rng, kept)
}

func (s *Synthesizer) release(ctx context.Context, op string, rng *rand.Rand, rows [][]float64) (*Release, error) {
	if len(rows) > maxRows {
		return nil, &metric.SizeError{Op: op, Arg: "rows", Got: len(rows), Want: fmt.Sprintf("at most %d", maxRows)}
	}
	if s.opt.Relation == measure.ReplaceOne {
		if err := fault.Empty(op, "rows", len(rows)); err != nil {
			return nil, err
		}
	}
	width := s.from[len(s.columns)]
	for i, x := range rows {
		if len(x) != width {
			return nil, &metric.SizeError{Op: op, Arg: fmt.Sprintf("rows[%d]", i), Got: len(x), Want: fmt.Sprint(width)}
		}
	}
	if err := fault.Memory(op, float64(len(rows)), 8*len(s.columns)); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	out := &Release{s: s}
	if err := out.measureMargins(ctx, rng, s.margins, rows); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if len(s.columns) == 1 {
		return out, nil
	}
	ranks, err := out.ranks(ctx, rng, rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	tree, err := s.pickTree(ctx, rng, ranks, out.Total)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if len(tree) == 0 {
		err = out.measureMargins(ctx, rng, s.again, rows)
	} else {
		err = out.measurePairs(ctx, rng, ranks, tree)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

// measureMargins releases the margins of all columns.
func (r *Release) measureMargins(ctx context.Context, rng *rand.Rand, parts []*measure.Synthesizer[[]float64], rows [][]float64) error {
	r.margins, r.axes, r.Total = nil, nil, 0
	for a, part := range parts {
		lo, hi := r.s.from[a], r.s.from[a+1]
		counts, err := measure.Count(ctx, part.Domain(), func(yield func([]float64, error) bool) {
			for _, x := range rows {
				if !yield(x[lo:hi:hi], nil) {
					return
				}
			}
		}, nil)
		if err != nil {
			return fmt.Errorf("column %d: %w", a, err)
		}
		m, err := part.Release(rng, counts)
		if err != nil {
			return fmt.Errorf("column %d: %w", a, err)
		}
		r.margins, r.axes = append(r.margins, m), append(r.axes, newAxis(m))
		r.Total += m.Total // exact where it is public
	}
	r.Total /= float64(len(parts))
	return nil
}

// measurePairs releases the ranks of the pairs of a tree.
func (r *Release) measurePairs(ctx context.Context, rng *rand.Rand, ranks [][]float64, tree []Edge) error {
	part := r.s.pairs[len(tree)]
	for _, e := range tree {
		x, y, pair := ranks[e.From], ranks[e.To], make([]float64, 2)
		counts, err := measure.Count(ctx, part.Domain(), func(yield func([]float64, error) bool) {
			for i := range x {
				if pair[0], pair[1] = x[i], y[i]; !yield(pair, nil) {
					return
				}
			}
		}, &measure.CountOptions{Workers: 1})
		if err != nil {
			return err
		}
		if e.Ranks, err = part.Release(rng, counts); err != nil {
			return err
		}
		r.edges, r.tables = append(r.edges, e), append(r.tables, newConditional(part.Domain(), e.Ranks))
	}
	return nil
}

// maxRows is such that scores, of N times a count, fit an int64.
const maxRows = math.MaxInt32
