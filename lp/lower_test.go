package lp

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// On n points pairwise 1 apart: at least the closed form, and at most the
// optimum, (n-1)/(n-1+e^alpha).
func TestLowerBound_EquidistantPoints(t *testing.T) {
	const n, alpha = 6, .7
	got := testkit.Must(LowerBound(t.Context(), metric.Same(space.Simplex(n, 1)), alpha, []int{0, 1, 2, 3, 4, 5}))
	form, most := .5*(1-1/(1+2*(n-1)*math.Exp(-alpha))), (n-1)/(n-1+math.Exp(alpha))
	if !(got.Value <= most) || got.Value < form*(1-1e-9) {
		t.Errorf("%v, want in [%v, %v]", got, form, most)
	}
}

// Theorem 3 may say more from a point outside the packing: the hub of a star of n leaves, at
// distance 1 from each, 2 from one another.
func TestLowerBound_FromOutside(t *testing.T) {
	const n, alpha = 60, 3.
	hub := metric.Same(space.Func(n+1, func(i, j int) float64 {
		if i == 0 || j == 0 {
			return 1
		}
		return 2
	}))
	leaves := make([]int, n)
	for i := range leaves {
		leaves[i] = i + 1
	}
	got := testkit.Must(LowerBound(t.Context(), hub, alpha, leaves))
	if want := 1 - 1/(n*math.Exp(-alpha)); got.Value < want {
		t.Errorf("%v, want at least %v", got, want)
	}
	if s := testkit.Must(Optimal(t.Context(), hub, alpha, nil)); s.Objective < got.Value {
		t.Errorf("%v above the optimum %v", got, s.Objective)
	}
}

// The bound is proved by its witness and lies below the optimum; what is searched
// is at least what a greedy packing proves.
func TestLowerBound_BelowTheOptimum(t *testing.T) {
	b := metric.Same(referencePoints(t, 20))
	for _, alpha := range []float64{.1, .5, 1, 3} {
		s := testkit.Must(Optimal(t.Context(), b, alpha, nil))
		searched := testkit.Must(entropy.LowerBounds(t.Context(), b, alpha, nil))[0]
		for _, separation := range []float64{.5, 1, 2, 4, 8} {
			net := testkit.Must(metric.Net(t.Context(), b.Utility, separation, nil))
			given := testkit.Must(LowerBound(t.Context(), b, alpha, net))
			if given.Value > searched.Value || given.Value > s.Objective {
				t.Errorf("alpha=%v: a packing of %d proves %v, the search %v, optimum %v", alpha, len(net), given, searched, s)
			}
			if proved, err := given.Witness.Prove(t.Context(), b, alpha); err != nil || proved != given.Value {
				t.Errorf("alpha=%v: %v, its witness %v %v", alpha, given, proved, err)
			}
		}
	}
}
