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

// A mechanism with a base measure keeps the laws of mechanisms, with a bound on its draws and without.
func TestConformance_BaseMeasure(t *testing.T) {
	b := kl10.BaseMeasure[float64, float64]{
		Map: func(x float64) (float64, error) { return x, nil }, Lipschitz: 1, Beta: 3,
		Sigma: metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }),
		Draw:  func(r *rand.Rand) (float64, error) { return r.Float64(), nil },
	}
	for _, b.MaxDraws = range []int{0, 4000} {
		b.MinMass = math.Exp(-3)
		testkit.Check(t, mechanismtest.TestMechanism(t.Context(), testkit.Must(kl10.NewBaseMeasure(b)), []float64{0, 0.3, 1},
			&mechanismtest.Options[float64, float64]{Refused: []float64{math.NaN()}}))
	}
}
