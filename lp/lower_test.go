package lp

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// On n points pairwise 1 apart Theorem 3 says 1/2 (1 - 1/(1 + (n-1)e^-alpha)).
func TestLowerBound_EquidistantPoints(t *testing.T) {
	const n, alpha = 6, .7
	got := testkit.Must(LowerBound(t.Context(), metric.Same(space.Simplex(n, 1)), alpha, []int{0, 1, 2, 3, 4, 5}))
	if want := .5 * (1 - 1/(1+(n-1)*math.Exp(-alpha))); !(got.Value <= want) || got.Value < want*(1-1e-6) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The bound is proved by its witness and lies below the optimum; what is searched
// is at least what a greedy packing proves.
func TestLowerBound_BelowTheOptimum(t *testing.T) {
	b := metric.Same(referencePoints(t, 30))
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

func TestLowerBound_BadInput(t *testing.T) {
	b := metric.Same(space.Path(20, 1))
	var value *metric.ValueError
	for _, packing := range [][]int{{0, 20}, {-1}} {
		if _, err := LowerBound(t.Context(), b, 1, packing); !errors.As(err, &value) {
			t.Errorf("packing %v: %v", packing, err)
		}
	}
	if _, err := LowerBound(t.Context(), b, 1, nil); !errors.Is(err, metric.ErrEmpty) {
		t.Errorf("empty packing: %v", err)
	}
	if got, err := LowerBound(t.Context(), b, 1, []int{3, 3}); err != nil || got.Value != 0 || got.Kind != entropy.Lower {
		t.Errorf("a point twice: %v, %v", got, err)
	}
}
