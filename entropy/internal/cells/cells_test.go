package cells

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// scale is the entropic scale of at most some ten points from its definition:
// the largest least distance of a set with more points than its ball may hold.
func scale(b metric.Bimetric, alpha float64) float64 {
	n, best := b.Len(), 0.0
	for set := range 1 << n {
		count, sep := 0, math.Inf(1)
		for i := range n {
			if set>>i&1 == 0 {
				continue
			}
			count++
			for j := range i {
				if set>>j&1 == 1 {
					sep = min(sep, b.Utility.Distance(i, j))
				}
			}
		}
		if count < 2 || sep <= best {
			continue
		}
		for x := range n {
			r := 0.0
			for i := range n {
				if set>>i&1 == 1 {
					r = max(r, b.Privacy.Distance(x, i))
				}
			}
			if limit.Exceeded(alpha, r, count) {
				best = max(best, sep)
			}
		}
	}
	return best
}

func check(t *testing.T, b metric.Bimetric, alpha float64, s Enclosure) {
	t.Helper()
	if s.Lo == 0 {
		if s.Set != nil {
			t.Fatalf("a set for 0: %+v", s)
		}
		return
	}
	r := 0.0
	for k, i := range s.Set {
		r = max(r, b.Privacy.Distance(s.X, i))
		for _, j := range s.Set[:k] {
			if d := b.Utility.Distance(i, j); d < s.Lo {
				t.Fatalf("%d and %d are %v apart, Lo %v", i, j, d, s.Lo)
			}
		}
	}
	if s.Lo > s.Hi || !limit.Exceeded(alpha, r, len(s.Set)) {
		t.Fatalf("alpha %v: %+v, radius %v", alpha, s, r)
	}
}

// small returns points of a small integer grid or of the plane, with ties and
// duplicates, under one or two metrics.
func small(r *rand.Rand) metric.Bimetric {
	n := 1 + r.IntN(8)
	draw := func() metric.Finite {
		if r.IntN(2) == 0 {
			return space.Uniform(n, r)
		}
		pts := make([][]float64, n)
		for i := range pts {
			pts[i] = []float64{float64(r.IntN(3)), float64(r.IntN(3))}
		}
		return space.Euclidean(pts)
	}
	b := metric.Same(draw())
	if r.IntN(2) == 0 {
		b.Utility = draw()
	}
	return b
}

// Exact where small with a search, and true without.
func TestSearch_Definition(t *testing.T) {
	testkit.Slow(t)
	r := random.Seeded(1)
	for range testkit.Sweep(50, 150) {
		b := small(r)
		for _, nodes := range []int{20000, 0} {
			s := testkit.Must(New(t.Context(), b, Options{Nodes: nodes}))
			for _, alpha := range []float64{9, 2, 0.7, 0.1} { // each begins with the set before
				got := testkit.Must(s.Scale(alpha))
				check(t, b, alpha, got)
				want := scale(b, alpha)
				if got.Lo > want || got.Hi < want || nodes > 0 && got.Lo != got.Hi {
					t.Fatalf("%d points, alpha %v, %d nodes: [%v, %v], want %v", b.Len(), alpha, nodes, got.Lo, got.Hi, want)
				}
			}
		}
	}
}

// The bits of a result do not depend on the number of workers.
func TestSearch_Workers(t *testing.T) {
	b := metric.Bimetric{Privacy: space.Uniform(400, random.Seeded(1)), Utility: space.Uniform(400, random.Seeded(2))}
	var first Enclosure
	for _, workers := range []int{1, 3} {
		s := testkit.Must(New(t.Context(), b, Options{Nodes: 500, Workers: workers}))
		got := testkit.Must(s.Scale(10))
		check(t, b, 10, got)
		if first.Set == nil {
			first = got
		}
		if got.Lo != first.Lo || got.Hi != first.Hi || got.X != first.X {
			t.Errorf("%d workers: %+v, one: %+v", workers, got, first)
		}
	}
}
