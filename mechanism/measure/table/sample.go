package table

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

// Release is what a [Synthesizer] publishes: the margins of all columns, and the
// ranks of some pairs. Everything about it is private at the Synthesizer's level,
// however often it is used. It must not be modified.
type Release struct {
	// Total is the number of rows under ReplaceOne, and a noisy number under
	// AddRemoveOne, which may even be negative.
	Total float64

	s       *Synthesizer
	margins []*measure.Release[[]float64]
	axes    []*axis
	edges   []Edge
	tables  []*conditional // of the edges
}

func (r *Release) check(op string) error {
	return fault.Made(r != nil && r.s != nil, op, "Release", "Synthesizer.Release")
}

// Edges returns the pairs of columns that were released together: a forest, from
// the roots down.
func (r *Release) Edges() []Edge {
	return slices.Clone(fault.Must(r, r.check("table: Release.Edges")).edges)
}

// Margins returns the measures of all columns, with errors in the unit of the column.
// Columns of a [Schema] have shares of the range: of a number with weight 1 an error is
// that many times Hi - Lo.
func (r *Release) Margins() []*measure.Release[[]float64] {
	return slices.Clone(fault.Must(r, r.check("table: Release.Margins")).margins)
}

// axis lays the values of a column out on [0, 1], its ranks: a region of the margin
// has an interval as long as its mass, in the order of the tree.
type axis struct {
	m           *measure.Release[[]float64]
	first, last []int     // the cells of regions: first <= c < last
	ends        []float64 // of their intervals
}

func newAxis(m *measure.Release[[]float64]) *axis {
	x := &axis{m: m}
	sum := 0.0
	for i, w := range m.Weights {
		lo, hi := m.Cells(i)
		sum += w
		x.first, x.last, x.ends = append(x.first, lo), append(x.last, hi), append(x.ends, sum)
	}
	return x
}

// start is where the interval of region k begins.
func (x *axis) start(k int) float64 {
	if k == 0 {
		return 0
	}
	return x.ends[k-1]
}

// rank returns a rank of what is in a cell, drawn from the interval of its region.
func (x *axis) rank(rng *rand.Rand, cell int) float64 {
	k := sort.SearchInts(x.last, cell+1)
	if k == len(x.last) {
		return 1
	}
	u := x.start(k)
	if cell >= x.first[k] {
		u += float64(rng.Float64() * (x.ends[k] - u))
	}
	return min(u, 1)
}

// value returns what has a rank, drawn from its region.
func (x *axis) value(rng *rand.Rand, u float64) []float64 {
	k := sort.Search(len(x.ends), func(k int) bool { return x.ends[k] > u })
	return x.m.Jitter(rng, min(k, len(x.ends)-1))
}

// ranks returns the ranks of all rows, by column. A row's are drawn by itself, so
// that for each draw neighbors stay neighbors.
func (r *Release) ranks(ctx context.Context, rng *rand.Rand, rows [][]float64) ([][]float64, error) {
	out := make([][]float64, len(r.axes))
	for a, x := range r.axes {
		lo, hi, d := r.s.from[a], r.s.from[a+1], r.s.margins[a].Domain()
		out[a] = make([]float64, len(rows))
		for i, row := range rows {
			if i%4096 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			cell, err := d.Cell(row[lo:hi])
			if err != nil {
				return nil, fmt.Errorf("row %d, column %d: %w", i, a, err)
			}
			out[a][i] = x.rank(rng, cell)
		}
	}
	return out, nil
}

// conditional draws the second rank of a pair given the first. Intervals of regions
// along an axis are nested or disjoint, so those around a rank are the innermost and
// what it is part of.
type conditional struct {
	spans []span // by lo, and the longer first
}

// span is an interval of the first rank.
type span struct {
	lo, hi float64
	within int       // the least span around it, or -1
	sums   []float64 // of the densities of regions
	out    [][2]float64
}

func newConditional(d *domain.Domain[[]float64], m *measure.Release[[]float64]) *conditional {
	half := math.Exp2(-float64(bits.Len(uint(d.Len()))-1)/2 - 1) // of a cell, a square
	type region struct {
		lo, hi [2]float64
		w      float64
	}
	var all []region
	for i, w := range m.Weights {
		lo, hi := m.Cells(i)
		p, q := d.Point(lo), d.Point(hi-1)
		all = append(all, region{[2]float64{p[0] - half, p[1] - half}, [2]float64{q[0] + half, q[1] + half}, w})
	}
	slices.SortStableFunc(all, func(x, y region) int { return cmp.Or(cmp.Compare(x.lo[0], y.lo[0]), cmp.Compare(y.hi[0], x.hi[0])) })
	t := &conditional{}
	for _, x := range all {
		if n := len(t.spans); n == 0 || t.spans[n-1].lo != x.lo[0] || t.spans[n-1].hi != x.hi[0] {
			within := n - 1
			for within >= 0 && t.spans[within].hi < x.hi[0] {
				within = t.spans[within].within
			}
			t.spans = append(t.spans, span{lo: x.lo[0], hi: x.hi[0], within: within})
		}
		s := &t.spans[len(t.spans)-1]
		s.sums = append(s.sums, s.density()+x.w/(x.hi[0]-x.lo[0]))
		s.out = append(s.out, [2]float64{x.lo[1], x.hi[1]})
	}
	return t
}

func (s *span) density() float64 {
	if len(s.sums) == 0 {
		return 0
	}
	return s.sums[len(s.sums)-1]
}

// draw returns the second rank. Where no mass is around u, that of the nearest.
func (t *conditional) draw(rng *rand.Rand, u float64) float64 {
	next := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].lo > u })
	at, total := next-1, 0.0
	for at >= 0 && t.spans[at].hi < u {
		at = t.spans[at].within
	}
	if at < 0 {
		return t.draw(rng, t.nearest(u, next))
	}
	for i := at; i >= 0; i = t.spans[i].within {
		total += t.spans[i].density()
	}
	z := float64(rng.Float64() * total)
	for t.spans[at].within >= 0 && z >= t.spans[at].density() {
		z -= t.spans[at].density()
		at = t.spans[at].within
	}
	s := &t.spans[at]
	i := min(sort.SearchFloat64s(s.sums, z), len(s.sums)-1)
	return s.out[i][0] + float64(rng.Float64()*(s.out[i][1]-s.out[i][0]))
}

// nearest returns the end of a span that is nearest to u, which is in none; next is
// the first span behind it.
func (t *conditional) nearest(u float64, next int) float64 {
	if next == 0 {
		return t.spans[0].lo
	}
	last := next - 1 // and what is around it, which ends last
	for t.spans[last].within >= 0 {
		last = t.spans[last].within
	}
	before := t.spans[last].hi
	if next < len(t.spans) && t.spans[next].lo-u < u-before {
		return t.spans[next].lo
	}
	return before
}

const (
	leastBatch = 1 << 14 // of rows that are drawn together
	mostBatch  = 1 << 20 // ranks, and leastBatch rows
	mostTries  = 100     // for a row
)

// Records returns m rows in random order, or Total rounded, at least 1, where m is
// 0. They are made in batches of 2^14 or more, in each of which every column has its
// margin to within a row, before impossible rows are left out. It is an
// error if those are more than 99 in 100. O(m columns).
func (r *Release) Records(ctx context.Context, rng *rand.Rand, m int) ([][]float64, error) {
	const op = "table: Release.Records"
	if err := r.check(op); err != nil {
		return nil, err
	}
	if m == 0 {
		m = int(max(1, min(maxRows, math.Round(r.Total))))
	}
	if m < 0 || m > maxRows {
		return nil, fault.Value(op, "m", float64(m), fmt.Sprintf("an integer in [0, %d]", maxRows))
	}
	width := r.s.from[len(r.axes)]
	if err := fault.Memory(op, float64(max(m, leastBatch)), 24+8*width+16*len(r.axes)); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	rows := make([][]float64, 0, m)
	for made := 0; len(rows) < m; {
		if made > max(mostTries*m, 4*leastBatch) {
			return nil, fmt.Errorf("%s: Possible leaves %d of %d rows", op, len(rows), made)
		}
		n := max(min(m-len(rows), mostBatch/len(r.axes)), leastBatch)
		made += n
		batch, err := r.batch(ctx, rng, n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		for i := range batch[0] {
			if len(rows) == m {
				break
			}
			if i%1024 == 0 && ctx.Err() != nil {
				return nil, fmt.Errorf("%s: %w", op, ctx.Err())
			}
			x := make([]float64, 0, width)
			for a := range r.axes {
				x = append(x, r.axes[a].value(rng, batch[a][i])...)
			}
			if r.s.opt.Possible == nil || r.s.opt.Possible(x, x) {
				rows = append(rows, x)
			}
		}
	}
	return rows, nil
}

// batch returns the ranks of n rows, by column. Those of a column are spread evenly:
// what is drawn tells their order.
func (r *Release) batch(ctx context.Context, rng *rand.Rand, n int) ([][]float64, error) {
	out := make([][]float64, len(r.axes))
	order := make([]int, n)
	fill := func(a int, draw func(i int) float64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := make([]float64, n)
		for i := range u {
			u[i], order[i] = draw(i), i
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(u[i], u[j]) })
		for k, i := range order {
			u[i] = (float64(k) + float64(rng.Float64())) / float64(n)
		}
		out[a] = u
		return nil
	}
	to := make([]int, len(r.axes)) // the edge to a column, plus one
	for e, x := range r.edges {
		to[x.To] = e + 1
	}
	for a := range out { // the roots
		if to[a] == 0 {
			if err := fill(a, func(int) float64 { return rng.Float64() }); err != nil {
				return nil, err
			}
		}
	}
	for e, x := range r.edges {
		from := out[x.From]
		if err := fill(x.To, func(i int) float64 { return r.tables[e].draw(rng, from[i]) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}
