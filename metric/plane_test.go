package metric_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/metric"
)

func planePoints() [][2]float64 {
	var pts [][2]float64
	for _, v := range vectors(2) {
		pts = append(pts, [2]float64(v))
	}
	return pts
}

func TestPlane_IsEuclideanOnArrays(t *testing.T) {
	pts := planePoints()
	for _, x := range pts {
		for _, y := range pts {
			// Either rounds some five times.
			d, want := metric.Plane{}.Distance(x, y), metric.Euclidean{}.Distance(x[:], y[:])
			if math.Abs(d-want) > 0x1p-50*want {
				t.Errorf("%v and %v: %v, want %v", x, y, d, want)
			}
		}
	}
	conform(t, "Plane", metric.Plane{}, strictly, pts[:41]...)
	x, y := pts[0], pts[1]
	if n := testing.AllocsPerRun(10, func() { x[0] += metric.Plane{}.Distance(x, y) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
