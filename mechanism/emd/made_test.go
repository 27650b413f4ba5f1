package emd

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// What no constructor made promises nothing, releases nothing and tells no
// numbers, but names the constructor: zero values and nil pointers.
func TestMechanisms_ZeroValuesRefuse(t *testing.T) {
	testkit.Unmade[Reduced[int, []int64]](t, "NewReduced", "SampleDistance")
	if p := (Guarantee{}).UserLevel(); !math.IsInf(p.Eps, 1) {
		t.Errorf("the zero Guarantee promises %v", p)
	}
}
