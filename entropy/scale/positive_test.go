package scale

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// mu sums to 1, and every ball has at least the mass that the doc states.
func TestPositiveMeasure_NoBallIsEmpty(t *testing.T) {
	r := random.Seeded(1)
	for range 40 {
		n := 1 + r.IntN(40)
		pts := make([][]float64, n)
		for i := range pts {
			pts[i] = []float64{math.Exp(6 * r.NormFloat64()), r.Float64()}
			if i > 0 && r.IntN(4) == 0 {
				pts[i] = pts[r.IntN(i)]
			}
		}
		f := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
		mu := testkit.Must(PositiveMeasure(t.Context(), f))
		sum := 0.0
		for _, w := range mu {
			sum += w
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("sum %v", sum)
		}
		diameter, _, _, _ := metric.Diameter(t.Context(), f)
		s, w := diameter, 0.5
		for range 30 {
			net := testkit.Must(metric.Net(t.Context(), f, s, nil))
			mass, y, err := BallMass(t.Context(), f, mu, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if mass < w/float64(len(net))*(1-1e-12) {
				t.Errorf("ball of radius %v about %d has mass %v < %v", s, y, mass, w/float64(len(net)))
			}
			s, w = s/2, w/2
		}
	}
}

func TestBallMass_IsTheLeastSum(t *testing.T) {
	f := testkit.Must(metric.NewPoints([][]float64{{0}, {1}, {3}}, metric.Euclidean{}))
	mu := []float64{0.5, 0.375, 0.125}
	for _, c := range []struct {
		r, mass float64
		y       int
	}{{0, 0.125, 2}, {1, 0.125, 2}, {2, 0.5, 2}, {3, 1, 0}} {
		mass, y, err := BallMass(t.Context(), f, mu, c.r, nil)
		if err != nil || y != c.y || mass > c.mass || mass < c.mass-1e-15 {
			t.Errorf("r = %v: %v at %d (%v), want %v at %d", c.r, mass, y, err, c.mass, c.y)
		}
	}
}
