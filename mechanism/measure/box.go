package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

// Column is one factor of a box: a number in a range, unless Whole, Categories,
// Taxonomy or Radius says otherwise, of which there is one at most. It is one
// entry of a record, two where it has a Radius.
type Column struct {
	// Lo < Hi are the bounds of a number. They must be public: read off the data
	// they leak its extremes.
	Lo, Hi float64
	// Whole makes it a whole number from Lo to Hi, both included. No cell has a
	// part of one, and what comes out is whole. Days, months and years are whole
	// numbers.
	Whole bool
	// Categories, where positive, makes it a category, one of the whole numbers 0
	// to Categories-1, any two at distance 1.
	Categories int
	// Taxonomy, where not nil, makes it a leaf of the tree, leaf k being
	// Taxonomy.Leaves()[k], with distances along the tree. Nodes are passed over
	// as in [NewTaxonomy].
	Taxonomy *metric.Tree
	// Radius, where positive, makes it a place on a sphere of this radius, two
	// entries of a record: latitude and longitude in degrees, as in [NewSphere].
	Radius float64
	// Missing allows NaN, a value of its own. Its distance to all others is the
	// largest among them, or 1 if that is 0.
	Missing bool
	// Weight multiplies the distances of the column, so that columns in different
	// units compare; 0 means 1, and 1/(Hi-Lo) gives every column length 1.
	// Without any Weight [NewBox] refuses numbers of very different ranges.
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

// BoxOptions are the settings of [NewBox]. Nil and the zero value mean the
// defaults.
type BoxOptions struct {
	// Depth sets cells of side 2^-Depth of the geometric mean of the sides that
	// can be cut at will, for a tree that a [Measure] can hold. 0 means as deep as
	// ints and float64 allow, which costs a [Synthesizer] nothing.
	Depth float64
	// Splits is the whole plan: level l cuts every cell into Splits[l][a] parts
	// along column a. Categories are cut into 1 or all, and once into all. A cut
	// in two that parts what is missing, counted as one more category, is the
	// first of its column; the depths of a taxonomy, and the 12, 4, 4, ... parts
	// of a sphere, are given in their order.
	Splits [][]int
	// P is the norm of the product metric of the columns, in [1, +Inf]; 0 means
	// +Inf, the largest difference of any column.
	P float64
	// Outside is what becomes of records out of bounds.
	Outside Outside
	// Possible, where not nil, tells whether there may be a record with lo[i] <=
	// x[i] <= hi[i] for all entries i. It must be public knowledge, such as that
	// nobody is married at two; no noise is spent on what is impossible, and
	// records are neither counted nor made there. For a category or a leaf of a
	// taxonomy that is told apart lo = hi is its number, and otherwise they are the
	// least and the largest there is; for a missing value both are NaN. It must be
	// true where it is not sure, and what is false for a box is false for its
	// parts. A record is refused where its cell is. It is called by several
	// goroutines at once, and keeps neither slice.
	Possible func(lo, hi []float64) bool
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
	if o.Splits != nil && o.Depth != 0 {
		return fault.Value(op, "Depth", o.Depth, "0 where Splits are given")
	}
	return fault.NonNegative(op, "Depth", o.Depth)
}

// NewBox returns a product of columns cut into cells: points of R^d, or rows
// with numbers, categories, leaves of taxonomies and places, any of which may be
// missing. A record has the entries of the columns in their order; it is only
// read during the call.
//
// Columns are cut in turn, those that are longest, in their weights, first: all
// numbers in two whose lengths are within a factor sqrt 2 of the longest, at most
// 6 at once; a category and a depth of a taxonomy alone. Cells are told apart in
// every category and leaf, and in the rest as far as 2^62 cells go (2^30 where an
// int has 32 bits), a range into 2^50 parts at most. Trees of more than 2^26
// cells, and those with impossible cells, are for a [Synthesizer] alone. Noise
// scales of a [Measure] are equal on the line, and otherwise prop. to the fourth
// root of a node's side.
//
// Errors are [metric.ErrEmpty], *[metric.ValueError], *[metric.SizeError], and
// *[metric.MemoryError] for a Depth or Splits of more cells. Where the depth is
// left open and no Weight is set, it is an error if one range is more than 10 times
// another; a Weight set to 1 allows it. Cells of records with no possible cell are
// a *[metric.ValueError]. Memory does not depend on the number of cells.
func NewBox(columns []Column, o *BoxOptions) (*Domain[[]float64], error) {
	const op = "measure: NewBox"
	b, err := newBox(op, columns, o)
	if err != nil {
		return nil, err
	}
	what := "box of 1 column"
	if len(columns) > 1 {
		what = fmt.Sprintf("box of %d columns", len(columns))
	}
	a, err := b.arrange(op, what)
	if err != nil {
		return nil, err
	}
	d := &Domain[[]float64]{arrangement: a, locate: b.locate, at: b.at, metric: b.distance}
	a.children = d.firstChildren
	return d, nil
}

// box is what the methods of a box's domain close over.
type box struct {
	*grid
	columns  []Column
	factors  []factor
	from     []int // where a column's entries begin, and those of all end
	p        float64
	possible func(lo, hi []float64) bool
	buffers  sync.Pool
}

func newBox(op string, columns []Column, o *BoxOptions) (*box, error) {
	if err := fault.Empty(op, "columns", len(columns)); err != nil {
		return nil, err
	}
	opt := orZero(o)
	if err := opt.check(op); err != nil {
		return nil, err
	}
	b := &box{p: opt.P, possible: opt.Possible, columns: slices.Clone(columns), factors: make([]factor, len(columns)), from: []int{0}}
	var err error
	for i := range b.columns {
		if b.factors[i], err = b.columns[i].factor(op, i, opt.Outside); err != nil {
			return nil, err
		}
		b.from = append(b.from, b.from[i]+b.factors[i].entries())
	}
	splits := opt.Splits
	if splits == nil {
		if opt.Depth == 0 {
			if err := checkUnits(op, columns); err != nil {
				return nil, err
			}
		}
		if splits, err = turns(op, b.factors, opt.Depth); err != nil {
			return nil, err
		}
	}
	if b.grid, err = newGrid(op, splits, len(columns)); err != nil {
		return nil, err
	}
	for a, f := range b.factors {
		if err := b.checkSplits(op, a); err != nil {
			return nil, err
		}
		if s, ok := f.(settler); ok {
			s.settle(b.parts[len(splits)][a])
		}
	}
	b.buffers.New = func() any {
		n := b.from[len(columns)]
		return &scratch{make([]int, len(columns)), make([]float64, n), make([]float64, n)}
	}
	return b, nil
}

// tooUneven is how many times another range one may be where no Weight says so.
const tooUneven = 10

// checkUnits refuses unweighted numbers of ranges that do not compare.
func checkUnits(op string, columns []Column) error {
	least, most := -1, -1
	length := func(i int) float64 { return columns[i].Hi - columns[i].Lo }
	for i, c := range columns {
		if c.Weight != 0 {
			return nil
		}
		if c.Categories > 0 || c.Taxonomy != nil || c.Radius > 0 || !(length(i) > 0) {
			continue
		}
		if least < 0 || length(i) < length(least) {
			least = i
		}
		if most < 0 || length(i) > length(most) {
			most = i
		}
	}
	if least < 0 || length(most) <= tooUneven*length(least) {
		return nil
	}
	return &fault.ValueError{Op: op, Arg: "columns.Weight", Index: least, Want: fmt.Sprintf(
		"another: column %d has the length %v and column %d has %v; set Column.Weight, for instance 1/(Hi-Lo), or 1 where all are in one unit",
		least, length(least), most, length(most))}
}

// checkSplits refuses cuts of a column that are none of its own.
func (b *box) checkSplits(op string, a int) error {
	f, cut := b.factors[a], 0
	for l, row := range b.splits {
		if row[a] == 1 {
			continue
		}
		if k := f.arity(cut); k > 0 && row[a] != k {
			want := fmt.Sprintf("1 or %d", k)
			if k == 1 {
				want = "1"
			}
			return &fault.ValueError{Op: op, Arg: fmt.Sprintf("Splits[%d]", l), Index: a, Value: float64(row[a]), Want: want}
		}
		cut++
	}
	switch n := b.parts[len(b.splits)][a]; {
	case cut < f.must():
		return &fault.ValueError{Op: op, Arg: "Splits.column", Index: a, Value: float64(cut), Want: fmt.Sprintf("%d cuts that tell apart what has to be", f.must())}
	case f.arity(cut) == 0 && n > f.finest():
		return &fault.ValueError{Op: op, Arg: "Splits.column", Index: a, Value: float64(n), Want: fmt.Sprintf("at most %d parts in all", f.finest())}
	}
	return nil
}

// arrange makes all of a domain that does not depend on the type of records.
func (b *box) arrange(op, what string) (*arrangement, error) {
	last := len(b.splits)
	a := &arrangement{what: what, arities: b.arities, cells: b.cells, apart: last, resolution: b.norm(b.p, last, factor.radius)}
	if len(b.factors) > 1 {
		a.sides = b.parts[last]
	}
	nodes, side := 1, make([]float64, last+1)
	for l := range side {
		if side[l] = b.norm(2, l, factor.length); l < last {
			a.shape = append(a.shape, nodeShape{nodes: nodes, arity: b.arities[l], depth: l, diameter: b.norm(b.p, l, factor.side), spread: b.spread(l)})
			nodes *= b.arities[l]
		}
	}
	across, dim := norm{p: b.p}, 0
	for i, f := range b.factors {
		across.add(f.across(b.parts[last][i]))
		if f.arity(f.must()) != 1 {
			dim += f.entries()
		}
	}
	if a.diameter = across.value() * roundUp; dim > 1 {
		a.exponent = 0.25
	}
	for a.apart > 0 && b.apart(a.apart-1) {
		a.apart--
	}
	grid := adaptive.NewGrid(b.arities, side)
	a.regions, a.masked = grid, b.masked()
	if a.masked {
		m := masked{grid, b}
		if !m.possible(0, make([]int, len(b.factors))) {
			return nil, fault.Value(op, "Possible", 0, "true for the whole box")
		}
		a.regions = m
	}
	b.identify(a)
	a.unfold = sync.OnceValues(func() (*arrangement, error) {
		e := *a
		if c, ok := b.factors[0].(*number); ok && len(b.factors) == 1 {
			e.line = make([]float64, b.cells)
			for i := range e.line {
				e.line[i] = (float64(i) + 0.5) / float64(b.cells) * c.length(0, 1)
			}
		}
		var err error
		e.tree, err = walk.Levels(b.arities...)
		return &e, err
	})
	return a, nil
}

// identify digests the columns, their cuts, and which of the first regions are
// possible.
func (b *box) identify(a *arrangement) {
	var numbers []float64
	var whole []int64
	for _, c := range b.columns {
		kind := int64(0)
		if c.Whole {
			kind++
		}
		if c.Missing {
			kind += 2
		}
		numbers = append(numbers, c.Lo, c.Hi, c.Weight, c.Radius)
		whole = append(whole, kind, int64(c.Categories))
		if t := c.Taxonomy; t != nil {
			whole = append(whole, int64(t.Len()))
			for v := range t.Len() {
				whole, numbers = append(whole, int64(t.Parent(v))), append(numbers, t.Length(v))
			}
		}
	}
	for _, row := range b.splits {
		for _, n := range row {
			whole = append(whole, int64(n))
		}
	}
	if b.possible != nil {
		for _, v := range firstRegions(a.regions, 256) {
			whole = append(whole, int64(v.Level), int64(v.Index))
		}
	}
	a.identify(whole, numbers)
}

// norm is the p-norm of what is of the columns at depth l.
func (b *box) norm(p float64, l int, of func(f factor, l, n int) float64) float64 {
	d := norm{p: p}
	for a, f := range b.factors {
		d.add(of(f, b.cuts[l][a], b.parts[l][a]))
	}
	return d.value()
}

// apart tells whether no node of depth l has two values that must be told apart.
func (b *box) apart(l int) bool {
	for a, f := range b.factors {
		if b.cuts[l][a] < f.must() {
			return false
		}
	}
	return true
}

func (b *box) locate(x []float64) (int, error) {
	const op = "measure: Domain.Cell"
	if n := b.from[len(b.factors)]; len(x) != n {
		return 0, &fault.SizeError{Op: op, Arg: "record", Got: len(x), Want: fmt.Sprint(n)}
	}
	leaf, parts := 0, b.parts[len(b.splits)]
	for a, f := range b.factors {
		q, err := f.locate(x[b.from[a]:b.from[a+1]], parts[a])
		if err != nil {
			if v, ok := err.(*fault.ValueError); ok {
				v.Index = b.from[a]
			}
			return 0, err
		}
		leaf += b.index(a, q)
	}
	if b.possible != nil {
		s := b.buffers.Get().(*scratch)
		defer b.buffers.Put(s)
		if b.decode(len(b.splits), leaf, s.q); !b.allows(s, len(b.splits), s.q) {
			return 0, fault.Value(op, "record", x[0], "one that is possible")
		}
	}
	return leaf, nil
}

func (b *box) distance(x, y []float64) float64 {
	d := norm{p: b.p}
	for a, f := range b.factors {
		d.add(f.distance(x[b.from[a]:b.from[a+1]], y[b.from[a]:b.from[a+1]]))
	}
	return d.value()
}

// write writes the point of parts q of depth l, with an rng a uniform one.
func (b *box) write(x []float64, l int, q []int, rng *rand.Rand) {
	for a, f := range b.factors {
		f.point(x[b.from[a]:b.from[a+1]], part{b.cuts[l][a], b.parts[l][a], q[a]}, rng)
	}
}

// pointTries is how often a possible point of a region is looked for.
const pointTries = 64

// at returns the center of a region, with an rng a uniform point of it. Where that
// is not possible it is a uniform one that is, and where these are rare one of a
// cell found by going down.
func (b *box) at(rng *rand.Rand, v node) []float64 {
	s := b.buffers.Get().(*scratch)
	defer b.buffers.Put(s)
	x := make([]float64, b.from[len(b.factors)])
	b.decode(v.Level, v.Index, s.q)
	b.write(x, v.Level, s.q, rng)
	if b.possible == nil || b.may(s, x) {
		return x
	}
	if rng == nil {
		rng = random.Seeded(uint64(v.Index))
	}
	l, q, m := v.Level, s.q, masked{b: b}
	for i := range 2 * pointTries {
		if i >= pointTries {
			l, q = m.descend(v.Level, s.q, rng)
		}
		if b.write(x, l, q, rng); b.may(s, x) {
			break
		}
	}
	return x
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

// extents are the lengths of columns that are numbers or categories at depth l; ok
// is false where there are others.
func (b *box) extents(l int) (side []extent, ok bool) {
	for a, f := range b.factors {
		e := extent{length: f.side(b.cuts[l][a], b.parts[l][a])}
		switch f := f.(type) {
		case *number:
		case *category:
			e.categories = f.count()
			if b.cuts[l][a] > 0 {
				e.categories = 1
			}
		default:
			return nil, false
		}
		side = append(side, e)
	}
	return side, true
}

// extent is a length that is cut anywhere, or the distance of any two categories.
type extent struct {
	length     float64
	categories int
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
// use E|T| <= sqrt(Var T), about 1.25 E|T| for a normal T. With columns of other
// kinds, and with more than manyChildren, all noise goes through any point, at no
// more than the diameter.
func (b *box) spread(l int) float64 {
	cuts, k := slices.Clone(b.splits[l]), float64(b.arities[l])
	if k == 1 {
		return 0
	}
	if g, ok := b.factors[0].(*globe); ok && len(b.factors) == 1 {
		return g.spread(b.cuts[l][0], b.parts[l][0])
	}
	side, ok := b.extents(l)
	if !ok || k > manyChildren {
		return k * math.Sqrt(1-1/k) * b.norm(b.p, l, factor.side)
	}
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

const manyChildren = 1 << 18

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
