package distribution

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
	"github.com/metricdp/metricdp/mechanism/emd/internal/edges"
	"github.com/metricdp/metricdp/mechanism/emd/internal/interval"
	"github.com/metricdp/metricdp/metric"
)

// Domain is the public space of the items, for [New], which checks it: [Line], [Box], [Sphere], [Tree]
// or [Finite]. Bounds and points must be public knowledge, not read off the items. The zero value is
// refused. Immutable and safe for concurrent use.
type Domain[P any] struct {
	// open checks the arguments that the domain was made of.
	open func(ctx context.Context, op string) (ground[P], error)
}

// Line is the interval [lo, hi] of the real line, lo < hi, in the unit of Model.Unit. Items outside
// count at the nearer end; NaN is an error. The promise is about the items as given, to the last bit.
func Line(lo, hi float64) *Domain[float64] {
	return &Domain[float64]{func(_ context.Context, op string) (g ground[float64], err error) {
		if err := cmp.Or(fault.AllFinite(op, "ends of the line", []float64{lo, hi}), fault.Positive(op, "hi-lo", hi-lo)); err != nil {
			return g, err
		}
		g.diameter, g.named = directed.SubUp(hi, lo), []float64{lo, hi}
		g.plan = func(_ context.Context, op string, s setting) (plan[float64], error) {
			length := int64(math.Ceil(g.diameter / s.quantum))
			cells := max(1, math.Ceil(g.diameter/s.width(g.diameter)))
			if err := fault.Memory(op, cells, 80); err != nil {
				return plan[float64]{}, err
			}
			m := &interval.Map{Quantum: s.quantum, Bounds: interval.Cells(length, min(int64(cells), length))}
			m.Outputs = interval.Cells(length, min(4*int64(m.Dim()), length))
			return plan[float64]{
				shape:     m,
				lipschitz: 1 / s.quantum,
				point:     func(i int) float64 { return min(lo+float64(float64(m.Outputs[i])*s.quantum), hi) },
				add:       m.AddOutput,
				rounder: func() rounder[float64] {
					round := m.Rounder(lo, hi)
					return func(dst []int64, rng *rand.Rand, items []float64) error {
						if i := slices.IndexFunc(items, math.IsNaN); i >= 0 {
							return fmt.Errorf("item %d: %w", i, fault.Private(fault.Value("distribution: Line", "item", items[i], "a number")))
						}
						round(dst, rng, items)
						return nil
					}
				},
			}, nil
		}
		return g, nil
	}}
}

// Tree is the leaves of a tree under its path metric: item k is node t.Leaves()[k].
func Tree(t *metric.Tree) *Domain[int] {
	return &Domain[int]{func(_ context.Context, op string) (g ground[int], err error) {
		if err := fault.Empty(op, "tree", fault.Len(t)); err != nil {
			return g, err
		}
		order := t.Preorder()
		rank := make([]int, t.Len())
		for r, v := range order {
			rank[v] = r
		}
		// Twice the height is at least the diameter, and what the metric computes.
		high := make([]float64, t.Len())
		for _, v := range slices.Backward(order) {
			if p := t.Parent(v); p >= 0 {
				l := directed.AddUp(high[v], t.Length(v))
				g.diameter = max(g.diameter, directed.AddUp(high[p], l))
				high[p] = max(high[p], l)
			}
		}
		g.plan = func(_ context.Context, op string, s setting) (plan[int], error) {
			h := edges.Tree{}
			for _, v := range order {
				p, l := t.Parent(v), int64(0)
				if p >= 0 {
					p, l = rank[p], int64(t.Length(v)/s.quantum) // rounded down
				}
				h.Parent, h.Length = append(h.Parent, p), append(h.Length, l)
			}
			for _, v := range t.Leaves() {
				h.Items = append(h.Items, rank[v])
			}
			return treePlan(h, s), nil
		}
		return g, nil
	}}
}

// Finite is the points of a finite metric, as indices, at least two of which are apart. Ultrametrics
// ([metric.Clustered], [metric.Ultrametric]) and points on a line have maps that keep all distances.
// For any other metric the map is of one of three kinds:
//   - a star: every point has a coordinate of its own, half the distance to its nearest neighbor;
//   - a tree: the points joined in the order of the gaps between them (single linkage), without
//     the branches that noise would hide;
//   - centers: a point's weights of the centers near it, which sum to 1.
//
// The one that errs the least is taken, in simulations of the noise on public references; each is
// O(n^2) distances for n points. All who take part get the same from the same distances.
func Finite(space metric.Finite) *Domain[int] {
	return &Domain[int]{func(ctx context.Context, op string) (g ground[int], err error) {
		e, err := check.DistancesOf(ctx, op, space)
		if err != nil {
			return g, err
		}
		g.diameter, g.unit = e.Diameter, metric.UnitOf(space)
		switch s := space.(type) {
		case *metric.Clustered:
			if err := fault.Memory(op, float64(s.Len()), 200); err != nil {
				return g, err
			}
			order, heights := dendrogramOf(s)
			g.plan = ultrametricPlan(order, heights)
		case *metric.Ultrametric:
			g.plan = ultrametricPlan(s.Order(), s.Heights())
		default:
			x, ok := finite.Line(space)
			g.plan = func(ctx context.Context, op string, s setting) (plan[int], error) {
				if !ok {
					return choosePlan(ctx, op, space, g.diameter, s)
				}
				return positionsPlan(ctx, space, x, g.diameter, s)
			}
		}
		return g, nil
	}}
}

// ground is a checked domain.
type ground[P any] struct {
	diameter float64     // at least the distance of any two items, > 0 and finite
	unit     metric.Unit // "" where it is not known
	named    []float64   // identify a domain of points in space; nil where the items are the outputs
	// plan maps the items for a release, at the resolution that pays.
	plan func(ctx context.Context, op string, s setting) (plan[P], error)
}

// setting is what is known of a release before it, all of it public, in units of distance.
type setting struct {
	noise    float64 // about the expected size of that on a coordinate of the mean, for a constant of 1
	quantum  float64 // a power of two that one integer should stand for: see [Distribution.setting]
	rounding float64 // noise times the root of the number of users, as large beside the rounding of as many means
	spacing  float64 // where positive, the user's choice of the resolution
}

// width is that of the cells of a line: m cells err by about 2m times the noise and a part of their
// width. 0.6 sqrt(A) cells, A = diameter/noise, are within a few percent of the best measured.
func (s setting) width(diameter float64) float64 {
	if s.spacing > 0 {
		return s.spacing
	}
	return math.Sqrt(diameter*s.noise) / 0.6
}

// rounder sets dst to the mean of Phi over a user's items, one or more, each coordinate
// rounded at random and independently to one of the two integers next to it such that
// its expectation is exact, or says which is no item. It is for one goroutine.
type rounder[P any] func(dst []int64, rng *rand.Rand, items []P) error

// plan is a map Phi of the items to vectors, and its inverse from the noisy mean of Phi.
type plan[P any] struct {
	shape
	rounder func() rounder[P] // makes the means of users
	// add adds count times Phi of output i, rounded to integers, to acc, of length Work,
	// in the form that Finish takes.
	add       func(acc []int64, i int, count int64)
	point     func(i int) P // where output i lies; the caller may keep it
	whole     bool          // Phi is of integers
	lipschitz float64       // the largest ||Phi(x) - Phi(y)||_1 / d(x,y), rounded up
}

// level is that of the noise on every coordinate which makes a release
// alpha-private: see [Distribution].
func (p plan[P]) level(alpha float64) float64 {
	return directed.Log1pDown(directed.DivDown(alpha, p.lipschitz))
}

// mean is the mean of Phi under weights of the outputs, to 40 bits.
func (p plan[P]) mean(weights []float64) []float64 {
	units := min(1<<40, math.MaxInt64/2/p.Largest())
	n := make([]int64, len(weights))
	sample.Divide(weights, units, n)
	acc := make([]int64, p.Work())
	for i, c := range n {
		if c > 0 {
			p.add(acc, i, c)
		}
	}
	p.Finish(acc)
	y := make([]float64, p.Dim())
	for i := range y {
		y[i] = float64(acc[i]) / float64(units)
	}
	return y
}

// fingerprint is a checksum of the map: of the domain's numbers, or else of the
// vectors of all items. Equal plans have equal ones.
func (p plan[P]) fingerprint(unit metric.Unit, named []float64) uint32 {
	b := []byte(unit)
	for _, v := range append([]float64{float64(p.Dim()), float64(p.Len()), p.lipschitz}, named...) {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v+0)) // no -0
	}
	if named == nil {
		acc := make([]int64, p.Work())
		for i := range p.Len() {
			// Odd factors, far apart; sums may wrap around.
			p.add(acc, i, int64(2*i+1)*0x9e3779b97f4a7c1)
		}
		p.Finish(acc)
		for _, v := range acc[:p.Dim()] {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
}

// shape is what of a plan does not know the items' type. Its methods are safe for
// concurrent use.
type shape interface {
	// Dim is the number of coordinates of Phi.
	Dim() int
	// Work is the length of an accumulator, at least Dim.
	Work() int
	// Largest bounds the sizes of coordinates, and of what one output adds to any
	// entry of an accumulator.
	Largest() int64
	// Finish makes of an accumulator the sum of Phi, in its first Dim numbers.
	Finish(acc []int64)
	// Len is the number of outputs, on which estimates lie.
	Len() int
	// Fit returns weights of the outputs, >= 0 and of sum 1 up to rounding, for
	// the noisy mean y of Phi. It may overwrite y.
	Fit(ctx context.Context, y []float64) ([]float64, error)
	// W1 is the distance of two lists of weights, or a number little above it.
	W1(ctx context.Context, p, q []float64) (float64, error)
	// Resolution bounds the distance of the items from what Fit makes of the mean
	// of Phi without noise.
	Resolution() float64
	// Bound bounds the expected distance of the items from the fit, where the
	// noise of each coordinate of y, independent and of mean 0, has the given
	// expected size and standard deviation. +Inf where there is no bound.
	Bound(size, deviation float64) float64
}

// maxPositions keeps positions on a lattice, and twice them, exact in float64.
const maxPositions = 1 << 51

// treePlan is the plan of a tree whose path metric, times the quantum, exceeds no
// distance.
func treePlan(t edges.Tree, s setting) plan[int] {
	m := edges.New(t, s.quantum, s.noise/s.quantum, s.spacing/s.quantum)
	return finitePlan(m, 1/s.quantum, m.Add)
}

// finitePlan is a plan whose items are the outputs, by index, and whose Phi is of
// integers.
func finitePlan(m shape, lipschitz float64, add func(acc []int64, x int, count int64)) plan[int] {
	return plan[int]{
		shape:     m,
		whole:     true,
		lipschitz: lipschitz,
		point:     func(i int) int { return i },
		add:       add,
		rounder: func() rounder[int] {
			acc := make([]int64, m.Work())
			return func(dst []int64, rng *rand.Rand, items []int) error {
				clear(acc)
				for i, x := range items {
					if err := fault.Index("distribution: Distribution", "item", x, m.Len()); err != nil {
						return fmt.Errorf("item %d: %w", i, fault.Private(err))
					}
					add(acc, x, 1)
				}
				m.Finish(acc)
				copy(dst, acc)
				roundMean(rng, dst, int64(len(items)))
				return nil
			}
		},
	}
}

// roundMean divides sums by m, each rounded to one of the two integers nearest
// such that its expectation is exact.
func roundMean(rng *rand.Rand, sums []int64, m int64) {
	if m == 1 {
		return
	}
	for i, s := range sums {
		q, rest := s/m, s%m
		if rest < 0 {
			q, rest = q-1, rest+m
		}
		if rest > 0 && rng.Int64N(m) < rest {
			q++
		}
		sums[i] = q
	}
}

// dendrogramOf is c as the points in a row with a height between each two.
func dendrogramOf(c *metric.Clustered) (order []int, heights []float64) {
	order = make([]int, c.Len())
	for i := range order {
		order[i] = i
		if i > 0 {
			heights = append(heights, c.Distance(i-1, i))
		}
	}
	return order, heights
}

// ultrametricPlan rounds half the heights down to integers, whose differences are
// the lengths of edges: no distance grows, and none shrinks by more than two
// quanta.
func ultrametricPlan(order []int, heights []float64) func(context.Context, string, setting) (plan[int], error) {
	return func(_ context.Context, _ string, s setting) (plan[int], error) {
		level := func(gap int) int64 { return int64(heights[gap] / 2 / s.quantum) }
		n := len(order)
		// Joins as they come, children before parents, then turned around.
		parent, length := make([]int, 2*n-1), make([]int64, 2*n-1)
		at := make([]int, len(heights))
		joins := 0
		spanning.Dendrogram(heights, func(gap, left, right int) {
			v := n + joins
			joins++
			at[gap] = v
			for side, k := range [2]int{left, right} {
				if k >= 0 {
					parent[at[k]], length[at[k]] = v, level(gap)-level(k)
				} else {
					i := order[gap+side]
					parent[i], length[i] = v, level(gap)
				}
			}
		})
		last := 2*n - 2
		t := edges.Tree{Parent: make([]int, 2*n-1), Length: make([]int64, 2*n-1), Items: make([]int, n)}
		for v := range last {
			t.Parent[last-v], t.Length[last-v] = last-parent[v], length[v]
		}
		t.Parent[0] = -1
		for i := range n {
			t.Items[i] = last - i
		}
		return treePlan(t, s), nil
	}
}

// positionsPlan is the plan of points at positions x on a line, up to rounding:
// that no distance there exceeds space's is seen to by the constant, a maximum
// over all pairs. O(n^2).
func positionsPlan(ctx context.Context, space metric.Finite, x []float64, diameter float64, s setting) (plan[int], error) {
	n := len(x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	at, sorted := make([]int64, n), make([]int64, n)
	for k, i := range order {
		at[i] = int64((x[i] - x[order[0]]) / s.quantum)
		sorted[k] = at[i]
	}
	// Gaps of half the width are left whole: more cells cost little.
	width := min(s.width(diameter), diameter)
	if s.spacing == 0 {
		width /= 2
	}
	m := &interval.Map{Quantum: s.quantum, Bounds: interval.Merge(sorted, int64(width/s.quantum)), Outputs: sorted}
	m.Exact = slices.Equal(m.Bounds, sorted)
	place := make([]int, n)
	for k, i := range order {
		place[i] = k
	}
	lipschitz := 0.0
	var row []float64
	for i := range n {
		if err := ctx.Err(); err != nil {
			return plan[int]{}, err
		}
		row = finite.Row(space, i, row)
		for j, d := range row {
			if move := at[i] - at[j]; move > 0 {
				lipschitz = max(lipschitz, directed.DivUp(float64(move), d))
			}
		}
	}
	return finitePlan(ordered{m, place}, lipschitz, func(acc []int64, i int, count int64) { m.Add(acc, at[i], count) }), nil
}

// ordered is a line whose outputs are renumbered: output i is at place[i].
type ordered struct {
	*interval.Map
	place []int
}

func (o ordered) Fit(ctx context.Context, y []float64) ([]float64, error) {
	sorted, err := o.Map.Fit(ctx, y)
	if err != nil {
		return nil, err
	}
	p := make([]float64, len(sorted))
	for i, k := range o.place {
		p[i] = sorted[k]
	}
	return p, nil
}

func (o ordered) W1(ctx context.Context, p, q []float64) (float64, error) {
	a, b := make([]float64, len(p)), make([]float64, len(p))
	for i, k := range o.place {
		a[k], b[k] = p[i], q[i]
	}
	return o.Map.W1(ctx, a, b)
}
