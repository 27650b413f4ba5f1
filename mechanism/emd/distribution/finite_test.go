package distribution

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/emd"
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

// Records lie on Points, runs of which get their share to within 1, and the nearest
// other point is nearer than what is told apart.
func TestHistogram_RecordsLieOnPoints(t *testing.T) {
	for _, spacing := range []float64{0, 0.3} {
		onPoints(t, Line(0, 1), metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }), spacing, 0.1, 0.9)
		onPoints(t, Box(metric.Euclidean{}, []float64{0, 0}, []float64{1, 2}), metric.Euclidean{}, spacing, []float64{0.2, 0.3}, []float64{0.7, 1.6})
		onPoints(t, Sphere(metric.GreatCircle{Radius: 1}), metric.GreatCircle{Radius: 1}, spacing, metric.LatLon{Lat: 48, Lon: 16}, metric.LatLon{Lat: -30, Lon: 170})
	}
}

func onPoints[P any](t *testing.T, domain *Domain[P], space metric.Space[P], spacing float64, items ...P) {
	d := testkit.Must(New(t.Context(), domain, emd.Model{Trust: emd.Central, Users: len(items)}, 100, &Options{Spacing: spacing}))
	rng := random.Seeded(1)
	h := testkit.Must(d.Estimate(t.Context(), testkit.Must(d.Release(rng, func(yield func([]P) bool) {
		for _, x := range items {
			if !yield([]P{x}) {
				return
			}
		}
	}))))
	pts := testkit.Must(metric.NewPoints(h.Points, space))
	for i := 0; i < pts.Len(); i += 1 + pts.Len()/100 {
		gap := math.Inf(1)
		for j, r := range pts.DistancesFrom(i, nil) {
			if i != j {
				gap = min(gap, r)
			}
		}
		if gap > d.Resolution() {
			t.Errorf("spacing %v: %v is %v from the nearest other point, and the resolution is %v", spacing, h.Points[i], gap, d.Resolution())
		}
	}
	const k = 1000
	locate := metric.NewLocator(pts)
	count := make([]int, len(h.Points))
	for _, x := range testkit.Must(h.Records(rng, k)) {
		i, r := locate.Nearest(x)
		if r > 0 {
			t.Errorf("spacing %v: %v is no point", spacing, x)
		}
		count[i]++
	}
	least, most, off := 0.0, 0.0, 0.0
	for i, c := range count {
		off += float64(c) - k*h.Weights[i]
		least, most = min(least, off), max(most, off)
	}
	if most-least > 1+1e-9 || slices.Max(count) == k {
		t.Errorf("spacing %v: a run of points has %v more than its share, or one has all: %v", spacing, most-least, slices.Max(count))
	}
}
