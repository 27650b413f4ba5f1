package measure

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// Column is one coordinate of a box: a number in a range, or a category.
type Column struct {
	// Lo < Hi are the bounds of a numeric column. They must be public: read off
	// the data they leak its extremes. For whole numbers from a to b take a-0.5
	// and b+0.5, and round what is released: post-processing is free.
	Lo, Hi float64
	// Categories, where positive, makes this a column of categories, the whole
	// numbers 0 to Categories-1, any two at distance 1. Lo and Hi are not read.
	Categories int
	// Weight multiplies the distances of the column, so that columns in different
	// units compare; 0 means 1, and 1/(Hi-Lo) gives every column length 1.
	// Without any Weight [NewBox] refuses numeric columns of very different
	// ranges.
	Weight float64
}

// Outside says what becomes of records outside the bounds.
type Outside int

const (
	// Clip moves a number to the nearer bound. How many records were clipped is
	// private and nowhere reported.
	Clip Outside = iota
	// Refuse makes them errors, which tells that there are any.
	Refuse
)

// BoxOptions are the settings of [NewBox]. One of Signal, Depth and Splits is
// needed; the rest may be zero.
type BoxOptions struct {
	// Signal is about the number of records times eps, which the best size of
	// cells depends on. It must be public: a guess will do.
	Signal float64
	// Depth sets cells of side 2^-Depth of the geometric mean of the box's sides.
	Depth float64
	// Arity is about how many children a node has: 0 means 16, and 64 in three
	// dimensions; from four on 2 a dimension. Splits leave it no choice.
	Arity int
	// Splits is the whole plan: level l cuts every cell into Splits[l][a] parts
	// along column a. Categories are cut into 1 or all, and once into all.
	Splits [][]int
	// P is the norm of the product metric of the columns, in [1, +Inf]; 0 means
	// +Inf, the largest difference of any column.
	P float64
	// Outside is what becomes of records out of bounds.
	Outside Outside
	// Lazy unfolds cells on demand, where there are too many to hold. A release
	// then leaves out the averages of [Weighted], and its time and memory depend
	// on private data: see [Synthesizer].
	Lazy bool
}

// check applies the defaults, or says what is wrong.
func (o *BoxOptions) check(op string) error {
	if o.P == 0 {
		o.P = math.Inf(1)
	}
	if !(o.P >= 1) {
		return fault.Value(op, "P", o.P, "a number in [1, +Inf]")
	}
	if o.Outside != Clip && o.Outside != Refuse {
		return fault.Value(op, "Outside", float64(o.Outside), "Clip or Refuse")
	}
	if o.Splits == nil {
		return nil
	}
	left := func(arg string, v float64) error {
		if v != 0 {
			return fault.Value(op, arg, v, "0 where Splits are given")
		}
		return nil
	}
	return cmp.Or(left("Signal", o.Signal), left("Depth", o.Depth), left("Arity", float64(o.Arity)))
}

// NewBox returns a product of columns cut into cells: points of R^d, or rows
// with numbers and categories. A record is one number a column, as many as
// there are columns, and never NaN; it is only read during the call.
//
// By default there are about Signal cells, Signal/16 on the line, 4 Signal in
// three dimensions and more, in levels of equal arity: the best in simulation.
// Sides may be cut into any number of parts. Categories that cells of this size
// would leave together, because numbers reach further, are told apart below
// them. Noise scales are equal on the line, and otherwise prop. to the fourth
// root of a node's side.
//
// Errors are [metric.ErrEmpty], *[metric.ValueError], *[metric.SizeError], and
// *[metric.MemoryError] for more than 2^26 cells unless Lazy. Where Signal
// alone says how to cut and no Weight is set, it is an error if one numeric
// column gets a single cell and another more than 8; a Weight set to 1 allows
// it. O(cells).
func NewBox(columns []Column, o *BoxOptions) (*Domain[[]float64], error) {
	const op = "measure: NewBox"
	if err := fault.Empty(op, "columns", len(columns)); err != nil {
		return nil, err
	}
	opt := orZero(o)
	if err := opt.check(op); err != nil {
		return nil, err
	}
	var err error
	b := &box{p: opt.P, refuse: opt.Outside == Refuse, columns: slices.Clone(columns), ext: make([]extent, len(columns))}
	for i := range b.columns {
		if b.ext[i], err = b.columns[i].check(op, i); err != nil {
			return nil, err
		}
	}
	splits := opt.Splits
	if splits == nil {
		cells, h, err := size{opt.Signal, opt.Depth, opt.Arity}.plan(op, "Depth or Splits", b.ext)
		if err != nil {
			return nil, err
		}
		splits = separate(b.ext, planLevels(b.ext, cells, h))
	}
	if b.grid, err = newGrid(op, splits, len(columns)); err != nil {
		return nil, err
	}
	if opt.Splits == nil && opt.Depth == 0 {
		if err := b.checkUnits(op, columns); err != nil {
			return nil, err
		}
	}
	for a, c := range b.columns {
		if c.Categories == 0 {
			continue
		}
		for l, row := range splits {
			if row[a] != 1 && row[a] != c.Categories {
				return nil, &fault.ValueError{Op: op, Arg: fmt.Sprintf("Splits[%d]", l), Index: a, Value: float64(row[a]), Want: fmt.Sprintf("1 or %d", c.Categories)}
			}
		}
		if n := b.parts[len(splits)][a]; n != c.Categories {
			return nil, &fault.ValueError{Op: op, Arg: "Splits.column", Index: a, Value: float64(n), Want: fmt.Sprintf("%d parts in all, one a category", c.Categories)}
		}
	}
	return b.domain(op, opt.Lazy)
}

// box is what the methods of a box's domain close over.
type box struct {
	*grid
	columns []Column
	ext     []extent
	p       float64
	refuse  bool
}

// maxUncut is how many cells one numeric column may have beside a single one of
// another: beyond it, one range is at least five times the other.
const maxUncut = 8

// checkUnits refuses unweighted columns that cells tell nothing about.
func (b *box) checkUnits(op string, columns []Column) error {
	cells := b.parts[len(b.splits)]
	uncut, most := -1, -1
	for a, c := range columns {
		if c.Weight != 0 {
			return nil
		}
		if c.Categories > 0 {
			continue
		}
		if cells[a] == 1 && uncut < 0 {
			uncut = a
		}
		if most < 0 || cells[a] > cells[most] {
			most = a
		}
	}
	if uncut < 0 || cells[most] <= maxUncut {
		return nil
	}
	return &fault.ValueError{Op: op, Arg: "columns.Weight", Index: uncut, Want: fmt.Sprintf(
		"another: column %d gets one cell and column %d gets %d; set Column.Weight, for instance 1/(Hi-Lo), or 1 where all are in one unit",
		uncut, most, cells[most])}
}

func (c *Column) check(op string, i int) (extent, error) {
	bad := func(field string, v float64, want string) (extent, error) {
		return extent{}, &fault.ValueError{Op: op, Arg: "columns." + field, Index: i, Value: v, Want: want}
	}
	if c.Weight == 0 {
		c.Weight = 1
	}
	length := (c.Hi - c.Lo) * c.Weight
	switch {
	case !(c.Weight >= 1e-100 && c.Weight <= 1e100):
		return bad("Weight", c.Weight, "0 or a number in [1e-100, 1e100]")
	case c.Categories < 0 || c.Categories > maxParts:
		return bad("Categories", float64(c.Categories), fmt.Sprintf("an integer in [0, %d]", maxParts))
	case c.Categories > 0:
		return extent{c.Weight, c.Categories}, nil
	case !(c.Lo >= -1e100 && c.Lo <= 1e100):
		return bad("Lo", c.Lo, "a number in [-1e100, 1e100]")
	case !(c.Hi > c.Lo && c.Hi <= 1e100):
		return bad("Hi", c.Hi, "a number in (Lo, 1e100]")
	case !(length >= 1e-100 && length <= 1e100):
		return bad("(Hi-Lo)*Weight", length, "a number in [1e-100, 1e100]")
	}
	return extent{length: length}, nil
}

func (b *box) domain(op string, lazy bool) (*Domain[[]float64], error) {
	a, err := b.arrange(op, lazy, b.diameter, b.spread)
	if err != nil {
		return nil, err
	}
	a.what = "box of 1 column"
	if len(b.columns) > 1 {
		a.what, a.sides = fmt.Sprintf("box of %d columns", len(b.columns)), b.parts[len(b.splits)]
	}
	a.resolution, a.diameter = b.halfCell(), b.acrossPoints()
	a.apart = len(b.splits)
	for a.apart > 0 && b.categoriesApart(a.apart-1) {
		a.apart--
	}
	numeric := 0
	bounds := make([]float64, 0, 4*len(b.columns))
	for _, c := range b.columns {
		if c.Categories == 0 {
			numeric++
		}
		bounds = append(bounds, c.Lo, c.Hi, float64(c.Categories), c.Weight)
	}
	if numeric > 1 {
		a.exponent = 0.25
	}
	if !lazy && len(b.columns) == 1 && numeric == 1 {
		a.line = make([]float64, b.cells)
		for c := range a.line {
			a.line[c] = (float64(c) + 0.5) / float64(b.cells) * b.ext[0].length
		}
	}
	var rows []int64
	for _, row := range b.splits {
		for _, n := range row {
			rows = append(rows, int64(n))
		}
	}
	a.identify(rows, bounds)
	d := &Domain[[]float64]{arrangement: a, locate: b.locate, at: b.at, metric: b.distance}
	a.children = d.firstChildren
	return d, nil
}

// categoriesApart tells whether no node of depth l has two categories of a
// column.
func (b *box) categoriesApart(l int) bool {
	for a, c := range b.columns {
		if c.Categories > 0 && b.parts[l][a] < c.Categories {
			return false
		}
	}
	return true
}

func (b *box) locate(x []float64) (int, error) {
	const op = "measure: Domain.Cell"
	if len(x) != len(b.columns) {
		return 0, &fault.SizeError{Op: op, Arg: "record", Got: len(x), Want: fmt.Sprint(len(b.columns))}
	}
	leaf := 0
	for a := range b.columns {
		c := &b.columns[a]
		table := b.table[a]
		v := x[a]
		if c.Categories > 0 {
			if !(v >= 0 && v < float64(c.Categories)) || v != math.Trunc(v) {
				return 0, &fault.ValueError{Op: op, Arg: "record", Index: a, Value: v, Want: fmt.Sprintf("a category, an integer in [0, %d)", c.Categories)}
			}
			leaf += table[int(v)]
			continue
		}
		if !(v >= c.Lo && v <= c.Hi) {
			if v != v || b.refuse {
				return 0, &fault.ValueError{Op: op, Arg: "record", Index: a, Value: v, Want: fmt.Sprintf("a number in [%v, %v]", c.Lo, c.Hi)}
			}
			v = min(max(v, c.Lo), c.Hi)
		}
		q := int((v - c.Lo) / (c.Hi - c.Lo) * float64(len(table)))
		leaf += table[min(q, len(table)-1)]
	}
	return leaf, nil
}

// at returns the center of a node, or a uniform point of it where rng is not nil.
// Of a node that is no cell, categories may not be apart: it has the first.
func (b *box) at(rng *rand.Rand, v node) []float64 {
	part := make([]int, len(b.columns))
	b.decode(v.Level, v.Index, part)
	x := make([]float64, len(part))
	for a, q := range part {
		c, n := &b.columns[a], b.parts[v.Level][a]
		if c.Categories > 0 {
			x[a] = float64(q)
			if n == 1 && rng != nil {
				x[a] = float64(rng.IntN(c.Categories))
			}
			continue
		}
		u := 0.5
		if rng != nil {
			u = rng.Float64()
		}
		x[a] = min(c.Hi, c.Lo+float64((float64(q)+u)/float64(n)*(c.Hi-c.Lo)))
	}
	return x
}

func (b *box) distance(x, y []float64) float64 {
	d := norm{p: b.p}
	for a := range b.columns {
		c := &b.columns[a]
		diff := math.Abs(x[a]-y[a]) * c.Weight
		if c.Categories > 0 && diff > 0 {
			diff = c.Weight
		}
		d.add(diff)
	}
	return d.value()
}

// norm accumulates the p-norm of a vector with entries >= 0, as a multiple of
// the largest so that no power overflows.
type norm struct{ p, top, sum float64 }

func (n *norm) add(x float64) {
	switch {
	case math.IsInf(n.p, 1):
		n.top = max(n.top, x)
	case n.p == 1:
		n.top += x
	case n.p == 2:
		n.top = math.Hypot(n.top, x)
	case x > n.top:
		n.sum = float64(n.sum*math.Pow(n.top/x, n.p)) + 1
		n.top = x
	case x > 0:
		n.sum += math.Pow(x/n.top, n.p)
	}
}

func (n *norm) value() float64 {
	if n.sum == 0 {
		return n.top
	}
	return n.top * math.Pow(n.sum, 1/n.p)
}

// sides returns depth l's extents, 0 for a category that is told apart.
func (b *box) sides(l int) []extent {
	s := slices.Clone(b.ext)
	for a := range s {
		switch n := b.parts[l][a]; {
		case s[a].categories == 0:
			s[a].length /= float64(n)
		case n > 1 || s[a].categories == 1:
			s[a] = extent{0, 1}
		}
	}
	return s
}

func (b *box) diameter(l int) float64 {
	d := norm{p: b.p}
	for _, e := range b.sides(l) {
		d.add(e.length)
	}
	return d.value()
}

// halfCell is the largest distance of a record to the point of its cell.
func (b *box) halfCell() float64 {
	d := norm{p: b.p}
	for _, e := range b.sides(len(b.splits)) {
		if e.categories == 0 {
			e.length /= 2
		}
		d.add(e.length)
	}
	return d.value()
}

// acrossPoints bounds the distance between cells' points, rounding included.
func (b *box) acrossPoints() float64 {
	d, cell := norm{p: b.p}, b.sides(len(b.splits))
	for a, e := range b.sides(0) {
		d.add(e.length - cell[a].length)
	}
	return d.value() * roundUp
}

// spread bounds what noise in a node of depth l costs; see nodeShape.
//
// Its children are alike, so mass spread evenly over one becomes mass spread
// evenly over another by a translation, which costs the distance of their
// centers. If the node is cut along one numeric column, W1 is the sum over the
// k-1 gaps of the gap times |S_j|, S_j the sum of the first j shares, of
// variance s j(1-j/k). Otherwise the cuts are made one prime factor of every
// column at a time: of K children that are left together, groups of m each part
// from one another. Group g sends its surplus T_g over its fair share through
// the common center; Var T_g = s m(1-m/K), and the cost is |T_g| times the
// distance to the center, half the distance between categories for theirs. Both
// use E|T| <= sqrt(Var T), about 1.25 E|T| for a normal T.
func (b *box) spread(l int) float64 {
	cuts, side, k := slices.Clone(b.splits[l]), b.sides(l), float64(b.arities[l])
	if only := slices.Index(cuts, b.arities[l]); only >= 0 && side[only].categories == 0 {
		sum := 0.0
		for j := 1.0; j < k; j++ {
			sum += math.Sqrt(j * (1 - j/k))
		}
		return sum * side[only].length / k
	}
	total, nodes := 0.0, 1.0
	for k > 1 {
		groups := 1.0
		step := make([]int, len(cuts))
		for a := range cuts {
			step[a] = smallestFactor(cuts[a])
			if side[a].categories > 0 {
				step[a] = cuts[a]
			}
			groups *= float64(step[a])
		}
		m := k / groups
		total += float64(nodes * meanOffset(side, step, b.p) * math.Sqrt(m*(1-m/k)) * groups)
		for a := range cuts {
			cuts[a] /= step[a]
			side[a].length /= float64(step[a])
			if step[a] > 1 && side[a].categories > 0 {
				side[a] = extent{0, 1}
			}
		}
		nodes *= groups
		k = m
	}
	return total
}

// meanOffset returns the mean distance of the centers of the parts to that of
// the whole, when step[a] equal parts are made of column a.
func meanOffset(side []extent, step []int, p float64) float64 {
	parts, sum := 1, 0.0
	for _, n := range step {
		parts *= n
	}
	for i := range parts {
		d := norm{p: p}
		for a, n := range step {
			switch {
			case n == 1:
			case side[a].categories > 0:
				d.add(side[a].length / 2)
			default:
				d.add(side[a].length * math.Abs((float64(i%n)+0.5)/float64(n)-0.5))
			}
			i /= n
		}
		sum += d.value()
	}
	return sum / float64(parts)
}
