package emd

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// What no constructor made promises nothing, releases nothing and tells no
// numbers, but names the constructor: zero values and nil pointers.
func TestMechanisms_ZeroValuesRefuse(t *testing.T) {
	type vector = []float64
	testkit.Unmade[Frequencies](t, "NewFrequencies, NewGKRRFrequencies, NewHadamardFrequencies or NewLaplaceFrequencies", "Distribution")
	testkit.Unmade[GKRR](t, "NewGKRR")
	testkit.Unmade[Hadamard](t, "NewHadamard")
	testkit.Unmade[ItemWise](t, "NewItemWise", "Theorem")
	testkit.Unmade[Linear[vector]](t, "NewLinear")
	testkit.Unmade[Reduced[int, []int64]](t, "NewReduced", "SampleDistance")
	for _, w := range []*ItemWise{nil, {}} {
		if _, err := NewReduced(w, Sampling{Radius: 1, Delta: .1}); err == nil {
			t.Errorf("a Reduced of %v", w)
		}
	}
	if p := (Guarantee{}).UserLevel(); !math.IsInf(p.Eps, 1) {
		t.Errorf("the zero Guarantee promises %v", p)
	}
}
