package measure

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
)

// Column is one coordinate of a box: a number in a range, or a category.
type Column struct {
	// Lo < Hi are the bounds of a numeric column. They must be public: read off
	// the data they leak its extremes.
	Lo, Hi float64
	// Categories, where positive, makes this a column of categories, the whole
	// numbers 0 to Categories-1, any two at distance 1. Lo and Hi are not read.
	Categories int
	// Weight multiplies the distances of the column, so that columns in different
	// units compare; 0 means 1. Weight 1/(Hi-Lo) gives every column length 1.
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

// CellOptions are the settings of [NewBox] and [NewSphere]. One of Signal,
// Depth and, for a box, Splits is needed; the rest may be zero.
type CellOptions struct {
	// Signal is about the number of records times eps, the one number that the
	// best size of cells depends on. It must be public: a guess will do, and the
	// number of records itself is public where records are replaced, not added.
	Signal float64
	// Depth, where positive, sets cells of side 2^-Depth of the box's side (of the
	// geometric mean of its sides) in place of the rule. No depth is best for all
	// data: uniform data want fewer cells, concentrated data more.
	Depth float64
	// Arity is about how many children a node has: 0 means 16, and 64 in three
	// dimensions; from four on 2 a dimension.
	Arity int
	// Splits, where not nil, is the whole plan: level l cuts every cell into
	// Splits[l][a] parts along column a. Categories are cut into all or 1.
	Splits [][]int
	// P is the norm of the product metric of the columns, in [1, +Inf]; 0 means
	// +Inf, the largest difference of any column. A sphere does not read it.
	P float64
	// Outside is what becomes of records out of bounds.
	Outside Outside
	// Lazy unfolds cells on demand: for depths and dimensions with too many cells
	// to hold. A release then leaves out the averages of [Weighted], and its time
	// and memory depend on private data, as the doc of [Synthesizer] says.
	Lazy bool
}

// NewBox returns a product of columns cut into cells: points of R^d, or rows
// with numbers and categories. A record is one number a column, as many as
// there are columns, and never NaN; it is only read during the call.
//
// The defaults are those that simulation found best in one to three
// dimensions: about Signal cells, Signal/16 on the line, 4 Signal in
// three dimensions and more, in levels of equal arity. Sides may be cut into
// any number of parts, so that no small level is left over. Noise scales are
// equal on the line, and otherwise prop. to the fourth root of a node's side.
//
// Errors are [ErrEmpty], *[ValueError], *[SizeError], and *[MemoryError] for
// more than 2^26 cells unless Lazy. O(cells).
func NewBox(columns []Column, o *CellOptions) (*Domain[[]float64], error) {
	const op = "measure: NewBox"
	if err := fault.Empty(op, "columns", len(columns)); err != nil {
		return nil, err
	}
	opt, err := o.check(op)
	if err != nil {
		return nil, err
	}
	b := &box{p: opt.P, refuse: opt.Outside == Refuse, columns: append([]Column(nil), columns...)}
	ext := make([]extent, len(columns))
	for i := range b.columns {
		if ext[i], err = b.columns[i].check(op, i); err != nil {
			return nil, err
		}
	}
	splits := opt.Splits
	if splits == nil {
		cells, h, err := opt.plan(op, ext)
		if err != nil {
			return nil, err
		}
		splits = planLevels(ext, cells, h)
	}
	if b.grid, err = newGrid(op, splits, len(columns)); err != nil {
		return nil, err
	}
	for a, c := range b.columns {
		for l, row := range splits {
			if c.Categories > 0 && row[a] != 1 && row[a] != c.Categories {
				return nil, &ValueError{Op: op, Arg: fmt.Sprintf("Splits[%d]", l), Index: a, Value: float64(row[a]), Want: fmt.Sprintf("1 or %d", c.Categories)}
			}
		}
	}
	return b.domain(op, ext, opt.Lazy)
}

// box is what the methods of a box's domain close over.
type box struct {
	*grid
	columns []Column
	p       float64
	refuse  bool
}

func (c *Column) check(op string, i int) (extent, error) {
	bad := func(field string, v float64, want string) (extent, error) {
		return extent{}, &ValueError{Op: op, Arg: "columns." + field, Index: i, Value: v, Want: want}
	}
	if c.Weight == 0 {
		c.Weight = 1
	}
	if !(c.Weight >= 1e-100 && c.Weight <= 1e100) {
		return bad("Weight", c.Weight, "0 or a number in [1e-100, 1e100]")
	}
	if c.Categories < 0 || c.Categories > maxParts {
		return bad("Categories", float64(c.Categories), fmt.Sprintf("an integer in [0, %d]", maxParts))
	}
	if c.Categories > 0 {
		return extent{c.Weight, c.Categories}, nil
	}
	if !(c.Lo >= -1e100 && c.Lo <= 1e100) {
		return bad("Lo", c.Lo, "a number in [-1e100, 1e100]")
	}
	if !(c.Hi > c.Lo && c.Hi <= 1e100) {
		return bad("Hi", c.Hi, "a number in (Lo, 1e100]")
	}
	length := (c.Hi - c.Lo) * c.Weight
	if !(length >= 1e-100 && length <= 1e100) {
		return bad("(Hi-Lo)*Weight", length, "a number in [1e-100, 1e100]")
	}
	return extent{length: length}, nil
}

func (o *CellOptions) check(op string) (CellOptions, error) {
	opt := CellOptions{}
	if o != nil {
		opt = *o
	}
	if opt.P == 0 {
		opt.P = math.Inf(1)
	}
	if !(opt.P >= 1) {
		return opt, &ValueError{Op: op, Arg: "P", Index: -1, Value: opt.P, Want: "a number in [1, +Inf]"}
	}
	if err := fault.NonNegative(op, "Depth", opt.Depth); err != nil {
		return opt, err
	}
	if opt.Arity < 0 || opt.Arity == 1 {
		return opt, &ValueError{Op: op, Arg: "Arity", Index: -1, Value: float64(opt.Arity), Want: "0 or an integer >= 2"}
	}
	if opt.Outside != Clip && opt.Outside != Refuse {
		return opt, &ValueError{Op: op, Arg: "Outside", Index: -1, Value: float64(opt.Outside), Want: "Clip or Refuse"}
	}
	if opt.Splits == nil && opt.Depth == 0 {
		return opt, fault.Positive(op, "Signal", opt.Signal)
	}
	return opt, nil
}

// plan returns how many cells and levels to aim for. Without numeric columns
// every combination of categories is a cell.
func (o *CellOptions) plan(op string, ext []extent) (cells float64, levels int, err error) {
	d, all := 0, 1.0
	for _, e := range ext {
		if e.categories == 0 {
			d++
		} else {
			all *= float64(e.categories)
		}
	}
	bits := depthRule(d, o.Signal)
	switch {
	case o.Depth > 0:
		bits = float64(d)*o.Depth + math.Log2(all)
	case d == 0:
		bits = math.Log2(all)
	}
	if bits > math.Log2(maxCells) {
		return 0, 0, &MemoryError{Op: op, Bytes: 8 * math.Exp2(bits), Limit: 8 * explicitCells}
	}
	step := float64(max(4, d))
	if d == 3 {
		step = 6
	}
	if o.Arity > 0 {
		step = math.Log2(float64(o.Arity))
	} else if d == 1 && o.Depth == 0 {
		return math.Exp2(bits), lineLevels(o.Signal), nil
	}
	return math.Exp2(bits), max(1, int(math.Round(bits/step))), nil
}

// depthRule is the rule for the binary logarithm of the number of cells, found
// by simulation in one to three dimensions; from four on that for three. On the
// line, simulated with 60 seeds at Signal = 10^3, 10^4 and 10^5 for Signal/4 to
// Signal/32 cells, Signal/16 is within 6 % of the best for uniform records and
// for three normal clusters. Records at five places alone want four times as many
// cells, and lose 20 to 40 % less then.
func depthRule(d int, signal float64) float64 {
	bits := math.Log2(signal)
	switch d {
	case 1:
		bits -= 4 // Signal/16 cells: with cuts of any number there is no need to round
	case 2:
		bits = 2 * math.Floor(bits/2)
	default:
		bits = float64(d) * math.Round((bits+2)/float64(max(d, 1)))
	}
	return max(1, bits)
}

func lineLevels(signal float64) int {
	return max(1, int(math.Floor(math.Log2(signal)/5+0.1)))
}

func (b *box) domain(op string, ext []extent, lazy bool) (*Domain[[]float64], error) {
	a := &arrangement{what: fmt.Sprintf("box of %d columns", len(b.columns))}
	if len(b.columns) == 1 {
		a.what = "box of 1 column"
	}
	if err := a.setRegular(op, b.grid, lazy); err != nil {
		return nil, err
	}
	g := newBoxGeometry(b.grid, ext, b.p)
	a.shape, a.children = g.shapes(), g.children
	a.resolution = g.halfCell()
	numeric := 0
	for _, e := range ext {
		if e.categories == 0 {
			numeric++
		}
	}
	if numeric > 1 {
		a.exponent = 0.25
	}
	if !lazy && len(b.columns) == 1 && numeric == 1 {
		a.line = make([]float64, b.cells)
		for c := range a.line {
			a.line[c] = (float64(c) + 0.5) / float64(b.cells) * ext[0].length
		}
	}
	rows := make([]int64, 0, len(b.splits)*len(b.columns))
	for _, row := range b.splits {
		for _, n := range row {
			rows = append(rows, int64(n))
		}
	}
	bounds := make([]float64, 0, 4*len(b.columns))
	for _, c := range b.columns {
		bounds = append(bounds, c.Lo, c.Hi, float64(c.Categories), c.Weight)
	}
	a.identify(rows, bounds)
	return &Domain[[]float64]{
		arrangement: a,
		locate:      b.locate,
		point:       func(level, i int) []float64 { return b.at(level, i, nil) },
		jitter: func(r *rand.Rand, level, i int) []float64 {
			r, done := rng.Get(r)
			defer done()
			return b.at(level, i, r)
		},
		metric: b.distance,
	}, nil
}

func (b *box) locate(x []float64) (int, error) {
	const op = "measure: Cell"
	if len(x) != len(b.columns) {
		return 0, &SizeError{Op: op, Arg: "record", Got: len(x), Want: fmt.Sprint(len(b.columns))}
	}
	leaf := 0
	for a := range b.columns {
		c := &b.columns[a]
		table := b.table[a]
		v := x[a]
		if c.Categories > 0 {
			if !(v >= 0 && v < float64(c.Categories)) || v != math.Trunc(v) {
				return 0, &ValueError{Op: op, Arg: "record", Index: a, Value: v, Want: fmt.Sprintf("a category, an integer in [0, %d)", c.Categories)}
			}
			leaf += table[int(v)%len(table)] // one part or all
			continue
		}
		if !(v >= c.Lo && v <= c.Hi) {
			if v != v || b.refuse {
				return 0, &ValueError{Op: op, Arg: "record", Index: a, Value: v, Want: fmt.Sprintf("a number in [%v, %v]", c.Lo, c.Hi)}
			}
			v = min(max(v, c.Lo), c.Hi)
		}
		q := int((v - c.Lo) / (c.Hi - c.Lo) * float64(len(table)))
		leaf += table[min(q, len(table)-1)]
	}
	return leaf, nil
}

// at returns the centre of a node, or a uniform point of it where r is not nil.
// Categories that are not told apart are reported as the first.
func (b *box) at(level, index int, r *rand.Rand) []float64 {
	part := make([]int, len(b.columns))
	b.decode(level, index, part)
	x := make([]float64, len(part))
	for a, q := range part {
		c, n := &b.columns[a], b.parts[level][a]
		if c.Categories > 0 {
			x[a] = float64(q)
			if n == 1 && r != nil {
				x[a] = float64(r.IntN(c.Categories))
			}
			continue
		}
		u := 0.5
		if r != nil {
			u = r.Float64()
		}
		x[a] = min(c.Hi, c.Lo+(float64(q)+u)/float64(n)*(c.Hi-c.Lo))
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
