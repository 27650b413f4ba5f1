package table

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/mechanism/measure/internal/gradual"
	"github.com/metricdp/metricdp/mechanism/measure/table/internal/population"
)

// source is a table as a release reads it: by methods that spend of a ledger, and whose results are
// public, as arguments are.
//
// What is released together is private at the level of the ledger: every result has, given those
// before, a probability that changes by at most e to the quanta spent; of counts that are refined
// the last levels count (package gradual), whose quanta are the sum of what was spent on them.
type source struct {
	noise  gradual.Noise
	ledger *gradual.Ledger
	delta  int64
	rows   int
	bin    [][]uint8 // of rows, by column: of public bins
}

// newSource takes the relation of neighbors. Let cells part the values of some columns. To add or
// remove a row changes the count of one cell by delta = 1; to replace one changes two by 1: delta =
// 2, in sum.
func newSource(noise gradual.Noise, l *gradual.Ledger, rel measure.Relation, rows int) *source {
	s := &source{noise: noise, ledger: l, delta: 1, rows: rows}
	if rel == measure.ReplaceOne {
		s.delta = 2
	}
	return s
}

// level is what a count gets for so many quanta, or else the other way.
func (s *source) level(q int64) float64      { return s.ledger.Rate(q) }
func (s *source) quanta(level float64) int64 { return s.ledger.Quanta(level) }

// left is the level of what is not spent.
func (s *source) left() float64 { return s.ledger.Rate(s.ledger.Left()) }

// total returns the number of rows where it is public, and else with the noise of q quanta,
// which it spends, and the variance of that: not so small that its inverse overflows.
func (s *source) total(q int64) (n int64, variance float64) {
	if s.delta == 2 {
		return int64(s.rows), 0
	}
	s.ledger.Spend(q)
	sh := math.Sinh(s.level(q) / 2)
	return s.noise.Count(int64(s.rows), q).Value(), max(1/(2*sh*sh), 1e-100)
}

// margin releases the counts of a column's values, by the counts of its cells: a tree every
// path of which spends q, and so does every cell. It spends delta q.
func (s *source) margin(c *column, counts *adaptive.Counts, q, total int64) *adaptive.Gradual {
	s.ledger.Spend(s.delta * q)
	rule, share := c.rule(float64(total) * s.level(q))
	first := int64(share * float64(q))
	tree := adaptive.DrawGradual(s.noise, c.space.Regions, counts, s.ledger, first, total, rule, maxRegions)
	tree.Refine(q-first, 0)
	return tree
}

// refineMargin spends delta q, of ordered values most on the parts of the first division.
func (s *source) refineMargin(c *column, m *adaptive.Gradual, q int64) {
	s.ledger.Spend(s.delta * q)
	top := int64(0)
	if c.ordered {
		top = int64(wideShare * float64(q))
	}
	m.Refine(q, top)
}

// cross is the counts of the cells of a grid: private, but for what public returns.
type cross struct {
	grid   population.Grid
	counts []gradual.Count
	quanta int64
}

// table releases the counts of the cells of a grid. It spends delta q.
func (s *source) table(grid population.Grid, n []int32, q int64) *cross {
	s.ledger.Spend(s.delta * q)
	c := &cross{grid: grid, quanta: q}
	for _, k := range n {
		c.counts = append(c.counts, s.noise.Count(int64(k), q))
	}
	return c
}

// refineTable spends delta q.
func (s *source) refineTable(c *cross, q int64) {
	s.ledger.Spend(s.delta * q)
	if c.quanta += q; q == 0 {
		return
	}
	for i := range c.counts {
		c.counts[i].Refine(q)
	}
}

// public is what was released.
func (s *source) public(c *cross) population.Table {
	t := population.Table{Grid: c.grid, Scale: 1 / s.level(c.quanta)}
	for i := range c.counts {
		t.Counts = append(t.Counts, float64(c.counts[i].Value()))
	}
	return t
}

// count returns the numbers of rows in the cells of a grid: private.
func (s *source) count(grid population.Grid) []int32 {
	n := make([]int32, grid.Cells())
	offsets := grid.Offsets()
	for i := range s.rows {
		c := int32(0)
		for k, a := range grid.Columns {
			c += offsets[k][s.bin[a][i]]
		}
		n[c]++
	}
	return n
}

// counts are those of all grids.
func (s *source) counts(ctx context.Context, grids []population.Grid) ([][]int32, error) {
	out := make([][]int32, len(grids))
	return out, parallel.Each(ctx, len(grids), 1, func(i int) error {
		out[i] = s.count(grids[i])
		return nil
	})
}

// pick returns the set of columns whose counts n are farthest from what is expected, or -1 for
// none, by noisy scores. It spends 2 delta q. The score of a set is the sum of |n_c - m_c| over its
// cells, m whole and public, less a public cost: it changes by at most delta between neighbors.
// That of none is public. See [gradual.Noise].
func (s *source) pick(n [][]int32, expected []population.Prediction, none float64, q int64) int {
	s.ledger.Spend(2 * s.delta * q)
	scores, sets := []int64{whole(none)}, []int{-1}
	for i := range n {
		if n[i] == nil {
			continue
		}
		score := -whole(expected[i].Cost)
		for c, m := range expected[i].Counts {
			d := int64(n[i][c]) - whole(float64(m))
			score += max(d, -d)
		}
		scores, sets = append(scores, score), append(sets, i)
	}
	return sets[s.noise.Greatest(scores, q)]
}

// whole is a public number, such that sums over 2^15 cells are less than 2^62.
func whole(x float64) int64 { return int64(math.Round(min(max(x, -1<<44), 1<<44))) }

// maxRegions is how many a margin may have, and maxRows is such that scores fit an int64.
const (
	maxRegions = 1 << 20
	maxRows    = math.MaxInt32
)
