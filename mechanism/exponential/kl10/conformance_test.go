package kl10_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// The mechanism with a base measure is sampled by rejection: its level shows only in samples.
func TestConformance_BaseMeasure(t *testing.T) {
	sigma := metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })
	draws := kl10.BaseMeasure[float64, float64]{
		Map: func(x float64) (float64, error) { return x, nil }, Lipschitz: 1, Sigma: sigma,
		Draw: func(r *rand.Rand) (float64, error) { return r.Float64(), nil }, Beta: 3,
	}
	bounded := draws
	bounded.MaxDraws, bounded.MinMass = 4000, math.Exp(-3)
	for _, b := range []kl10.BaseMeasure[float64, float64]{draws, bounded} {
		m := testkit.Must(kl10.NewBaseMeasure(b))
		o := &mechanismtest.Options[float64, float64]{
			Key:     func(y float64) any { return math.Floor(16 * y) },
			Refused: []float64{math.NaN()},
		}
		if err := mechanismtest.TestMechanism(t.Context(), m, []float64{0, 0.3, 1}, o); err != nil {
			t.Error(err)
		}
		if e, err := mechanismtest.TestLevel(t.Context(), m, 0, 1, 1, o); err != nil || e.Level < 2.5 {
			t.Errorf("%v, %v; densities differ by 3 at the ends, 2.8 over bins", e, err)
		}
	}
}
