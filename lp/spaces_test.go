package lp

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// Few outputs of a graph are solved input by input, with a prior and without.
func TestOptimal_FewOutputs(t *testing.T) {
	f := roads(t, 20, 20)
	outputs, _, err := metric.FarthestFirst(t.Context(), f, 7, 0)
	if err != nil {
		t.Fatal(err)
	}
	prior := make([]float64, f.Len())
	for i := range prior {
		prior[i] = 1 / float64(len(prior))
	}
	for _, prior := range [][]float64{nil, prior} {
		o := &Options{Tolerance: 1e-5, Outputs: outputs, Prior: prior}
		s := testkit.Must(Optimal(t.Context(), metric.Same(f), .5, o))
		certified(t, metric.Same(f), .5, prior, s)
		if s.Engine != EngineByInput || s.Status != StatusOptimal {
			t.Errorf("%v", s)
		}
	}
}

// One point moved apart by rounding alone costs nothing: points that rho1 does
// not tell apart get one row, and rho2 still counts each.
func TestOptimal_CoincidentForPrivacyOnly(t *testing.T) {
	b := metric.Bimetric{
		Privacy: space.Formula(4, func(i, j int) float64 { return math.Abs(float64(i/2 - j/2)) }),
		Utility: space.Path(4, 1),
	}
	s := testkit.Must(Optimal(t.Context(), b, 1, nil))
	certified(t, b, 1, nil, s)
	if lo, hi := simplexOptimum(t, b, 1, []int{0, 1, 2, 3}, nil); s.DualBound > hi || s.Objective < lo || s.Status != StatusOptimal {
		t.Errorf("%v, simplex method [%v, %v]", s, lo, hi)
	}
	// Nothing can be told apart: a matrix game, which mixes outputs.
	b.Privacy = space.Formula(4, func(i, j int) float64 { return 0 })
	b.Utility = space.Simplex(4, 1)
	s = testkit.Must(Optimal(t.Context(), b, 1, nil))
	certified(t, b, 1, nil, s)
	if s.Status != StatusOptimal || math.Abs(s.Objective-.75) > 1e-6 {
		t.Errorf("%v, want 3/4", s)
	}
}
