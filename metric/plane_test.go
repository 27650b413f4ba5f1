package metric_test

import (
	"errors"
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
	embeddingLaw(t, metric.Space[[2]float64](metric.Plane{}), pts[:41], math.Inf(1))
	x, y := pts[0], pts[1]
	if n := testing.AllocsPerRun(10, func() { x[0] += metric.Plane{}.Distance(x, y) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPlane_RefusesWhatHasNoDistance(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1.1e300} {
		for k := range 2 {
			bad := [2]float64{1, 2}
			bad[k] = v
			_, err := metric.NewPoints([][2]float64{{}, bad}, metric.Plane{})
			var e *metric.ValueError
			if !errors.As(err, &e) || e.Arg != "y" || e.Index != k {
				t.Errorf("%v: %v", bad, err)
			}
		}
	}
}
