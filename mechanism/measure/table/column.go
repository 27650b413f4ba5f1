package table

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/table/internal/population"
)

// column is a column of a table: public.
type column struct {
	space   *region.Space[[]float64]
	lo, hi  int  // its entries in a row: lo <= i < hi
	values  int  // how many it has, or more than manyValues
	unlike  bool // values have no order
	ordered bool // values in a row are like one another
	wide    wide // their first division
}

// fewValues are always counted one by one, and manyValues never.
const fewValues, manyValues = 64, 512

func newColumn(c domain.Column, from int) (*column, error) {
	d, err := domain.NewBox([]domain.Column{c}, nil)
	if err != nil {
		return nil, err
	}
	space, err := region.Of[[]float64]("table: New", d)
	if err != nil {
		return nil, err
	}
	out := &column{space: space, lo: from, hi: from + 1, unlike: c.Categories > 0}
	if c.Radius > 0 { // a place
		out.hi++
	}
	out.ordered = !out.unlike && c.Radius == 0 && c.Taxonomy == nil
	if out.wide.levels = wideLevels; c.Missing {
		out.wide.levels++
	}
	if t := space.Regions; space.Cells <= 4*manyValues {
		out.values = len(t.Below(nil, region.Node{}, t.Height(region.Node{})))
	} else {
		out.values = space.Cells
	}
	return out, nil
}

const (
	wideLevels = 6   // of what is there in an ordered column, 64 parts,
	wideShare  = 0.8 // of the budget, from
	wideFrom   = 50  // rows times level on
	manyRows   = 500 // times level
	perLoad    = 0.5 // values, for each row times level
)

// rule divides the tree of values, and share is the part of the budget with which it does: the rest
// goes to leaves. load is rows times the level of the budget. By simulation of total variation in
// 64 parts.
func (c *column) rule(load float64) (rule adaptive.Rule, share float64) {
	height := c.space.Regions.Height(region.Node{})
	switch {
	case c.values <= fewValues || float64(c.values) <= min(perLoad*load, manyValues):
		return adaptive.Fixed{Steps: []int{max(height, 1)}, Shares: []float64{1}}, 1
	case c.ordered && load >= wideFrom:
		return c.wide, 1
	case load < manyRows:
		return adaptive.Adaptive{}, 0.8
	}
	return adaptive.Adaptive{}, 0.5
}

// wide is adaptive but for the root.
type wide struct {
	adaptive.Adaptive
	levels int
}

func (w wide) Levels(s *adaptive.State, width func(int) int) int {
	if s.Divisions == 0 {
		return min(w.levels, s.Height)
	}
	return w.Adaptive.Levels(s, width)
}

func (w wide) Quanta(s *adaptive.State, shape adaptive.Shape) int64 {
	if s.Divisions == 0 {
		return int64(wideShare * float64(s.Left))
	}
	return max(w.Adaptive.Quanta(s, shape), s.Left/2)
}

// margin is what was released of a column: regions that part its values, and bins of them.
type margin struct {
	*column
	nodes    []region.Node // in the order of their cells
	at       []int         // in the tree
	mass     []float64
	variance []float64 // in the tree
	bin      []uint8   // of nodes
	size     int       // bins
	of       [][]int   // the nodes of a bin
}

// newMargin lists the leaves of a tree.
func newMargin(c *column, tree *adaptive.Release) *margin {
	m := &margin{column: c}
	for i, n := range tree.Nodes {
		if n.Parts == 0 {
			m.at = append(m.at, i)
		}
	}
	first := func(i int) int { lo, _ := c.space.Regions.Cells(tree.Nodes[i].At); return lo }
	slices.SortFunc(m.at, func(i, j int) int { return first(i) - first(j) })
	for _, i := range m.at {
		m.nodes = append(m.nodes, tree.Nodes[i].At)
	}
	m.mass = make([]float64, len(m.at))
	return m
}

// read takes the masses from the tree, of sum total. Those of ordered values are piecewise constant
// where the noise hides more.
func (m *margin) read(tree *adaptive.Gradual, total int64) {
	var smooth func(y []float64, variance float64) []float64
	if m.ordered {
		smooth = population.Segments
	}
	m.variance = tree.Estimate(total, smooth)
	for l, i := range m.at {
		m.mass[l] = tree.Nodes[i].Mass
	}
}

// noise returns the variance of each bin's mass: the sum of those of the largest regions in it.
func (m *margin) noise(tree *adaptive.Gradual) []float64 {
	out, in := make([]float64, m.size), make([]int, len(tree.Nodes))
	for l, i := range m.at {
		in[i] = int(m.bin[l])
	}
	const several = -1
	for i := len(in) - 1; i >= 0; i-- {
		n := &tree.Nodes[i]
		for j := n.First; j < n.First+n.Parts; j++ {
			if j == n.First {
				in[i] = in[j]
			} else if in[i] != in[j] {
				in[i] = several
			}
		}
		for j := n.First; in[i] == several && j < n.First+n.Parts; j++ {
			if in[j] != several {
				out[in[j]] += m.variance[j]
			}
		}
	}
	if in[0] != several {
		out[in[0]] = min(m.variance[0], 1e100) // and not infinite
	}
	return out
}

// there is how many nodes are not those of what is missing, which are the last.
func (m *margin) there() int {
	last := len(m.nodes) - 1
	if last > 0 && math.IsNaN(m.space.At(nil, m.nodes[last])[0]) {
		return last
	}
	return len(m.nodes)
}

// merge puts counts of values, or of bins, into at most most bins, and what is missing, the last
// where it is there, into one more.
func (m *margin) merge(counts []float64, there, most int) []uint8 {
	bins := population.Bins(counts[:there], !m.unlike, most)
	for range counts[there:] {
		bins = append(bins, uint8(population.Size(bins)))
	}
	return bins
}

// divide makes bins.
func (m *margin) divide() {
	m.bin = m.merge(m.mass, m.there(), population.MostBins)
	m.size = population.Size(m.bin)
	m.of = make([][]int, m.size)
	for i, b := range m.bin {
		m.of[b] = append(m.of[b], i)
	}
}

// groups merges the bins into at most most groups.
func (m *margin) groups(most int) []uint8 {
	counts := population.Sum(m.mass, m.bin, m.size)
	missing := len(m.nodes) - m.there()
	return m.merge(counts, m.size-missing, max(1, most-missing))
}

// binsOf are those of cells.
func (m *margin) binsOf(cells []int) []uint8 {
	first, out := make([]int, len(m.nodes)), make([]uint8, len(cells))
	for i, v := range m.nodes {
		first[i], _ = m.space.Regions.Cells(v)
	}
	for i, c := range cells {
		out[i] = m.bin[max(0, sort.SearchInts(first, c+1)-1)]
	}
	return out
}

// bounds returns the least and the largest entries of every bin.
func (m *margin) bounds() (lo, hi [][]float64) {
	width := m.hi - m.lo
	lo, hi = make([][]float64, m.size), make([][]float64, m.size)
	for i, v := range m.nodes {
		x, y := make([]float64, width), make([]float64, width)
		m.space.Bounds(x, y, v)
		b := m.bin[i]
		if lo[b] == nil {
			lo[b], hi[b] = x, y
			continue
		}
		for e := range x {
			lo[b][e], hi[b][e] = min(lo[b][e], x[e]), max(hi[b][e], y[e])
		}
	}
	return lo, hi
}

// values draws a value for each of n bins in a row: within a bin nodes get their shares to within
// one. The error is the context's.
func (m *margin) values(ctx context.Context, rng *rand.Rand, bins []uint8) ([][]float64, error) {
	rows := make([][]int, m.size)
	for i, b := range bins {
		rows[b] = append(rows[b], i)
	}
	out := make([][]float64, len(bins))
	for b, rows := range rows {
		if len(rows) == 0 {
			continue
		}
		var mass []float64
		for _, i := range m.of[b] {
			mass = append(mass, m.mass[i])
		}
		from, err := population.Spread(ctx, rng, mass, len(rows))
		if err != nil {
			return nil, err
		}
		for k, i := range from {
			if k%(1<<12) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			out[rows[k]] = m.space.At(rng, m.nodes[m.of[b][i]])
		}
	}
	return out, nil
}
