package lp

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// On n points pairwise 1 apart Theorem 3 says 1/2 (1 - 1/(1 + (n-1)e^-alpha)).
func TestLowerBound_EquidistantPoints(t *testing.T) {
	const n, alpha = 6, .7
	f := testkit.Must(metric.NewDense(n, func() []float64 {
		d := make([]float64, n*(n-1)/2)
		for i := range d {
			d[i] = 1
		}
		return d
	}()))
	got := testkit.Must(LowerBound(t.Context(), metric.Same(f), alpha, []int{0, 1, 2, 3, 4, 5}, nil))
	if want := .5 * (1 - 1/(1+(n-1)*math.Exp(-alpha))); !(got.Value <= want) || got.Value < want*(1-1e-6) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Given or searched, the bound is proved by its witness and lies below the
// optimum; what is searched is at least what a greedy packing proves.
func TestLowerBound_BelowTheOptimum(t *testing.T) {
	b := metric.Same(referencePoints(t, 30))
	for _, alpha := range []float64{.1, .5, 1, 3} {
		s := testkit.Must(Optimal(t.Context(), b, alpha, nil))
		searched := testkit.Must(LowerBound(t.Context(), b, alpha, nil, nil))
		for _, separation := range []float64{.5, 1, 2, 4, 8} {
			net := testkit.Must(metric.Net(t.Context(), b.Utility, separation, nil))
			given := testkit.Must(LowerBound(t.Context(), b, alpha, net, nil))
			if given.Value > searched.Value {
				t.Errorf("alpha=%v: a packing of %d proves %v, the search %v", alpha, len(net), given, searched)
			}
		}
		proved, err := searched.Witness.Prove(t.Context(), b, alpha)
		if err != nil || proved < searched.Value || searched.Value > s.Objective || searched.Value == 0 {
			t.Errorf("alpha=%v: %v, its witness %v %v, optimum %v", alpha, searched, proved, err, s)
		}
	}
}

func TestLowerBound_BadInput(t *testing.T) {
	b := metric.Same(referencePoints(t, 20))
	var value *metric.ValueError
	for _, packing := range [][]int{{0, 20}, {-1}} {
		if _, err := LowerBound(t.Context(), b, 1, packing, nil); !errors.As(err, &value) {
			t.Errorf("packing %v: %v", packing, err)
		}
	}
	if _, err := LowerBound(t.Context(), b, 1, []int{}, nil); !errors.Is(err, metric.ErrEmpty) {
		t.Errorf("empty packing: %v", err)
	}
	if _, err := LowerBound(t.Context(), b, math.NaN(), nil, nil); !errors.As(err, &value) {
		t.Errorf("alpha NaN: %v", err)
	}
	if got, err := LowerBound(t.Context(), b, 1, []int{3, 3}, nil); err != nil || got.Value != 0 || got.Kind != entropy.Lower {
		t.Errorf("a point twice: %v, %v", got, err)
	}
}
