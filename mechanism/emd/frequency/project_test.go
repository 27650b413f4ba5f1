package frequency

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// What the total lacks of 1 is spread evenly; one point has all the mass.
func TestProject_SpreadsWhatIsLacking(t *testing.T) {
	c, one := testkit.Must(metric.NewClustered(2, 2, .5)), testkit.Must(metric.NewClustered(1, 1, 1))
	for _, v := range []struct {
		space   metric.Finite
		g, want []float64
	}{
		{c, []float64{.3, .3, .1, .1}, []float64{.35, .35, .15, .15}}, {c, []float64{.25, .25, .25, .25}, []float64{.25, .25, .25, .25}},
		{one, []float64{3}, []float64{1}}, {space.Constant(1, 1), []float64{3}, []float64{1}},
	} {
		p, dist, err := Project(t.Context(), v.space, v.g)
		if err != nil || dist > 1e-15 || !floats.EqualApprox(p, v.want, 1e-15) {
			t.Errorf("%v: %v, %v, %v", v.g, p, dist, err)
		}
	}
}

// However large the weights, in whose rounding mass 1 may be lost, the result is a distribution;
// the weights are not written to.
func TestProject_TotalIsOne(t *testing.T) {
	r := random.Seeded(3)
	x := make([][]float64, 60)
	for i := range x {
		x[i] = []float64{r.Float64(), r.Float64()}
	}
	for _, f := range []metric.Finite{
		testkit.Must(metric.NewClustered(4, 3, .3)), space.Formula(12, func(i, j int) float64 { return math.Abs(float64(i - j)) }), space.Euclidean(x),
	} {
		for _, size := range []float64{1, 1e4, 1e8, 1e20, 1e20, 1e20, 1e20} {
			g := make([]float64, f.Len())
			for i := range g {
				g[i] = size * r.NormFloat64()
			}
			old := slices.Clone(g)
			p, _, err := Project(t.Context(), f, g)
			if err != nil || math.Abs(floats.Sum(p)-1) > 1e-15*60 || floats.Min(p) < 0 || !slices.Equal(g, old) {
				t.Errorf("%T, weights of size %v: %v, %v", f, size, p, err)
			}
		}
	}
}
