package metric

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/metricdp/metricdp/internal/kdtree"
)

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
