package distribution

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
)

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
