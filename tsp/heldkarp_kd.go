package tsp

import (
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// hkKD finds exact minimum spanning trees under [hkCost] of points that sit in
// R^d, by Borůvka's algorithm on a kd-tree. (The index of package metric knows
// no multipliers and no components.) The tree decides nothing: it rules out
// points that are farther than some bound under any rounding that [Embedding]
// allows, and f is asked about the others.
//
// Node k has the children 2k and 2k+1 and owns a run [lo, hi) of the places,
// its children the halves of it; nodes from leaves on are leaves.
type hkKD struct {
	f      metric.Finite
	e      metric.Embedding
	slack  float64 // relative; times the largest coordinate, absolute
	most   float64 // the largest coordinate
	id     []int32 // the point at each place
	coords []float64
	leaves int
	box    []float64 // least and largest coordinates, node by node

	// Of the tree under way.
	pi   []float64 // by place
	low  []float64 // by node, the least multiplier
	set  []int32   // by place, the component
	one  []int32   // by node, the component of all its places, or -1
	gaps []float64
}

const (
	// hkLeaf is the largest number of points in a leaf.
	hkLeaf = 8

	// hkMinKD is the number of points from which the tree beats Prim's
	// algorithm, and hkMaxDim the dimension up to which it is sure to at twice
	// that.
	hkMinKD  = 2048
	hkMaxDim = 4

	// hkSlack times the dimension, and hkSlackOut, cover the rounding that
	// [metric.Embedding] allows: with u = 2^-53, coordinates wrong by 32u of the
	// largest make two points wrong by 128u = 2^-46 of it in each dimension; the
	// norm errs by less than (2 Dim+16)u, relative, here and in Distance; and
	// what FromNorm and Distance do after the norm by 32u each = 2^-47.
	hkSlack    = 0x1p-46
	hkSlackOut = 0x1p-47
)

// hkNewKD returns nil where Prim's algorithm is the better choice.
func hkNewKD(f metric.Finite) *hkKD {
	n := f.Len()
	if n < hkMinKD || n > math.MaxInt32/2 {
		return nil
	}
	e, ok := metric.Embed(f)
	if !ok || e.Dim < 1 || e.Dim > hkMaxDim || !(e.P >= 1) || e.FromNorm == nil ||
		len(e.Coords) != n*e.Dim || fault.AllFinite("", "", e.Coords) != nil {
		return nil
	}
	t := &hkKD{f: f, e: e, slack: float64(e.Dim) * hkSlack, id: make([]int32, n), leaves: 1,
		pi: make([]float64, n), set: make([]int32, n), gaps: make([]float64, e.Dim)}
	for _, x := range e.Coords {
		t.most = max(t.most, math.Abs(x))
	}
	if t.most > 0x1p500 || t.most > 0 && t.most < 0x1p-400 { // squares might overflow or vanish
		return nil
	}
	for k := range t.id {
		t.id[k] = int32(k)
	}
	for n > t.leaves*hkLeaf {
		t.leaves *= 2
	}
	t.box = make([]float64, 2*t.leaves*2*e.Dim)
	t.low, t.one = make([]float64, 2*t.leaves), make([]int32, 2*t.leaves)
	t.build(1, 0, n)
	t.coords = make([]float64, 0, n*e.Dim)
	for _, i := range t.id {
		t.coords = append(t.coords, t.point(i)...)
	}
	t.e.Coords = nil // the copy in order of places serves from here on
	return t
}

func (t *hkKD) point(i int32) []float64 { return t.e.Coords[int(i)*t.e.Dim : (int(i)+1)*t.e.Dim] }

func (t *hkKD) build(node, lo, hi int) {
	d := t.e.Dim
	box := t.box[node*2*d : (node+1)*2*d]
	least, most := box[:d], box[d:]
	copy(least, t.point(t.id[lo]))
	copy(most, least)
	for _, i := range t.id[lo+1 : hi] {
		for a, v := range t.point(i) {
			least[a], most[a] = min(least[a], v), max(most[a], v)
		}
	}
	if node >= t.leaves {
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
	t.build(2*node, lo, mid)
	t.build(2*node+1, mid, hi)
}

// split moves the points of [lo, hi) least along axis to [lo, mid): quickselect
// with pseudo-random pivots, stopping on equal keys so that duplicates halve.
func (t *hkKD) split(lo, mid, hi, axis int) {
	key := func(k int) float64 { return t.e.Coords[int(t.id[k])*t.e.Dim+axis] }
	seed := uint64(lo)<<32 ^ uint64(hi)
	for hi-lo > 1 {
		seed = seed*6364136223846793005 + 1442695040888963407 // Knuth's LCG
		pivot := key(lo + int((seed>>32)*uint64(hi-lo)>>32))
		i, j := lo, hi-1
		for i <= j {
			for key(i) < pivot {
				i++
			}
			for key(j) > pivot {
				j--
			}
			if i <= j {
				t.id[i], t.id[j] = t.id[j], t.id[i]
				i++
				j--
			}
		}
		switch { // [lo, j] <= pivot <= [i, hi), equal between them
		case mid <= j:
			hi = j + 1
		case mid >= i:
			lo = i
		default:
			return
		}
	}
}

// below returns a lower bound of the distance between two points whose
// coordinates differ by at least gaps. Norms other than 1 and 2 are replaced by
// the maximum norm, which is below them.
func (t *hkKD) below(gaps []float64) float64 {
	v := 0.0
	switch t.e.P {
	case 2:
		for _, g := range gaps {
			v += float64(g * g)
		}
		v = math.Sqrt(v)
	case 1:
		for _, g := range gaps {
			v += g
		}
	default:
		for _, g := range gaps {
			v = max(v, g)
		}
	}
	v = t.e.FromNorm(max(0, float64(v*(1-t.slack))-float64(t.slack*t.most))) * (1 - hkSlackOut)
	if v < 0x1p-960 { // where relative errors may be larger
		return 0
	}
	return v
}

// bound returns a lower bound of the cost of all edges from place a to node.
// hkCost rounds monotonically, so it holds for the rounded costs.
func (t *hkKD) bound(a, node int) float64 {
	d := t.e.Dim
	x, box := t.coords[a*d:(a+1)*d], t.box[node*2*d:(node+1)*2*d]
	for k, v := range x {
		g := 0.0
		if v < box[k] {
			g = box[k] - v
		} else if v > box[d+k] {
			g = v - box[d+k]
		}
		t.gaps[k] = g
	}
	return hkCost(t.below(t.gaps), t.pi[a], t.low[node])
}
