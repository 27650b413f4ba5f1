package query

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
)

// From l1 the constant is attained, by steps along the columns, and refuted when
// stated smaller; and the noise is below that of the spectral norm, which the same
// query has from l2.
func TestLinearMap_FromL1(t *testing.T) {
	f := [][]float64{{1, 2, -1}, {0, 0.1, 0.2}, {3, 0, 1}}
	q := testkit.Must(LinearMap(f, Average(additive.Norm{P: 1, Dim: 3})))
	points := testkit.Must(metric.NewPoints([][]float64{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.3, 0.4, -2}}, metric.Manhattan{}))
	w := testkit.Must(LipschitzAtLeast(t.Context(), q, points))
	if !(w.Ratio <= q.Lipschitz && w.Ratio > 1-1e-8) {
		t.Errorf("%v, constant %v", w, q.Lipschitz)
	}
	model, target := emd.Model{Trust: emd.Local, Diameter: 5}, emd.Promise{Alpha: 1}
	l := testkit.Must(NewLinear(t.Context(), q, model, target, &LinearOptions[[]float64]{Sample: points}))
	small := q
	small.Lipschitz *= 0.999
	if _, err := NewLinear(t.Context(), small, model, target, &LinearOptions[[]float64]{Sample: points}); err == nil {
		t.Error("a constant that is too small passed")
	}
	spectral := testkit.Must(NewLinear(t.Context(), testkit.Must(LinearMap(f, Average(additive.Norm{P: 2, Dim: 3}))), model, target, nil))
	if !(l.StdDev() < spectral.StdDev()) {
		t.Errorf("deviation %v, by the spectral norm %v", l.StdDev(), spectral.StdDev())
	}
	// The mean square of what is released, to 10 standard errors.
	t.Logf("deviation %v, by the spectral norm %v", l.StdDev(), spectral.StdDev())
	r, sum := random.Seeded(1), 0.0
	const runs = 4000
	for range runs {
		for _, v := range testkit.Must(l.Release(r, emd.One([][]float64{{0, 0, 0}}))) {
			sum += v * v
		}
	}
	if got := math.Sqrt(sum / runs / 3); math.Abs(got/l.StdDev()-1) > 0.1 {
		t.Errorf("deviation %v, stated %v", got, l.StdDev())
	}
	one := testkit.Must(LinearMap([][]float64{{1, -4, 2}}, Average(additive.Norm{P: 1, Dim: 3})))
	if one.Lipschitz < 4 || one.Lipschitz > 4*(1+1e-15) {
		t.Errorf("%+v", one.Norm)
	}
}
