package domain

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure/internal/column"
)

// Outside says what becomes of records outside the bounds.
type Outside int

const (
	// Clip moves a number to the nearer bound. How many records were clipped is
	// private and nowhere reported.
	Clip Outside = iota
	// Refuse makes them errors, which tells that there are any.
	Refuse
)

// BoxOptions are the settings of [NewBox]. Nil and the zero value mean the defaults.
type BoxOptions struct {
	// Depth sets cells of side 2^-Depth of the geometric mean of the sides that can be cut at will,
	// for a tree that a private.Measure can hold. 0 means as deep as ints and float64 allow.
	Depth float64
	// Splits is the whole plan: level l cuts every cell into Splits[l][a] parts along column a.
	// Categories are cut once, into all. The first cut of a column with Missing is in two and parts
	// what is missing; the depths of a taxonomy, and the 12, 4, 4, ... parts of a sphere, are given
	// in their order.
	Splits [][]int
	// P is the norm of the product metric of the columns, in [1, +Inf]; 0 means +Inf.
	P float64
	// Outside is what becomes of records out of bounds.
	Outside Outside
	// Possible, where not nil, reports whether there may be a record with lo[i] <= x[i] <= hi[i]
	// for all entries i. It must be public knowledge; no noise is spent on what is impossible, and
	// records are neither counted nor made there. For a category or leaf that is told apart lo = hi
	// is its number, and otherwise they are the least and the largest; for a missing value both are
	// NaN. It must be true where it is not sure; what is false for a box is false for its parts. It
	// is called concurrently, and keeps neither slice. Domains whose answers differ only below the
	// first 256 possible regions have one ID.
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

// NewBox returns a product of columns cut into cells: rows with numbers, categories, leaves of
// taxonomies and places, any of which may be missing. A record has the entries of the columns in
// their order.
//
// The longest columns are cut first: all numbers within a factor sqrt 2 of the longest in two, at
// most 6 at once; a category and a depth of a taxonomy alone. Cells are told apart in every
// category and leaf, and in the rest as far as 2^62 cells go (2^30 where an int has 32 bits), a
// range into 2^50 parts at most. Memory does not depend on the number of cells.
//
// Errors are [metric.ErrEmpty], *[metric.ValueError], *[metric.SizeError], and
// *[metric.MemoryError] for a Depth or Splits of more cells. Where the depth is left open and no
// Weight or Share is set, one range more than 10 times another is an error.
func NewBox(columns []Column, o *BoxOptions) (*Domain[[]float64], error) {
	const op = "domain: NewBox"
	b, err := newBox(op, columns, o)
	if err != nil {
		return nil, err
	}
	what := "box of 1 column"
	if len(columns) > 1 {
		what = fmt.Sprintf("box of %d columns", len(columns))
	}
	return makeDomain(b, op, what, b.locate, b.at, b.distance)
}

// box is what the methods of a box's domain close over.
type box struct {
	*grid
	columns  []Column
	factors  []column.Column
	from     []int // where a column's entries begin, and those of all end
	p        float64
	possible func(lo, hi []float64) bool
	partial  bool // some cells are impossible
	buffers  sync.Pool
}

func newBox(op string, columns []Column, o *BoxOptions) (*box, error) {
	if err := fault.Empty(op, "columns", len(columns)); err != nil {
		return nil, err
	}
	opt := *cmp.Or(o, &BoxOptions{})
	if err := opt.check(op); err != nil {
		return nil, err
	}
	b := &box{p: opt.P, possible: opt.Possible, partial: opt.Possible != nil, columns: slices.Clone(columns), factors: make([]column.Column, len(columns)), from: []int{0}}
	var err error
	for i := range b.columns {
		if b.factors[i], err = b.columns[i].factor(op, i, opt.Outside); err != nil {
			return nil, err
		}
		b.from = append(b.from, b.from[i]+b.factors[i].Plan().Entries)
	}
	splits := opt.Splits
	if splits == nil {
		if opt.Depth == 0 {
			if err := checkUnits(op, columns); err != nil {
				return nil, err
			}
		}
		if splits, err = splitLongest(op, b.factors, opt.Depth); err != nil {
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
		if s, ok := f.(column.Settler); ok {
			s.Settle(b.parts[len(splits)][a])
		}
		b.partial = b.partial || !f.Full(b.parts[len(splits)][a])
	}
	b.buffers.New = func() any {
		n := b.from[len(columns)]
		return &scratch{make([]int, len(columns)), make([]float64, n), make([]float64, n)}
	}
	return b, nil
}

// checkSplits refuses cuts of a column that are none of its own.
func (b *box) checkSplits(op string, a int) error {
	plan, cut := b.factors[a].Plan(), 0
	for l, row := range b.splits {
		if row[a] == 1 {
			continue
		}
		if k := plan.Arity(cut); k > 0 && row[a] != k {
			want := fmt.Sprintf("1 or %d", k)
			if k == 1 {
				want = "1"
			}
			return &fault.ValueError{Op: op, Arg: fmt.Sprintf("Splits[%d]", l), Index: a, Value: float64(row[a]), Want: want}
		}
		cut++
	}
	switch n := b.parts[len(b.splits)][a]; {
	case cut < plan.Must:
		return &fault.ValueError{Op: op, Arg: "Splits.column", Index: a, Value: float64(cut), Want: fmt.Sprintf("%d cuts that tell apart what has to be", plan.Must)}
	case plan.Arity(cut) == 0 && n > plan.Most:
		return &fault.ValueError{Op: op, Arg: "Splits.column", Index: a, Value: float64(n), Want: fmt.Sprintf("at most %d parts in all", plan.Most)}
	}
	return nil
}

func (b *box) locate(x []float64) (int, error) {
	const op = "domain: Domain.Cell"
	if n := b.from[len(b.factors)]; len(x) != n {
		return 0, fault.Private(fault.Size(op, "record", len(x), n))
	}
	leaf, parts := 0, b.parts[len(b.splits)]
	for a, f := range b.factors {
		q, err := f.Locate(x[b.from[a]:b.from[a+1]], parts[a])
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
		if b.decode(len(b.splits), leaf, s.q); !b.allowsParts(s, len(b.splits), s.q) {
			return 0, &fault.ValueError{Op: op, Arg: "record", Index: -1, Value: x[0], Want: "another: BoxOptions.Possible is false in its cell", Private: true}
		}
	}
	return leaf, nil
}

func (b *box) distance(x, y []float64) float64 {
	d := norm{p: b.p}
	for a, f := range b.factors {
		d.add(f.Distance(x[b.from[a]:b.from[a+1]], y[b.from[a]:b.from[a+1]]))
	}
	return d.value()
}

// write writes the point of parts q of depth l, with an rng a uniform one.
func (b *box) write(x []float64, l int, q []int, rng *rand.Rand) {
	for a, f := range b.factors {
		f.Point(x[b.from[a]:b.from[a+1]], column.Part{Cuts: b.cuts[l][a], Of: b.parts[l][a], Place: q[a]}, rng)
	}
}

// pointTries is how often a possible point of a region is looked for.
const pointTries = 64

// at returns the center of a region, with an rng a uniform point of it. Where that is not possible
// it is a uniform one that is, and where these are rare one of a cell found by going down.
func (b *box) at(rng *rand.Rand, v node) []float64 {
	s := b.buffers.Get().(*scratch)
	defer b.buffers.Put(s)
	x := make([]float64, b.from[len(b.factors)])
	b.decode(v.Level, v.Index, s.q)
	b.write(x, v.Level, s.q, rng)
	if b.possible == nil || b.allowsRecord(s, x) {
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
		if b.write(x, l, q, rng); b.allowsRecord(s, x) {
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
