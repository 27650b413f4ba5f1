package query

import (
	"errors"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd"
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

// Almost without noise a release is the shares, each user counting the same.
func TestShares_Release(t *testing.T) {
	space := testkit.Must(metric.NewClustered(3, 1, 1))
	q, weight, _ := Shares(t.Context(), space)
	m := testkit.Must(NewLinear(t.Context(), q, emd.Model{Trust: emd.Central, Users: 2, Diameter: 1}, emd.Promise{Alpha: 1e11}, nil))
	y, err := m.Release(nil, slices.Values([][]int{{0, 0, 0, 2}, {2, 1}}))
	if err == nil {
		floats.Div(y, weight)
	}
	if err != nil || !floats.EqualApprox(y, []float64{0.375, 0.25, 0.375}, 1e-8) {
		t.Errorf("%v, %v", y, err)
	}
	for _, x := range []int{-1, 3} {
		var v *metric.ValueError
		if _, err := m.Release(nil, slices.Values([][]int{{0}, {x}})); !errors.As(err, &v) || v.Value != float64(x) {
			t.Errorf("item %d: %v", x, err)
		}
	}
}
