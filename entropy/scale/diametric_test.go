package scale

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// checkDiametric verifies the witness of the lower end from the definition.
func checkDiametric(t *testing.T, b metric.Bimetric, s Scale) {
	t.Helper()
	if !(s.Lo <= s.Hi) {
		t.Fatalf("interval %v", s.Interval)
	}
	if s.Lo == 0 {
		if s.X != -1 || s.Set != nil {
			t.Fatalf("witness of 0: %+v", s)
		}
		return
	}
	if len(s.Set) != 2 {
		t.Fatalf("witness %v", s.Set)
	}
	y, z := s.Set[0], s.Set[1]
	if r := max(b.Privacy.Distance(s.X, y), b.Privacy.Distance(s.X, z)); r > s.R {
		t.Fatalf("%+v: pair at distance %v", s, r)
	}
	if v := directed.MulUp(b.Utility.Distance(y, z), directed.ExpUp(-directed.MulDown(s.Alpha, s.R))); v < s.Lo {
		t.Fatalf("%+v: the pair is worth %v", s, v)
	}
}

// Where exp(-alpha r) underflows the search still ends, and encloses the scale.
func TestDiametricScale_Extremes(t *testing.T) {
	b := metric.Same(planePoints(300, 1))
	for _, alpha := range []float64{1e-300, 1e-9, 1e6, 1e300} {
		s := testkit.Must(Diametric(t.Context(), b, []float64{alpha}, nil))[0]
		checkDiametric(t, b, s)
		if alpha < 1 {
			if d, _, _, _ := metric.Diameter(t.Context(), b.Utility); math.Abs(s.Lo-d) > 1e-8 {
				t.Errorf("alpha %v: %v, diameter %v", alpha, s.Interval, d)
			}
		}
	}
}
