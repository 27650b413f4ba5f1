package measure

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// Uniform points of the sphere must fall into all cells alike: with 48 cells and
// 200,000 points, a z-score above 6 has probability 1e-7 for all together.
func TestSphere_EqualAreas(t *testing.T) {
	d := testkit.Must(NewSphere(1, &SphereOptions{Depth: 3}))
	n := make([]float64, d.Len())
	r := random.Seeded(3)
	const draws = 200000
	for range draws {
		p := metric.LatLon{Lat: math.Asin(2*r.Float64()-1) * 180 / math.Pi, Lon: 720*r.Float64() - 360}
		n[testkit.Must(d.Cell(p))]++
	}
	want := draws / float64(len(n))
	for c, k := range n {
		if math.Abs(k-want) > 6*math.Sqrt(want) {
			t.Errorf("cell %d has %v points, %v expected", c, k, want)
		}
	}
	for _, p := range []metric.LatLon{{Lat: 90}, {Lat: -90, Lon: 400}, {Lon: -1e-300}} {
		testkit.Must(d.Cell(p))
	}
	if a, b := testkit.Must(d.Cell(metric.LatLon{Lat: 10, Lon: 180})), testkit.Must(d.Cell(metric.LatLon{Lat: 10, Lon: -180})); a != b {
		t.Error("the date line divides a place from itself")
	}
}
