package query

import (
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// No pair of points refutes the constant, and the nearest two attain it.
func TestShares_Constant(t *testing.T) {
	r := random.Seeded(1)
	for range 200 {
		pts := make([][2]float64, 2+r.IntN(9))
		for i := range pts {
			pts[i] = [2]float64{r.NormFloat64(), r.NormFloat64()}
		}
		space := testkit.Must(metric.NewPoints(pts, metric.Plane{}))
		q, weight, err := Shares(t.Context(), space)
		if err != nil || q.Lipschitz != 1 || q.Norm.P != 1 || q.Norm.Dim != len(pts) {
			t.Fatalf("%+v, %v", q, err)
		}
		tight := false
		for x, w := range weight {
			for y, v := range weight[:x] {
				d := space.Distance(x, y)
				tight = tight || w+v == d
				if w > d/2 || v > d/2 {
					t.Fatalf("weights %v and %v at distance %v", w, v, d)
				}
			}
		}
		if !tight {
			t.Error("no two points attain the constant")
		}
	}
}
