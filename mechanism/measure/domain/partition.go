package domain

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/column"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/walk"
)

// makeDomain returns the domain of a box whose records have the type P.
func makeDomain[P any](b *box, op, kind string, locate func(P) (int, error), at func(*rand.Rand, node) P, distance func(p, q P) float64) (*Domain[P], error) {
	p, err := b.partition(op, kind)
	if err != nil {
		return nil, err
	}
	s := &region.Space[P]{Partition: p, Locate: locate, At: at, Distance: distance, Bounds: func(lo, hi []float64, v node) bool {
		q := make([]int, len(b.factors))
		b.decode(v.Level, v.Index, q)
		return b.bounds(lo, hi, v.Level, q)
	}}
	geometry := sync.OnceValues(b.geometry)
	p.Explicit = func(op string) (*region.Geometry, error) {
		switch {
		case b.partial:
			return nil, fmt.Errorf("%s: %w", op, errMasked)
		case b.cells > explicitCells:
			return nil, &fault.MemoryError{Op: op, Bytes: 80 * float64(b.cells), Limit: 80 * explicitCells}
		}
		return geometry()
	}
	return &Domain[P]{space: s}, nil
}

var errMasked = errors.New("some cells are impossible, and only a Synthesizer leaves them out")

// explicitCells bounds a tree in memory: a release takes about 5 GB.
const explicitCells = 1 << 26

// partition makes all of a domain that depends neither on the type of records nor on a
// tree in memory.
func (b *box) partition(op, kind string) (*region.Partition, error) {
	last := len(b.splits)
	diameter := make([]float64, last+1)
	for l := range diameter {
		diameter[l] = b.size(2, l).Length
	}
	size := b.size(b.p, last)
	p := &region.Partition{
		Cells: b.cells, Height: last, Apart: last, Diameter: size.Across * region.RoundUp,
		Resolution: size.Radius,
		Size: func(v node) (diameter, radius float64) {
			s := b.size(b.p, v.Level)
			return s.Diameter + b.rounding(), s.Radius + b.rounding()
		},
		Row: b.row() && !b.partial,
	}
	for p.Apart > 0 && b.apart(p.Apart-1) {
		p.Apart--
	}
	grid := region.NewGrid(b.arities, diameter)
	if p.Regions = grid; b.partial {
		m := masked{grid, b}
		if !m.possible(0, make([]int, len(b.factors))) {
			return nil, fault.Value(op, "Possible", 0, "true for the whole box")
		}
		p.Regions = m
	}
	p.Identity = region.Identity{Kind: kind, Layout: b.layout(), ID: b.digest(kind, p.Regions)}
	return p, nil
}

// row reports whether the box is an interval.
func (b *box) row() bool {
	_, ok := b.factors[0].(*column.Number)
	return ok && len(b.factors) == 1
}

// geometry makes the tree of a box and the sizes of its nodes.
func (b *box) geometry() (*region.Geometry, error) {
	g := &region.Geometry{Regular: true}
	nodes, dim := 1, 0
	for l, k := range b.arities {
		g.Classes = append(g.Classes, region.Class{Nodes: nodes, Arity: k, Depth: l, Diameter: b.size(b.p, l).Diameter, Spread: b.spread(l)})
		nodes *= k
	}
	for _, f := range b.factors {
		if plan := f.Plan(); plan.Divisible() {
			dim += plan.Entries
		}
	}
	if dim > 1 {
		g.Exponent = 0.25
	}
	if b.row() {
		g.Line = make([]float64, b.cells)
		for i := range g.Line {
			g.Line[i] = (float64(i) + 0.5) / float64(b.cells) * b.factors[0].Size(0, 1).Length
		}
	}
	var err error
	g.Tree, err = walk.Levels(b.arities...)
	return g, err
}

// layout names the cells of every column and the levels.
func (b *box) layout() string {
	if b.cells == 1 {
		return "1 cell"
	}
	var sides []string
	for _, n := range b.parts[len(b.splits)] {
		sides = append(sides, power(n))
	}
	cells := strings.Join(sides, " x ") + " cells"
	if b.partial {
		cells += ", some of them impossible"
	}
	arity := fmt.Sprint(slices.Min(b.arities))
	if hi := slices.Max(b.arities); hi > slices.Min(b.arities) {
		arity += fmt.Sprint(" to ", hi)
	}
	return layout(cells, len(b.arities), arity)
}

// digest is that of the columns, their cuts, and which of the first regions are possible.
func (b *box) digest(kind string, regions region.Tree) [region.IDSize]byte {
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
		for _, v := range region.First(regions, 256) {
			whole = append(whole, int64(v.Level), int64(v.Index))
		}
	}
	return digest(kind, whole, numbers)
}

// size has the p-norms of the sizes of the columns at depth l.
func (b *box) size(p float64, l int) column.Size {
	length, diameter, radius, across := norm{p: p}, norm{p: p}, norm{p: p}, norm{p: p}
	for a, f := range b.factors {
		s := f.Size(b.cuts[l][a], b.parts[l][a])
		length.add(s.Length)
		diameter.add(s.Diameter)
		radius.add(s.Radius)
		across.add(s.Across)
	}
	s := column.Size{Length: length.value(), Diameter: diameter.value(), Radius: radius.value(), Across: across.value()}
	if b.possible != nil { // where a center is impossible the point is any other
		s.Radius, s.Across = s.Diameter, s.Across+s.Diameter
	}
	return s
}

// rounding bounds what the rounding of records' places in numbers and of centers adds to distances
// in a region: some ulps of the numbers, of which a part may have as few as 4.
func (b *box) rounding() float64 {
	sum := 0.0
	for _, c := range b.columns {
		if !c.Whole && c.Categories == 0 && c.Taxonomy == nil {
			sum += float64(max(math.Abs(c.Lo), math.Abs(c.Hi), 8*c.Radius) * c.Weight)
		}
	}
	return float64(sum * 0x1p-49)
}

// apart reports whether no node of depth l has two values that must be told apart.
func (b *box) apart(l int) bool {
	for a, f := range b.factors {
		if b.cuts[l][a] < f.Plan().Must {
			return false
		}
	}
	return true
}
