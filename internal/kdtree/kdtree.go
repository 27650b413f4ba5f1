// Package kdtree prunes searches over points that sit in R^d: for the nearest, a ball or a spanning
// tree. A search leaves out the points that no distance within the rounding of the metric could let
// in, and asks the metric about the others, so that its answers are those of a plain scan.
package kdtree

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Tree is a balanced kd-tree over the points of a metric.Embedding, without
// pointers: node k has the children 2k and 2k+1, all leaves have one depth, and
// a node owns a run [lo, hi) of the places, its children the halves [lo, mid)
// and [mid, hi), mid = (lo+hi)/2. The root is node 1 and owns [0, N).
//
// The contract of metric.Embedding holds up to rounding, which is taken to mean
// that for points i and j at the computed norm v in normalized coordinates,
//
//	(1-SlackOut) FromNorm(lower(v)) <= Distance(i, j) <= (1+SlackOut) FromNorm(upper(v)),
//	lower(v) = v(1-slack) - slack, upper(v) = v(1+slack) + slack,
//
// with slack = Dim*SlackDim. The derivation stands at the constants. A Tree is
// only read once it is made.
type Tree struct {
	N, Dim int
	ID     []int32 // the point at each place
	First  []int32 // node by node: the least ID
	Leaves int     // a power of two; node k is a leaf where k >= Leaves

	p      float64
	from   func(float64) float64
	scale  float64 // a power of two: coords times scale are the embedding's
	slack  float64
	coords []float64 // place by place, max |c| in [1, 2)
	boxes  []float64 // node by node: Dim lower ends, then Dim upper ends
}

const (
	// LeafSize is the largest number of points in a leaf.
	LeafSize = 16

	// MaxDim is the dimension above which nearest-neighbor searches visit
	// nearly every leaf and a plain scan is faster.
	MaxDim = 20

	// SlackDim, times Dim, covers, with u = 2^-53 and |coordinates| < 2 after scaling:
	// coordinates that are each wrong by up to 32u of the largest (a sine, a cosine, a product
	// and a reduction of the angle stay below 10u), so two points by 64u*2 in each of Dim
	// coordinates, which the 1-norm adds up and every other norm does less; that is the
	// absolute part, Dim*2^-46. The relative part need only cover the sum, power and root of a
	// norm, below (2Dim+16)u here and as much in Distance.
	SlackDim = 0x1p-46

	// SlackOut covers what FromNorm and Distance do after the norm: a few
	// elementary functions and a change of unit, 32u each.
	SlackOut = 0x1p-47

	// tiny is the distance below which relative errors may be larger, for want
	// of digits: nothing is told from 0 there.
	tiny = 0x1p-960

	// maxQuery bounds the normalized coordinates of a query from outside, so
	// that no square overflows. Farther out, points are scanned.
	maxQuery = 0x1p500

	parallelBuild = 1 << 14 // points of a subtree that are worth a goroutine
)

// New builds the tree over the points ids (nil: all) of an embedding, the fields
// of a metric.Embedding, and numbers them from 0 in that order. It returns nil
// where a tree is of no use or the embedding cannot be used. O(n log n).
func New(coords []float64, dim int, p float64, fromNorm func(norm float64) float64, ids []int) *Tree {
	if dim < 1 || dim > MaxDim || !(p >= 1) || fromNorm == nil || len(coords)%dim != 0 {
		return nil
	}
	n := len(coords) / dim
	if ids != nil {
		n = len(ids)
	}
	if n == 0 || n > math.MaxInt32 || fault.AllFinite("", "", coords) != nil {
		return nil
	}
	t := &Tree{N: n, Dim: dim, ID: make([]int32, n), Leaves: 1, p: p, from: fromNorm, scale: 1,
		slack: float64(dim) * SlackDim, coords: make([]float64, 0, n*dim)}
	for k := range t.ID {
		i := k
		if ids != nil {
			i = ids[k]
		}
		t.ID[k] = int32(k)
		t.coords = append(t.coords, coords[i*dim:(i+1)*dim]...)
	}
	if m := maxAbs(t.coords); m > 0 {
		_, exp := math.Frexp(m)
		// At the least scale the inverse is still finite.
		t.scale = math.Ldexp(1, max(exp-1, -1022))
		t.Normalize(t.coords)
	}
	for n > t.Leaves*LeafSize {
		t.Leaves *= 2
	}
	t.boxes = make([]float64, 2*t.Leaves*2*t.Dim)
	t.First = make([]int32, 2*t.Leaves)
	t.build(1, 0, n, bits.Len(uint(parallel.Workers(0)-1))+1)
	return t
}

func maxAbs(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

// Normalize scales the coordinates x, which is exact unless they underflow;
// what is lost then lies far below the slack.
func (t *Tree) Normalize(x []float64) { floats.Scale(1/t.scale, x) }

// build arranges the points [lo, hi) under node, with up to 2^spawn goroutines.
func (t *Tree) build(node, lo, hi, spawn int) {
	least, most := t.Box(node)
	copy(least, t.At(lo))
	copy(most, t.At(lo))
	for k := lo + 1; k < hi; k++ {
		for a, v := range t.At(k) {
			if v < least[a] {
				least[a] = v
			} else if v > most[a] {
				most[a] = v
			}
		}
	}
	if node >= t.Leaves {
		t.First[node] = slices.Min(t.ID[lo:hi])
		return
	}
	axis := 0
	for a := range least {
		if most[a]-least[a] > most[axis]-least[axis] {
			axis = a
		}
	}
	mid := (lo + hi) / 2
	t.split(lo, mid, hi, axis)
	if spawn > 0 && hi-lo >= parallelBuild {
		var wg sync.WaitGroup
		wg.Go(func() { t.build(2*node, lo, mid, spawn-1) })
		t.build(2*node+1, mid, hi, spawn-1)
		wg.Wait()
	} else {
		t.build(2*node, lo, mid, 0)
		t.build(2*node+1, mid, hi, 0)
	}
	t.First[node] = min(t.First[2*node], t.First[2*node+1])
}

// split moves the points of [lo, hi) with the least coordinates along axis to
// [lo, mid): quickselect, stopping on equal keys so that duplicates halve too,
// with medians of three pseudo-random places for pivots.
func (t *Tree) split(lo, mid, hi, axis int) {
	c, d := t.coords[axis:], t.Dim
	seed := uint64(lo)<<32 ^ uint64(hi)
	for hi-lo > 1 {
		var v [3]float64
		for k := range v {
			seed = seed*6364136223846793005 + 1442695040888963407 // Knuth's LCG
			v[k] = c[(lo+int((seed>>32)*uint64(hi-lo)>>32))*d]
		}
		pivot := max(min(v[0], v[1]), min(max(v[0], v[1]), v[2]))
		i, j := lo, hi-1
		for i <= j {
			for c[i*d] < pivot {
				i++
			}
			for c[j*d] > pivot {
				j--
			}
			if i <= j {
				t.ID[i], t.ID[j] = t.ID[j], t.ID[i]
				x, y := t.At(i), t.At(j)
				for a, v := range x {
					x[a], y[a] = y[a], v
				}
				i++
				j--
			}
		}
		switch { // [lo, j] <= pivot <= [i, hi), and between them equal to it
		case mid <= j:
			hi = j + 1
		case mid >= i:
			lo = i
		default:
			return
		}
	}
}

// At returns the normalized coordinates of the point at place k.
func (t *Tree) At(k int) []float64 { return t.coords[k*t.Dim : (k+1)*t.Dim : (k+1)*t.Dim] }

// Scale returns what one of the norm is in the coordinates of the embedding, a power of two.
func (t *Tree) Scale() float64 { return t.scale }

// Box returns the least and the largest coordinates of node's points, normalized.
func (t *Tree) Box(node int) (least, most []float64) {
	box := t.boxes[2*node*t.Dim : 2*(node+1)*t.Dim]
	return box[:t.Dim], box[t.Dim:]
}

// Norm returns the p-norm from x to the point at place k. It and its kin leave
// the differences in gaps, a scratch slice of length Dim.
func (t *Tree) Norm(k int, x, gaps []float64) float64 {
	for a, v := range t.At(k) {
		gaps[a] = math.Abs(v - x[a])
	}
	return t.fold(gaps)
}

// BoxMin returns the least p-norm from x to a point of node's box.
func (t *Tree) BoxMin(node int, x, gaps []float64) float64 {
	least, most := t.Box(node)
	for a, v := range x {
		g := 0.0 // max takes longer
		if v < least[a] {
			g = least[a] - v
		} else if v > most[a] {
			g = v - most[a]
		}
		gaps[a] = g
	}
	return t.fold(gaps)
}

// BoxMax returns the largest p-norm from x to a point of node's box.
func (t *Tree) BoxMax(node int, x, gaps []float64) float64 {
	least, most := t.Box(node)
	for a, v := range x {
		gaps[a] = max(v-least[a], most[a]-v)
	}
	return t.fold(gaps)
}

// fold returns the p-norm of g >= 0.
func (t *Tree) fold(g []float64) float64 {
	s := 0.0
	switch {
	case t.p == 2:
		for _, v := range g {
			s += float64(v * v)
		}
		return math.Sqrt(s)
	case t.p == 1:
		for _, v := range g {
			s += v
		}
		return s
	}
	m := maxAbs(g)
	if m == 0 || math.IsInf(t.p, 1) {
		return m
	}
	for _, v := range g { // divided by m, or high powers would all underflow
		s += math.Pow(v/m, t.p)
	}
	return m * math.Pow(s, 1/t.p)
}

// Below returns a lower bound of the distance of two points of the tree at the
// norm v or more, within the error of v.
func (t *Tree) Below(v float64) float64 { return t.below(v, t.slack) }

// BelowFrom is Below for a point from outside whose normalized coordinates are at most size >= 1.
func (t *Tree) BelowFrom(v, size float64) float64 { return t.below(v, t.slack*size) }

func (t *Tree) below(v, slack float64) float64 {
	low := float64(v*(1-t.slack)) - slack
	if !(low > 0) {
		low = 0
	} else if low *= t.scale; low > math.MaxFloat64 {
		low = math.MaxFloat64 // a norm may overflow although no distance does
	}
	if d := t.from(low) * (1 - SlackOut); !(d < tiny) {
		return d
	}
	return 0
}

// Above returns an upper bound of the distance of two points of the tree at the
// norm v or less, within the error of v.
func (t *Tree) Above(v float64) float64 { return t.above(v, t.slack) }

// above returns an upper bound of the distance at the norm v or less.
func (t *Tree) above(v, slack float64) float64 {
	return max(tiny, t.from((float64(v*(1+t.slack))+slack)*t.scale)*(1+SlackOut))
}

// Reach tells which norms rule a point out of a search from one place. FromNorm is
// monotone, so one answer of it serves all norms on that side.
type Reach struct {
	R float64 // the distance searched for

	t     *Tree
	slack float64 // the absolute part
	no    float64 // this norm and all beyond it are ruled out
	yes   float64 // this norm and all before it are not, at the present R
}

// Reach returns one for searches from points of the tree.
func (t *Tree) Reach() Reach { return Reach{t: t, slack: t.slack} }

// Aim makes c a Reach for searches from x, in normalized coordinates, and
// reports whether x is near enough to the points for the tree to be of use.
func (c *Reach) Aim(x []float64) bool {
	// A point far outside errs in proportion to its own coordinates.
	m := maxAbs(x)
	if len(x) != c.t.Dim || !(m <= maxQuery) {
		return false
	}
	c.slack = c.t.slack * max(1, m)
	return true
}

// Within makes R = r the largest distance of interest.
func (c *Reach) Within(r float64) { c.R, c.no, c.yes = r, math.Inf(1), 0 }

// Far reports whether every point at the norm v or more, within the error of
// v, is at a distance > R.
func (c *Reach) Far(v float64) bool {
	if v >= c.no {
		return true
	}
	if v <= c.yes {
		return false
	}
	if c.t.below(v, c.slack) > c.R {
		c.no = v
		return true
	}
	c.yes = v
	return false
}

// Nearer lowers R to r.
func (c *Reach) Nearer(r float64) { c.R, c.yes = r, 0 }

// Beyond makes R = r the smallest distance of interest.
func (c *Reach) Beyond(r float64) { c.R, c.no, c.yes = r, -1, math.Inf(1) }

// Short reports whether every point at the norm v or less, within the error of
// v, is at a distance < R.
func (c *Reach) Short(v float64) bool {
	if v <= c.no {
		return true
	}
	if v >= c.yes {
		return false
	}
	if c.t.above(v, c.slack) < c.R {
		c.no = v
		return true
	}
	c.yes = v
	return false
}

// Farther raises R to r.
func (c *Reach) Farther(r float64) { c.R, c.yes = r, math.Inf(1) }
