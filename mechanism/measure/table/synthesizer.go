package table

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/mechanism/measure/internal/gradual"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/table/internal/population"
	"github.com/metricdp/metricdp/metric"
)

// Options are for [New]; nil and zero mean the defaults.
type Options struct {
	// Relation names the neighbors that are protected from one another.
	Relation measure.Relation
	// PerPerson, where not 0, makes eps the level of a person with up to so many rows
	// ([Synthesizer.ReleasePersons]). Relation must then be AddRemoveOne.
	PerPerson int
	// Possible, where not nil, reports whether there may be a row with lo[i] <= x[i] <= hi[i] in
	// all its entries, as domain.BoxOptions.Possible does. It is asked about boxes and the rows
	// that are made, not about those that are counted.
	Possible func(lo, hi []float64) bool
}

const maxColumns = 256

// Synthesizer releases a table by its columns and by the pairs of columns that say most, and makes
// rows that fit them. It is eps-differentially private for the neighbors of Options.Relation,
// exactly: counts and noise are integers, drawn with exactly the stated probabilities.
//
// The time and memory that a release takes depend on private data: do not let an adversary measure
// them. Immutable and safe for concurrent use. The zero value releases nothing.
//
// Sources: those of the overview, McKenna, Sheldon, "Permute-and-flip", 2020, and Ding et al.,
// "The permute-and-flip mechanism is identical to report-noisy-max with exponential noise", 2021.
type Synthesizer struct {
	columns []domain.Column
	opt     Options
	parts   []*column
	width   int     // entries of a row
	eps     float64 // of a row
	g       mechanism.Guarantee
}

// New returns a Synthesizer of level eps, in [1e-9, 1e9], for rows of the given columns, which have
// one entry for each and two for a place. Errors are [metric.ErrEmpty], *[metric.ValueError],
// *[metric.SizeError] for more than 256 columns, and those of [domain.NewBox].
func New(columns []domain.Column, eps float64, o *Options) (*Synthesizer, error) {
	const op = "table: New"
	if err := fault.Empty(op, "columns", len(columns)); err != nil {
		return nil, err
	}
	if len(columns) > maxColumns {
		return nil, &metric.SizeError{Op: op, Arg: "columns", Got: len(columns), Want: fmt.Sprintf("at most %d", maxColumns)}
	}
	if !(eps >= leastLevel && eps <= mostLevel) {
		return nil, fault.Value(op, "eps", eps, "a number in [1e-9, 1e9]")
	}
	s := &Synthesizer{columns: slices.Clone(columns)}
	if o != nil {
		s.opt = *o
	}
	level, unit, err := region.PerRecord(op, s.opt.Relation, s.opt.PerPerson, eps, leastLevel)
	if err != nil {
		return nil, err
	}
	s.eps = level
	for i, c := range s.columns {
		part, err := newColumn(c, s.width)
		if err != nil {
			return nil, fmt.Errorf("%s: column %d: %w", op, i, err)
		}
		s.parts, s.width = append(s.parts, part), part.hi
	}
	s.g, err = mechanism.NewGuarantee(directed.MulUp(gradual.NewLedger(s.eps).Loss(), float64(max(s.opt.PerPerson, 1))), 0, unit)
	return s, err
}

const leastLevel, mostLevel = 1e-9, 1e9

func (s *Synthesizer) check(op string) error {
	return fault.Made(s != nil && s.columns != nil, op, "Synthesizer", "New")
}

// Guarantee is the level per row replaced, or per row or person added or removed; a zero
// Synthesizer promises nothing.
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

// Release releases a table, whose rows have the entries of the columns in their order. Errors are
// those of [measure.Count]: the first row of another length, or with a value that its column does
// not have; [metric.ErrEmpty] for no rows under ReplaceOne; [measure.ErrPersons] with
// Options.PerPerson; that no possible row is found; and that of ctx. The last two come after draws:
// another attempt is another release. O(rows columns^2), and a second or more for the rows.
func (s *Synthesizer) Release(ctx context.Context, rng *rand.Rand, rows [][]float64) (*Release, error) {
	const op = "table: Synthesizer.Release"
	if err := s.check(op); err != nil {
		return nil, err
	}
	if s.opt.PerPerson > 0 {
		return nil, fmt.Errorf("%s: %w: with PerPerson call ReleasePersons", op, measure.ErrPersons)
	}
	return s.release(ctx, op, rng, rows, nil)
}

// ReleasePersons is [Synthesizer.Release] of the first Options.PerPerson rows of each person.
// Without PerPerson it is [measure.ErrPersons]. Where later rows differ from the first, as in time,
// bring them in random order.
func (s *Synthesizer) ReleasePersons(ctx context.Context, rng *rand.Rand, rows []measure.Row[string, []float64]) (*Release, error) {
	const op = "table: Synthesizer.ReleasePersons"
	if err := s.check(op); err != nil {
		return nil, err
	}
	if s.opt.PerPerson == 0 {
		return nil, fmt.Errorf("%s: %w: PerPerson is not set, call Release", op, measure.ErrPersons)
	}
	seen := make(map[string]int)
	var kept [][]float64
	var from []int
	for i, row := range rows {
		if seen[row.Person]++; seen[row.Person] <= s.opt.PerPerson {
			kept, from = append(kept, row.Record), append(from, i)
		}
	}
	return s.release(ctx, op, rng, kept, from)
}

// release names rows in errors by their numbers in from, where it is not nil.
//
// Every column is counted on a tree of its values, whose regions are merged into bins. A
// population of rows of bins says what is expected of each pair; the pair whose counts are
// farthest from that is picked by noisy scores and counted with noise, and the population is
// made to fit; and so on, until no pair is better than none. What is left of the budget refines
// all counts. Picks are private by a proof beside the code, and each takes whole quanta off a
// ledger that holds what Guarantee states.
func (s *Synthesizer) release(ctx context.Context, op string, rng *rand.Rand, rows [][]float64, from []int) (*Release, error) {
	number := func(i int) int {
		if from != nil {
			return from[i]
		}
		return i
	}
	if len(rows) > maxRows {
		return nil, &metric.SizeError{Op: op, Arg: "rows", Got: len(rows), Want: fmt.Sprintf("at most %d", maxRows)}
	}
	if s.opt.Relation == measure.ReplaceOne {
		if err := fault.Empty(op, "rows", len(rows)); err != nil {
			return nil, err
		}
	}
	for i, x := range rows {
		if len(x) != s.width {
			return nil, &metric.SizeError{Op: op, Arg: fmt.Sprintf("rows[%d]", number(i)), Got: len(x), Want: fmt.Sprint(s.width)}
		}
	}
	if err := fault.Memory(op, float64(len(rows)), 9*len(s.columns)); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	ledger := gradual.NewLedger(s.eps)
	cells, err := s.locate(ctx, rows, number)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	out, err := s.build(ctx, rng, newSource(gradual.NewNoise(rng, ledger), ledger, s.opt.Relation, len(rows)), cells)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return out, nil
}

// Pair is a pair of columns, A < B.
type Pair struct{ A, B int }

const (
	totalShare = 0.01    // of the budget, for a private number of rows
	pickRows   = 6000    // of the population while pairs are picked
	leastRows  = 1000    // then, too
	mostRows   = 1 << 17 // of the population in the end
	pickSweeps = 3
	lastSweeps = 40
)

// build counts rows of the given cells, by column, and makes the population by the rng.
func (s *Synthesizer) build(ctx context.Context, rng *rand.Rand, src *source, cells [][]int) (*Release, error) {
	r, k := &Release{s: s}, len(s.parts)
	n, varN := src.total(src.quanta(totalShare * src.left()))
	total := func(trees []*adaptive.Gradual) int64 {
		if varN == 0 {
			return max(1, n)
		}
		sum, weight := float64(n)/varN, 1/varN
		for _, t := range trees {
			if m, v := t.Sum(); !math.IsInf(v, 1) {
				sum, weight = sum+m/v, weight+1/v
			}
		}
		return int64(min(max(1, math.Round(sum/weight)), maxRows))
	}
	now := total(nil)
	values := make([]int, k)
	for a, c := range s.parts {
		values[a] = c.space.Cells
	}
	levels := population.NewLevels(src.left()*roundDown, float64(now), values, int(src.delta))
	quanta := make([]int64, k)
	trees := make([]*adaptive.Gradual, k)
	for a, c := range s.parts {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		quanta[a] = src.quanta(levels.Margins[a])
		trees[a] = src.margin(c, adaptive.NewCounts(adaptive.Tally(slices.Clone(cells[a]))), quanta[a], now)
		r.margins = append(r.margins, newMargin(c, trees[a].Release))
	}
	now = total(trees)
	size, targets := make([]int, k), make([][]float64, k)
	src.bin = make([][]uint8, k)
	for a, m := range r.margins {
		m.read(trees[a], now)
		m.divide()
		size[a], targets[a] = m.size, population.Sum(m.mass, m.bin, m.size)
		src.bin[a] = m.binsOf(cells[a])
	}
	p, err := population.New(rng, size, targets, int(min(max(now, leastRows), pickRows)), r.allowed())
	if err != nil {
		return nil, err
	}
	picked, picks, err := r.pickPairs(ctx, src, p, &levels, size)
	if err != nil {
		return nil, err
	}
	margins, rest := levels.Rest(grids(picked), picks)
	for a, t := range trees {
		src.refineMargin(s.parts[a], t, max(0, src.quanta(margins[a])-quanta[a]))
	}
	for i, c := range picked {
		src.refineTable(c, max(0, src.quanta(rest[i])-c.quanta))
		r.tables = append(r.tables, src.public(c))
	}
	now = total(trees)
	r.Total = float64(now)
	for a, m := range r.margins {
		m.read(trees[a], now)
		m.mass = population.Combine(m.mass, m.noise(trees[a]), m.bin, a, m.size, r.tables, float64(now))
		targets[a] = population.Sum(m.mass, m.bin, m.size)
	}
	if err := p.Finish(ctx, targets, r.tables, int(min(max(now, 1), mostRows)), lastSweeps); err != nil {
		return nil, err
	}
	r.bins = p.Rows()
	return r, nil
}

// roundDown is more than rounding adds to the sum of the parts' levels.
const roundDown = 1 - 0x1p-30

// locate returns the cells of the rows, by column. Errors name rows by their numbers.
func (s *Synthesizer) locate(ctx context.Context, rows [][]float64, number func(i int) int) ([][]int, error) {
	out := make([][]int, len(s.parts))
	for a := range out {
		out[a] = make([]int, len(rows))
	}
	return out, parallel.Each(ctx, len(out), 1, func(a int) error {
		c := s.parts[a]
		for i, x := range rows {
			if i%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			var err error
			if out[a][i], err = c.space.Locate(x[c.lo:c.hi:c.hi]); err != nil {
				return fmt.Errorf("row %d, column %d: %w", number(i), a, err)
			}
		}
		return nil
	})
}

// pickPairs picks pairs and releases their tables, to which the population is made to fit; picks is how
// often it spent the level of one.
func (r *Release) pickPairs(ctx context.Context, src *source, p *population.Population, levels *population.Levels, size []int) (picked []*cross, picks int, err error) {
	if levels.Picks == 0 {
		return nil, 0, nil
	}
	var all []population.Grid
	group := func(a, most int) []uint8 { return r.margins[a].groups(most) }
	for b := range size {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		for a := range b {
			cells := levels.CellsOf(!r.margins[a].unlike, !r.margins[b].unlike)
			all = append(all, population.NewGrid(size, group, cells, a, b))
		}
	}
	levels.Consider(all)
	n, err := src.counts(ctx, all)
	if err != nil {
		return nil, 0, err
	}
	q := src.quanta(levels.Pick / float64(2*src.delta))
	expected := make([]population.Prediction, len(all))
	some := func(n []int32) bool { return n != nil }
	for len(picked) < levels.Picks && slices.ContainsFunc(n, some) {
		first, others := len(picked) == 0, grids(picked)
		err := parallel.Each(ctx, len(all), 1, func(i int) error {
			if n[i] != nil && !levels.Fits(others, all[i]) {
				n[i] = nil // nor later
			}
			if n[i] != nil {
				expected[i] = p.Predict(levels.Scale(others, all[i]), first, all[i])
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		none := population.Threshold(len(all), first) / src.level(q)
		best := src.pick(n, expected, none, q)
		if picks++; best < 0 {
			break
		}
		c := src.table(all[best], n[best], src.quanta(levels.Pair(all[best])))
		n[best] = nil
		picked, r.pairs = append(picked, c), append(r.pairs, Pair{all[best].Columns[0], all[best].Columns[1]})
		p.Add(src.public(c))
		if err := p.Sweep(ctx, pickSweeps); err != nil {
			return nil, 0, err
		}
	}
	return picked, picks, nil
}

// grids are those of tables.
func grids(tables []*cross) (out []population.Grid) {
	for _, c := range tables {
		out = append(out, c.grid)
	}
	return out
}

// allowed is Options.Possible on rows of bins.
func (r *Release) allowed() func(bins []int) bool {
	if r.s.opt.Possible == nil {
		return nil
	}
	k := len(r.margins)
	los, his := make([][][]float64, k), make([][][]float64, k)
	for a, m := range r.margins {
		los[a], his[a] = m.bounds()
	}
	return func(bins []int) bool {
		lo, hi := make([]float64, 0, r.s.width), make([]float64, 0, r.s.width)
		for a, b := range bins {
			lo, hi = append(lo, los[a][b]...), append(hi, his[a][b]...)
		}
		return r.s.opt.Possible(lo, hi)
	}
}
