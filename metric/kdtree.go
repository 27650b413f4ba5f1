package metric

import (
	"math"
	"math/bits"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
)

// kdTree is a balanced kd-tree over the points of an [Embedding]. It holds no
// pointers: node k has the children 2k and 2k+1, every leaf lies at the same
// depth, and a node owns a run [lo, hi) of the points, its children the halves
// [lo, mid) and [mid, hi). Beside the coordinates, copied into tree order, a
// point costs 4 bytes, and a leaf of 8 to 16 points two tight boxes.
// (gonum.org/v1/gonum/spatial/kdtree allocates a node and a slice behind an
// interface for every point, about ten times as much, and measures through
// interface calls.)
//
// The tree decides nothing. It rules out points that no distance the metric
// may return could admit; the metric is asked about the others. The contract
// of Embedding holds up to rounding, which is taken to mean that for points i
// and j at the computed norm v in normalised coordinates,
//
//	(1-slackOut) FromNorm(lower(v)) <= Distance(i, j) <= (1+slackOut) FromNorm(upper(v)),
//	lower(v) = v(1-slack) - slack, upper(v) = v(1+slack) + slack,
//
// with slack = Dim*slackDim. The derivation stands at the constants.
type kdTree struct {
	n, dim int
	p      float64
	from   func(float64) float64
	scale  float64 // a power of two: coords times scale are the embedding's
	slack  float64
	coords []float64 // point by point in tree order, max |c| in [1, 2)
	id     []int32   // tree order to the index in the embedding
	boxes  []float64 // node by node: dim lower ends, then dim upper ends
	first  []int32   // node by node: the least id
	leaves int       // a power of two; node k is a leaf where k >= leaves
}

const (
	leafSize = 16 // points at most

	// maxTreeDim is the dimension above which nearest-neighbour searches visit
	// nearly every leaf and a plain scan is faster.
	maxTreeDim = 20

	// slackDim covers, with u = 2^-53 and |coordinates| < 2 after scaling:
	// coordinates that are each wrong by up to 32u of the largest (a sine, a
	// cosine, a product and a reduction of the angle stay below 10u), so two
	// points by 64u*2 in each of Dim coordinates, which the 1-norm adds up and
	// every other norm does less; that is the absolute part, Dim*2^-46. The
	// relative part need only cover the sum, power and root of a norm, below
	// (2Dim+16)u here and as much in Distance.
	slackDim = 0x1p-46

	// slackOut covers what FromNorm and Distance do after the norm: a few
	// elementary functions and a change of unit, 32u each.
	slackOut = 0x1p-47

	// maxQuery bounds the normalised coordinates of a query from outside, so
	// that no square overflows. Farther out, points are scanned.
	maxQuery = 0x1p500

	// parallelBuild is the size from which a subtree is worth a goroutine.
	parallelBuild = 1 << 14
)

// newKDTree builds the tree over the points ids of e (nil: all), which it
// numbers from 0 in that order. It returns nil where there is no use in a tree
// or no faith in the embedding. O(n log n).
func newKDTree(e Embedding, ids []int) *kdTree {
	if e.Dim < 1 || e.Dim > maxTreeDim || !(e.P >= 1) || e.FromNorm == nil || len(e.Coords)%e.Dim != 0 {
		return nil
	}
	n := len(e.Coords) / e.Dim
	if ids != nil {
		n = len(ids)
	}
	if n == 0 || n > math.MaxInt32 || fault.AllFinite("", "", e.Coords) != nil {
		return nil
	}
	t := &kdTree{n: n, dim: e.Dim, p: e.P, from: e.FromNorm, slack: float64(e.Dim) * slackDim,
		coords: make([]float64, 0, n*e.Dim), id: make([]int32, n), leaves: 1}
	for k := range t.id {
		i := k
		if ids != nil {
			i = ids[k]
		}
		t.id[k] = int32(k)
		t.coords = append(t.coords, e.Coords[i*e.Dim:(i+1)*e.Dim]...)
	}
	t.scale = 1
	if m := maxAbs(t.coords); m > 0 {
		_, exp := math.Frexp(m)
		// At the least scale the inverse is still finite.
		t.scale = math.Ldexp(1, max(exp-1, -1022))
		t.normalise(t.coords)
	}
	for n > t.leaves*leafSize {
		t.leaves *= 2
	}
	t.boxes = make([]float64, 2*t.leaves*2*t.dim)
	t.first = make([]int32, 2*t.leaves)
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

// normalise scales the coordinates x, which is exact unless they underflow;
// what is lost then lies far below the slack.
func (t *kdTree) normalise(x []float64) {
	inv := 1 / t.scale
	for k := range x {
		x[k] *= inv
	}
}

// build arranges the points [lo, hi) under node, with up to 2^spawn goroutines.
func (t *kdTree) build(node, lo, hi, spawn int) {
	box := t.box(node)
	least, most := box[:t.dim], box[t.dim:]
	copy(least, t.at(lo))
	copy(most, t.at(lo))
	for k := lo + 1; k < hi; k++ {
		for a, v := range t.at(k) {
			if v < least[a] {
				least[a] = v
			} else if v > most[a] {
				most[a] = v
			}
		}
	}
	if node >= t.leaves {
		t.first[node] = t.id[lo]
		for _, i := range t.id[lo+1 : hi] {
			t.first[node] = min(t.first[node], i)
		}
		return
	}
	axis := 0
	for a := range least {
		if most[a]-least[a] > most[axis]-least[axis] {
			axis = a
		}
	}
	mid := int(uint(lo+hi) / 2)
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
	t.first[node] = min(t.first[2*node], t.first[2*node+1])
}

// split moves the points of [lo, hi) with the least coordinates along axis to
// [lo, mid): quickselect, stopping on equal keys so that duplicates halve too.
// Its pivots are medians of three pseudo-random places, so that no ordinary
// order of the input makes it quadratic.
func (t *kdTree) split(lo, mid, hi, axis int) {
	c, d := t.coords[axis:], t.dim
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
				t.swap(i, j)
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

func (t *kdTree) swap(i, j int) {
	t.id[i], t.id[j] = t.id[j], t.id[i]
	x, y := t.at(i), t.at(j)
	for a, v := range x {
		x[a], y[a] = y[a], v
	}
}

// at returns the coordinates of the k-th point in tree order.
func (t *kdTree) at(k int) []float64 { return t.coords[k*t.dim : (k+1)*t.dim : (k+1)*t.dim] }

func (t *kdTree) box(node int) []float64 {
	w := 2 * t.dim
	return t.boxes[node*w : (node+1)*w : (node+1)*w]
}

// The three norms below leave the differences in gaps, a scratch slice of
// length dim.

// norm is the p-norm from x to the k-th point in tree order.
func (t *kdTree) norm(k int, x, gaps []float64) float64 {
	for a, v := range t.at(k) {
		gaps[a] = math.Abs(v - x[a])
	}
	return t.fold(gaps)
}

// boxMin is the least p-norm from x to a point of node's box.
func (t *kdTree) boxMin(node int, x, gaps []float64) float64 {
	box := t.box(node)
	least, most := box[:t.dim], box[t.dim:]
	for a, v := range x {
		g := 0.0
		if v < least[a] {
			g = least[a] - v
		} else if v > most[a] {
			g = v - most[a]
		}
		gaps[a] = g
	}
	return t.fold(gaps)
}

// boxMax is the largest p-norm from x to a point of node's box.
func (t *kdTree) boxMax(node int, x, gaps []float64) float64 {
	box := t.box(node)
	least, most := box[:t.dim], box[t.dim:]
	for a, v := range x {
		gaps[a] = max(v-least[a], most[a]-v)
	}
	return t.fold(gaps)
}

// fold returns the p-norm of g >= 0.
func (t *kdTree) fold(g []float64) float64 {
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
	m := 0.0
	for _, v := range g {
		if v > m {
			m = v
		}
	}
	if m == 0 || math.IsInf(t.p, 1) {
		return m
	}
	for _, v := range g { // divided by m, or high powers would all underflow
		s += math.Pow(v/m, t.p)
	}
	return m * math.Pow(s, 1/t.p)
}

// reach tells which norms rule a point out of a search, and asks FromNorm as
// seldom as it can: FromNorm is monotone, so one answer serves all norms on
// that side of it.
type reach struct {
	t     *kdTree
	slack float64 // the absolute part
	r     float64 // the distance searched for
	no    float64 // this norm and all beyond it are ruled out
	yes   float64 // this norm and all before it are not, at the present r
}

// within makes r the largest distance of interest.
func (c *reach) within(r float64) { c.r, c.no, c.yes = r, math.Inf(1), 0 }

// far reports whether every point at the norm v or more, within the error of
// v, is at a distance > r.
func (c *reach) far(v float64) bool {
	if v >= c.no {
		return true
	}
	if v <= c.yes {
		return false
	}
	// A sum of norms may overflow although no distance does.
	low := min(max(0, float64(v*(1-c.t.slack))-c.slack)*c.t.scale, math.MaxFloat64)
	if c.t.from(low)*(1-slackOut) > c.r {
		c.no = v
		return true
	}
	c.yes = v
	return false
}

// nearer lowers r.
func (c *reach) nearer(r float64) { c.r, c.yes = r, 0 }

// beyond makes r the smallest distance of interest.
func (c *reach) beyond(r float64) { c.r, c.no, c.yes = r, -1, math.Inf(1) }

// short reports whether every point at the norm v or less, within the error of
// v, is at a distance < r.
func (c *reach) short(v float64) bool {
	if v <= c.no {
		return true
	}
	if v >= c.yes {
		return false
	}
	if c.t.from((float64(v*(1+c.t.slack))+c.slack)*c.t.scale)*(1+slackOut) < c.r {
		c.no = v
		return true
	}
	c.yes = v
	return false
}

// farther raises r.
func (c *reach) farther(r float64) { c.r, c.yes = r, math.Inf(1) }
