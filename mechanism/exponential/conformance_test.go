package exponential_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// Every mechanism of the family keeps the laws of mechanisms and of channels.
func TestConformance_Finite(t *testing.T) {
	f := space.Uniform(15, random.Seeded(1))
	line := space.Path(12, 0.5)
	cycle := space.Func(9, func(i, j int) float64 { return float64(min(j-i, 9-j+i)) })
	clusters := testkit.Must(metric.NewClustered(3, 4, 0.25))
	o := &exponential.Options{Unit: "km"}
	weights := make([]float64, 15)
	for k := range weights {
		weights[k] = 1 + float64(k%3)
	}
	net := &exponential.Options{Outputs: []int{1, 8, 3}}
	both := metric.Bimetric{Privacy: line, Utility: clusters}
	target := exponential.Target{Gamma: 0.3, Delta: 0.1}
	for _, c := range []struct {
		name string
		rho  metric.Finite
		m    *exponential.Mechanism
	}{
		{"standard", f, testkit.Must(exponential.Standard(t.Context(), f, 4, o))},
		{"standard on a net", f, testkit.Must(exponential.Standard(t.Context(), f, 4, net))},
		{"standard, lazy", f, testkit.Must(exponential.Lazy(t.Context(), f, 4, nil))},
		{"truncated", f, testkit.Must(exponential.Truncated(t.Context(), f, 4, .3, nil))},
		{"tuned", f, testkit.Must(exponential.Tuned(t.Context(), f, 4, o))},
		{"weighted", f, testkit.Must(exponential.Weighted(t.Context(), f, 4, weights, o))},
		{"tight", line, testkit.Must(exponential.Tight(t.Context(), line, 1, &exponential.TightOptions{Unit: "km"}))},
		{"tight on a cycle", cycle, testkit.Must(exponential.Tight(t.Context(), cycle, 1, nil))},
		{"constant", f, testkit.Must(exponential.Constant(15, 4, "km"))},
		{"snapped", f, testkit.Must(exponential.Snapped(t.Context(), f, 4, o))},
		{"snapped to a net", f, testkit.Must(exponential.Snapped(t.Context(), f, 4, net))},
		{"remapped", f, testkit.Must(exponential.Remapped(t.Context(), metric.Same(f), 4, nil))},
		{"relaxed", line, &testkit.Must(exponential.Relaxed(t.Context(), both, 2, nil)).Mechanism},
		{"most private", f, &testkit.Must(exponential.MostPrivate(t.Context(), metric.Same(f), nil, target, nil)).Mechanism},
	} {
		o := &mechanismtest.Options[int, int]{Samples: testkit.Sweep(1<<13, 1<<14), Constant: c.name == "constant"}
		if err := mechanismtest.TestChannel(t.Context(), c.m.Channel, c.rho, o); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The mechanism with a base measure is sampled by rejection: its level shows
// only in samples.
func TestConformance_BaseMeasure(t *testing.T) {
	sigma := metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })
	draws := exponential.BaseMeasure[float64, float64]{
		Map: func(x float64) (float64, error) { return x, nil }, Lipschitz: 1, Sigma: sigma,
		Draw: func(r *rand.Rand) (float64, error) { return r.Float64(), nil }, Beta: 3,
	}
	bounded := draws
	bounded.MaxDraws, bounded.MinMass = 4000, math.Exp(-3)
	for _, b := range []exponential.BaseMeasure[float64, float64]{draws, bounded} {
		m := testkit.Must(exponential.NewBaseMeasure(b))
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
