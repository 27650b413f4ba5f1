package exponential_test

import (
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
		{"tight", line, testkit.Must(exponential.Tight(t.Context(), line, 1, &exponential.Options{Unit: "km"}))},
		{"tight on a cycle", cycle, testkit.Must(exponential.Tight(t.Context(), cycle, 1, nil))},
		{"constant", f, testkit.Must(exponential.Constant(15, 4, "km"))},
		{"snapped", f, testkit.Must(exponential.Snapped(t.Context(), f, 4, o))},
		{"snapped to a net", f, testkit.Must(exponential.Snapped(t.Context(), f, 4, net))},
		{"remapped", f, testkit.Must(exponential.Remapped(t.Context(), metric.Same(f), 4, nil))},
		{"relaxed", line, &testkit.Must(exponential.Relaxed(t.Context(), both, 2, nil)).Mechanism},
	} {
		o := &mechanismtest.Options[int, int]{Samples: testkit.Sweep(1<<13, 1<<14), Constant: c.name == "constant"}
		if err := mechanismtest.TestChannel(t.Context(), c.m.Channel, c.rho, o); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
