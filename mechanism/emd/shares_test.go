package emd

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// The constant is above 2 over the least distance, by a few ulps at most, and
// no pair of points refutes it.
func TestShares_Constant(t *testing.T) {
	r := random.Seeded(1)
	for range 200 {
		pts := make([][2]float64, 2+r.IntN(9))
		for i := range pts {
			pts[i] = [2]float64{r.NormFloat64(), r.NormFloat64()}
		}
		space := testkit.Must(metric.NewPoints(pts, metric.Plane{}))
		q := testkit.Must(Shares(t.Context(), space))
		gap, _, _, _ := metric.MinDistance(t.Context(), space)
		product := new(big.Float).SetPrec(106).Mul(big.NewFloat(q.Lipschitz), big.NewFloat(gap)) // exact
		if product.Cmp(big.NewFloat(2)) < 0 || product.Cmp(big.NewFloat(2*(1+0x1p-50))) > 0 {
			t.Errorf("%v * %v = %v", q.Lipschitz, gap, product)
		}
		if q.Norm.P != 1 || q.Norm.Dim != len(pts) {
			t.Errorf("%+v", q.Norm)
		}
		index := make([]int, len(pts))
		for i := range index {
			index[i] = i
		}
		items := testkit.Must(metric.NewPoints(index, metric.Func[int](space.Distance)))
		// The ratio is a bound from below, with allowance for rounding.
		w, err := LipschitzAtLeast(t.Context(), q, items)
		if err != nil || w.Ratio > q.Lipschitz || w.Ratio < q.Lipschitz*(1-1e-11) {
			t.Errorf("%+v, constant %v, %v", w, q.Lipschitz, err)
		}
	}
}

// Almost without noise a release is the shares, each user counting the same.
func TestShares_Release(t *testing.T) {
	space := Clusters{Count: 3, Size: 1, Within: 1, Diameter: 1}
	q := testkit.Must(Shares(t.Context(), space))
	m := testkit.Must(NewLinear(t.Context(), q, Model{Trust: Central, Users: 2, Diameter: 1}, Target{Alpha: 1e11}, nil))
	y, err := m.Release(nil, slices.Values([][]int{{0, 0, 0, 2}, {2, 1}}))
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
