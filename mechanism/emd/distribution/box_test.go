package distribution

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
)

// Users of up to two items, as they are given, for each norm. An item outside is the nearest point's.
func TestBox_IsPrivate(t *testing.T) {
	const alpha = 3.0
	for _, norm := range []metric.Space[[]float64]{metric.Manhattan{}, metric.Euclidean{}, metric.Chebyshev{}} {
		points := [][]float64{{0.5, 0}, {0.2501, 0.25}, {0, 0}, {1, 1}, {0.75, -0.3}, {0.25, 0}, {0.5, 0.5}}
		users := usersUpTo(len(points), 2)
		distance := distances(t, testkit.Must(metric.NewPoints(points, norm)), users)
		for quantum, tight := range map[float64]float64{0: 0.7, 1.0 / 32: 0.2} {
			p, _ := planAt(t, Box(norm, []float64{0, -1}, []float64{1, 1}), alpha, quantum, 0.5)
			means := make([][]part, len(users))
			for u, items := range users {
				var at [][]float64
				for _, x := range items {
					at = append(at, points[x])
				}
				means[u] = roundedMean(t, p, at...)
			}
			private(t, fmt.Sprintf("%T, quantum %v", norm, quantum), alpha, p.level(alpha), tight, means, distance)
			if !slices.Equal(roundedMean(t, p, []float64{1, -1}), roundedMean(t, p, []float64{math.Inf(1), -7})) {
				t.Fatalf("%T: an item outside is not at the nearest point", norm)
			}
		}
	}
}

// near checks the report of one user's item against those of items next to it, whose
// distances it is given: by the exact law, no ratio exceeds e^(alpha d), and one comes
// near; and the releases that the same random numbers make are the same.
func near[P any](t *testing.T, domain *Domain[P], alpha, tight float64, x P, others []P, distances []float64) {
	t.Helper()
	d := testkit.Must(New(t.Context(), domain, emd.Model{Trust: emd.Local}, alpha, &Options{Reports: 1, Spacing: 0.5}))
	mean, worst := roundedMean(t, d.plan, x), 0.0
	for i, y := range others {
		other := roundedMean(t, d.plan, y)
		for _, pair := range [2][2][]part{{mean, other}, {other, mean}} {
			loss := worstLoss(pair[0], pair[1], d.a)
			if most := alpha * distances[i]; loss > most*(1+1e-9)+1e-14 {
				t.Errorf("%v and %v: loss %v, promised %v", x, y, loss, most)
			}
			worst = max(worst, loss/alpha/distances[i])
		}
	}
	if worst < tight {
		t.Errorf("%v: a loss of at most %v of what is promised", x, worst)
	}
}

// TestBox_NearItemsAreHardToTell: the promise is about raw items, a billionth of a step of
// any lattice apart, in 3 and in 6 dimensions, on the border of cells and within them.
func TestBox_NearItemsAreHardToTell(t *testing.T) {
	for _, dim := range []int{3, 6} {
		for _, at := range []float64{0.5, 0.40625, 0.3, 1.0 / 16}[:testkit.Sweep(10/dim, 4)] {
			x := slicesOf(dim, at)
			var others [][]float64
			var distances []float64
			for _, gap := range []float64{1e-12, 2.4e-9} {
				for _, side := range []float64{-1, 1}[:testkit.Sweep(1, 2)] {
					y := slices.Clone(x)
					y[dim-1] += side * gap
					others, distances = append(others, y), append(distances, math.Abs(y[dim-1]-at))
					y = slices.Clone(x)
					for j := range y {
						y[j] += side * gap
					}
					others, distances = append(others, y), append(distances, math.Abs(y[0]-at)*math.Sqrt(float64(dim)))
				}
			}
			near(t, Box(metric.Euclidean{}, make([]float64, dim), slicesOf(dim, 1)), 100, 0.05, x, others, distances)
		}
	}
}

// Likewise on the sphere, also across the date line, and on a line.
func TestSphere_NearItemsAreHardToTell(t *testing.T) {
	for _, x := range []metric.LatLon{{Lat: 30, Lon: 60}, {Lat: 0.25, Lon: -180}, {Lat: 51.5, Lon: -0.01}} {
		var others []metric.LatLon
		var distances []float64
		for _, gap := range []float64{1e-10, 1e-7} {
			for _, y := range []metric.LatLon{{Lat: x.Lat + gap, Lon: x.Lon}, {Lat: x.Lat, Lon: x.Lon - gap}} {
				others = append(others, y)
				east := math.Mod(x.Lon-y.Lon, 360) * math.Cos(x.Lat*math.Pi/180)
				distances = append(distances, math.Hypot(y.Lat-x.Lat, east)*math.Pi/180*(1+1e-6))
			}
		}
		near(t, Sphere(metric.GreatCircle{Radius: 1}), 100, 0.05, x, others, distances)
	}
	for _, x := range []float64{0.5, 0.3, 1.0 / 16} {
		near(t, Line(-0.1, 1), 100, 0.9, x, []float64{x + 1e-12, x - 1e-12, x + 2.4e-9}, []float64{x + 1e-12 - x, x - (x - 1e-12), x + 2.4e-9 - x})
	}
}

// The diameter, on which the level of a user rests, is the distance of two corners.
func TestBox_Diameter(t *testing.T) {
	for _, c := range []struct {
		space metric.Space[[]float64]
		want  float64
	}{{metric.Manhattan{}, 7}, {metric.Euclidean{}, 5}, {metric.Chebyshev{}, 4}} {
		d := testkit.Must(New(t.Context(), Box(c.space, []float64{-1, 0}, []float64{2, 4}), emd.Model{Trust: emd.Central, Users: 10}, 1, nil))
		if got := d.Guarantee().Model().Diameter; got < c.want || got > c.want*(1+1e-15) {
			t.Errorf("%T: %v, want %v", c.space, got, c.want)
		}
	}
}

func TestBox_Refuses(t *testing.T) {
	refused := func(d *Domain[[]float64]) error { return testkit.Err(New(t.Context(), d, oneUser, 1, nil)) }
	box := testkit.Must(New(t.Context(), Box(metric.Euclidean{}, []float64{0, 0}, []float64{1e-300, 1e300}), oneUser, 1e-298, nil))
	item := func(x ...float64) error { return testkit.Err(box.Release(nil, emd.One([][]float64{x}))) }
	sphere := testkit.Must(New(t.Context(), Sphere(metric.GreatCircle{Radius: 1}), oneUser, 1, nil))
	place := func(x metric.LatLon) error {
		return testkit.Err(sphere.Release(nil, testkit.Reusing([]metric.LatLon{{}, x})))
	}
	testkit.Refused(t, [][3]any{
		{refused(Box(metric.Angular{}, []float64{0}, []float64{1})), "want metric.Euclidean", nil},
		{refused(Box(nil, []float64{0}, []float64{1})), "want metric.Euclidean", nil},
		{refused(Box(metric.Euclidean{}, nil, nil)), "lo", nil},
		{refused(Box(metric.Euclidean{}, []float64{0, 0}, []float64{1})), "hi", nil},
		{refused(Box(metric.Euclidean{}, []float64{0, 0}, []float64{1, 0})), "hi", nil},
		{refused(Box(metric.Euclidean{}, []float64{0, math.NaN()}, []float64{1, 1})), "lo", nil},
		{refused(Box(metric.Euclidean{}, []float64{-1e308, -1e308}, []float64{1e308, 1e308})), "diameter", nil},
		{refused(Box(metric.Euclidean{}, make([]float64, 9), slicesOf(9, 1))), "at most 8", nil},
		{testkit.Err(New(t.Context(), Sphere(metric.GreatCircle{Radius: -1}), oneUser, 1, nil)), "distribution: New: ", nil},
		{item(1), "user 0: item 0", nil}, {item(0, math.NaN()), "user 0: item 0", nil},
		{place(metric.LatLon{Lat: 91}), "user 0: item 1: ", nil}, {place(metric.LatLon{Lat: math.NaN()}), "user 0: item 1: ", nil},
		{place(metric.LatLon{Lon: math.Inf(1)}), "user 0: item 1: ", nil},
	})
}

func slicesOf(n int, v float64) []float64 {
	return slices.Repeat([]float64{v}, n)
}
