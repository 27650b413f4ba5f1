package distribution

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// finiteMaps are all that choosePlan may choose from.
func finiteMaps(t testing.TB, f metric.Finite, s setting) map[string]plan[int] {
	n := f.Len()
	order, radii, err := metric.FarthestFirst(t.Context(), f, n, 0)
	testkit.Check(t, err)
	near, _, err := metric.Assign(t.Context(), f, order)
	testkit.Check(t, err)
	g := &finiteGround{space: f, diameter: math.Inf(1), near: near}
	list := map[string]plan[int]{
		"star":        testkit.Must(g.star(t.Context(), s)),
		"subdominant": testkit.Must(g.subdominant(t.Context(), s)),
	}
	for k := 2; k < n && radii[k] > 0; k *= 2 {
		list[fmt.Sprint(k, " centers")] = testkit.Must(g.centers(t.Context(), order[:k], 2*radii[k], s, k))
	}
	return list
}

// crowd is points in the plane, some of which coincide.
func crowd(n int, seed uint64) metric.Finite {
	rng := random.Seeded(seed)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{rng.Float64(), rng.Float64()}
		if i%7 == 3 {
			pts[i] = pts[i/2]
		}
	}
	return space.Euclidean(pts)
}

// TestFinite_MapsAreLipschitz: no pair of points is farther apart than stated, and
// partitions and the star have one that is as far, to 1 %.
func TestFinite_MapsAreLipschitz(t *testing.T) {
	for seed := range uint64(3) {
		f := crowd(40, seed)
		for _, quantum := range []float64{0x1p-30, 0x1p-8} {
			for name, p := range finiteMaps(t, f, setting{noise: 0.01, quantum: quantum}) {
				if p.lipschitz*quantum > 1 {
					t.Errorf("%s: constant %v, above 1/%v", name, p.lipschitz, quantum)
				}
				steepest := 0.0
				for x := range f.Len() {
					u := meanOf(p, x)
					for y := range x {
						apart, d := 0.0, f.Distance(x, y)
						for i, v := range meanOf(p, y) {
							apart += math.Abs(float64(v.k - u[i].k))
						}
						if apart > p.lipschitz*d*(1+1e-12) {
							t.Fatalf("%s: points %d and %d at %v are %v apart, above %v", name, x, y, d, apart, p.lipschitz*d)
						}
						if d > 0 {
							steepest = max(steepest, apart/d)
						}
					}
				}
				if name != "subdominant" && steepest < 0.99*p.lipschitz && quantum < 0x1p-20 {
					t.Errorf("%s: constant %v, steepest pair %v", name, p.lipschitz, steepest)
				}
			}
		}
	}
}

// TestFinite_BoundsHold: the mean error of every map is below its bound, and
// without noise below its resolution.
func TestFinite_BoundsHold(t *testing.T) {
	testkit.Slow(t)
	f := crowd(60, 9)
	for _, noise := range []float64{0.1, 1e-3, 1e-5} {
		for name, p := range finiteMaps(t, f, setting{noise: noise, quantum: 0x1p-40}) {
			rng := random.Seeded(1)
			mean := 0.0
			const runs = 6
			for r := range runs {
				truth := testkit.Distribution(rng, f.Len(), func(i int) bool { return r%2 == 0 && i > 3 })
				y := p.mean(truth)
				clean := append([]float64(nil), y...)
				for i := range y {
					y[i] += random.Laplace(rng) * p.lipschitz * noise
				}
				q := testkit.Must(p.Fit(t.Context(), y))
				e := testkit.Must(p.W1(t.Context(), truth, q))
				if w := testkit.Must(wasserstein.W1(t.Context(), f, truth, scaled(q), nil)).Cost; math.Abs(w-e) > 1e-9 {
					t.Errorf("%s: W1 %v, want %v", name, e, w)
				}
				mean += e / runs
				e = testkit.Must(p.W1(t.Context(), truth, testkit.Must(p.Fit(t.Context(), clean))))
				if e > p.Resolution()*(1+1e-9)+1e-6 {
					t.Errorf("noise %v: %s: without noise %v off, resolution %v", noise, name, e, p.Resolution())
				}
			}
			deviation := math.Sqrt2 * p.lipschitz * noise
			if b := p.Bound(deviation, deviation); mean > b {
				t.Errorf("noise %v: %s: error %v above the bound %v", noise, name, mean, b)
			}
		}
	}
}

func scaled(p []float64) []float64 {
	q := append([]float64(nil), p...)
	floats.Scale(1/floats.Sum(q), q)
	return q
}
