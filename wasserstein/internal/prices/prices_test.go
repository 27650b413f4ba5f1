package prices

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// points are n points of dimension d that are hard in different ways.
func points(r *rand.Rand, shape string, n, d int) [][]float64 {
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = make([]float64, d)
		for k := range pts[i] {
			switch shape {
			case "uniform":
				pts[i][k] = r.Float64()
			case "grid":
				pts[i][k] = float64(r.IntN(8))
			case "clusters":
				pts[i][k] = float64(r.IntN(3)) + 1e-7*r.NormFloat64()
			case "line":
				pts[i][k] = float64(i) / float64(n) * float64(k+1)
			case "one":
				pts[i][k] = 3
			case "far":
				pts[i][k] = 1e8 + r.Float64()
			case "tiny":
				pts[i][k] = 1e-200 * r.Float64()
			}
		}
	}
	return pts
}

var shapes = []string{"uniform", "grid", "clusters", "line", "one", "far", "tiny"}

// cases are metrics of all kinds on n points each.
func cases(r *rand.Rand, n int) map[string]metric.Finite {
	out := map[string]metric.Finite{}
	for _, shape := range shapes {
		for d := 1; d <= 3; d++ {
			pts := points(r, shape, n, d)
			name := shape + string(rune('0'+d))
			out[name+" l2"] = testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
			out[name+" l1"] = testkit.Must(metric.NewPoints(pts, metric.Manhattan{}))
			out[name+" linf"] = testkit.Must(metric.NewPoints(pts, metric.Chebyshev{}))
			out[name+" l3"] = testkit.Must(metric.NewPoints(pts, metric.Minkowski{P: 3}))
			out[name+" scaled"] = testkit.Must(metric.Scaled(out[name+" l2"], 0.3))
		}
	}
	globe := make([]metric.LatLon, n)
	for i := range globe {
		globe[i] = metric.LatLon{Lat: 180*r.Float64() - 90, Lon: 360*r.Float64() - 180}
	}
	out["globe"] = testkit.Must(metric.NewPoints(globe, metric.GreatCircle{}))
	return out
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Prices fall along a ray as distances grow, as those of a plan do, with noise; of
// some points there are none.
func somePrices(r *rand.Rand, f metric.Finite, noise float64) []float64 {
	w := make([]float64, f.Len())
	from := r.IntN(len(w))
	for i := range w {
		w[i] = f.Distance(from, i) * (1 + noise*r.NormFloat64())
		if r.IntN(3) == 0 {
			w[i] = math.Inf(-1)
		}
	}
	return w
}

func TestSearch_IsThatOfAScan(t *testing.T) {
	const n = 150
	r := random.Seeded(1)
	for name, f := range cases(r, n) {
		s := New(f, all(n))
		if s == nil {
			t.Fatalf("%s: no tree", name)
		}
		for _, noise := range []float64{0, 1e-12, 0.1} {
			w := somePrices(r, f, noise)
			p := s.NewPrices(w)
			check := func() {
				search := p.NewSearch()
				for range 20 {
					i := r.IntN(n)
					var want []float64
					slack := math.Inf(1)
					for j := range n {
						if w[j] > math.Inf(-1) {
							want = append(want, f.Distance(i, j)-w[j])
							slack = min(slack, directed.SubDown(f.Distance(i, j), w[j]))
						}
					}
					slices.Sort(want)
					limit := math.Inf(1)
					if r.IntN(2) == 0 && len(want) > 0 {
						limit = want[r.IntN(len(want))]
					}
					end, _ := slices.BinarySearch(want, limit)
					want = want[:min(end, 7)]
					hits := search.Least(int32(i), limit, make([]Hit, 0, 7))
					if len(hits) != len(want) {
						t.Fatalf("%s: %d found below %v, want %d", name, len(hits), limit, len(want))
					}
					for k, h := range hits {
						if h.R != want[k] || h.C != f.Distance(i, int(h.ID)) || h.R != h.C-w[h.ID] {
							t.Fatalf("%s: found %v, want %v", name, h, want[k])
						}
					}
					if got := search.Slack(s, int32(i)); got != slack {
						t.Fatalf("%s: slack %v, want %v", name, got, slack)
					}
				}
			}
			check()
			for range 60 {
				j := r.IntN(n)
				w[j] = math.Inf(-1)
				p.Remove(int32(j))
			}
			check()
		}
	}
}

// The same from the points of another space, whose coordinates may pass those of the
// first: one is nearly 0 and others are not for places on the equator, which lie so near
// one another that the rounding of coordinates matters.
func TestSlack_FromAnotherSpace(t *testing.T) {
	const n = 120
	r := random.Seeded(7)
	metrics := cases(r, n)
	for _, spread := range []float64{1e-13, 1e-12, 1e-9} {
		near := make([]metric.LatLon, n)
		for i := range near {
			near[i] = metric.LatLon{Lat: spread * r.NormFloat64(), Lon: 45 + spread*r.NormFloat64()}
		}
		metrics[fmt.Sprintf("places %v apart", spread)] = testkit.Must(metric.NewPoints(near, metric.GreatCircle{}))
	}
	for name, f := range metrics {
		s, of := New(f, all(n)[:n/2]), New(f, all(n)[n/2:])
		for _, noise := range []float64{0, 1e-12, 0.1} {
			w := somePrices(r, f, noise)[:n/2]
			search := s.NewPrices(w).NewSearch()
			for i := range n / 2 {
				want := math.Inf(1)
				for j, p := range w {
					if p > math.Inf(-1) {
						want = min(want, directed.SubDown(f.Distance(n/2+i, j), p))
					}
				}
				if got := search.Slack(of, int32(i)); got != want {
					t.Fatalf("%s: slack %v, want %v", name, got, want)
				}
			}
		}
	}
}

func TestSpace_DiameterBoundsDistances(t *testing.T) {
	const n = 60
	for name, f := range cases(random.Seeded(4), n) {
		d, most := New(f, all(n)).Diameter(), 0.0
		for i := range n {
			for j := range n {
				most = max(most, f.Distance(i, j))
			}
		}
		if d < most {
			t.Errorf("%s: %v, but two are %v apart", name, d, most)
		}
	}
}

// Without coordinates, or too many of them, there is no space.
func TestNew_RefusesWhatTakesAScan(t *testing.T) {
	const n = 20
	f := testkit.Must(metric.NewPoints(points(random.Seeded(6), "uniform", n, maxDim+1), metric.Euclidean{}))
	if New(f, all(n)) != nil {
		t.Errorf("a tree in %d dimensions", maxDim+1)
	}
	if New(testkit.Must(metric.Densify(context.Background(), f)), all(n)) != nil {
		t.Error("a tree without coordinates")
	}
}
