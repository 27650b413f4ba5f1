package metric

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/metricdp/metricdp/internal/kdtree"
)

// Locator finds the members of a [Points] that lie nearest to any points. It searches a kd-tree
// where the space is an [Embedder] in at most 20 dimensions, as [Index] does, and scans otherwise,
// long vectors of [Float32] under [Euclidean] in float32 first. The answers are those of a plain
// scan.
//
// Queries must be points that the space's [Checker], if any, accepts. A Locator is immutable and
// safe for concurrent use, and its queries do not allocate.
type Locator[P any] struct {
	pool sync.Pool // of *visitor[P]
	scan func(x P) (i int, d float64, ok bool)
}

// NewLocator returns a locator for the points of p. O(n log n).
func NewLocator[P any](p *Points[P]) *Locator[P] {
	space, _ := p.space.(Embedder[P])
	tree, _ := treeOver(p, nil)
	l := new(Locator[P])
	l.pool.New = func() any {
		v := &visitor[P]{p: p, space: space}
		v.query = newQuery(tree, v)
		return v
	}
	if q, ok := any(p).(*Points[[]float32]); ok && q.space == Space[[]float32](Float32[Euclidean]{}) {
		if s := newScan(q.pts); s != nil {
			l.scan = any(s.nearest).(func(P) (int, float64, bool))
		}
	}
	return l
}

// Nearest returns the point nearest to x, the lowest i of several, and its distance.
func (l *Locator[P]) Nearest(x P) (i int, d float64) {
	if l.scan != nil {
		if i, d, ok := l.scan(x); ok {
			return i, d
		}
	}
	v := l.visit(x)
	defer l.leave(v)
	v.nearest(1, nobody, -1)
	return v.best[0].i, v.best[0].d
}

// Within appends to dst, in ascending order, all points at a distance <= r from x, and returns it.
func (l *Locator[P]) Within(x P, r float64, dst []int) []int {
	v := l.visit(x)
	defer l.leave(v)
	return v.ball(r, dst)
}

func (l *Locator[P]) visit(x P) *visitor[P] {
	v, ok := l.pool.Get().(*visitor[P])
	if !ok {
		panic("metric: a Locator without points: NewLocator makes one")
	}
	v.at = x
	if v.tree != nil {
		v.coords = v.space.Append(v.coords[:0], x)
		v.tree.Normalize(v.coords)
		v.aim(v.coords)
	}
	return v
}

func (l *Locator[P]) leave(v *visitor[P]) {
	var none P
	v.at = none // do not keep it alive
	l.pool.Put(v)
}

// visitor is a query from a point outside, which it measures from.
type visitor[P any] struct {
	*query
	p      *Points[P]
	space  Embedder[P]
	at     P
	coords []float64
}

func (v *visitor[P]) Len() int                  { return v.p.Len() }
func (v *visitor[P]) Distance(_, j int) float64 { return v.p.space.Distance(v.at, v.p.pts[j]) }

// scan finds the nearest of many long vectors of float32 under [Euclidean]. It ranks them by
//
//	s = |w|^2/2 - <y,w>,
//
// half of |y-w|^2 - |y|^2, with inner products in float32, and measures those that rounding could
// have kept from the first place.
type scan struct {
	pts  [][]float32
	half []float32
	norm float64   // the largest |w|
	pool sync.Pool // of *[]float32
}

// The norms between which a scan trusts float32 not to overflow, and to lose to underflow
// less than it does to rounding.
const minScan, maxScan = 0x1p-40, 0x1p50

// newScan returns nil where the points have few coordinates, or strange ones.
func newScan(pts [][]float32) *scan {
	if len(pts[0]) <= kdtree.MaxDim {
		return nil
	}
	s := &scan{pts: pts, half: make([]float32, len(pts))}
	for i, w := range pts {
		v := norm(w)
		s.norm = max(s.norm, v)
		s.half[i] = float32(v * v / 2)
	}
	if !(s.norm >= minScan && s.norm <= maxScan) {
		return nil
	}
	s.pool.New = func() any { return new([]float32) }
	return s
}

// margin is by how much a computed s may exceed the least one where the computed distance
// is the least. With u = 2^-24 and d coordinates the inner product errs by (d+1)u|w||y|
// at most, in whatever order it is summed, half of |w|^2 by u|w|^2, and their difference by
// u times both; a distance by a relative (d+8)2^-53, so that half the squares of two
// that are in the wrong order differ by no more than (d+16) 2^-52 (|w|+|y|)^2.
func (s *scan) margin(y float64) float64 {
	d, w := float64(len(s.pts[0])), s.norm
	return 0x1p-22*(float64((d+8)*w*y)+float64(2*w*w)) + float64((d+16)*0x1p-51*(w+y)*(w+y))
}

// nearest returns the point nearest to y by the distance of [Float32], the lowest of several,
// and the distance; ok is false for a y too far out.
func (s *scan) nearest(y []float32) (best int, d float64, ok bool) {
	sameLength(len(y), len(s.pts[0]))
	far := norm(y)
	if !(far <= maxScan) {
		return 0, 0, false
	}
	buf := s.pool.Get().(*[]float32)
	defer s.pool.Put(buf)
	*buf = slices.Grow((*buf)[:0], len(s.pts))[:len(s.pts)]
	score, least := *buf, float32(math.Inf(1))
	at := blas32.Vector{N: len(y), Inc: 1, Data: y}
	for i, w := range s.pts {
		v := s.half[i] - blas32.Dot(at, blas32.Vector{N: len(w), Inc: 1, Data: w})
		score[i] = v
		least = min(least, v)
	}
	limit := math.Nextafter32(float32(float64(least)+s.margin(far)), float32(math.Inf(1)))
	d = math.Inf(1)
	for i, v := range score {
		if v <= limit {
			if r := euclidean(y, s.pts[i]); r < d {
				best, d = i, r
			}
		}
	}
	return best, d, true
}
