package limit

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
)

// Beyond the floats everything is within reach, and beyond n nothing counts.
func TestReach_Ends(t *testing.T) {
	for _, alpha := range []float64{5e-324, math.Ln2 / math.MaxFloat64, math.Ln2 / math.MaxFloat64 * (1 + 1e-12)} {
		if r := Reach(alpha, 2); !Exceeded(alpha, r, 2) || r < math.MaxFloat64 && Exceeded(alpha, directed.Next(r), 2) {
			t.Errorf("alpha %v: reach %v", alpha, r)
		}
	}
	if k := Least(10, 1, 5); k != 6 {
		t.Errorf("%d of 5 points", k)
	}
}

// The reach of k is the last float64 r with exp(alpha r) < k.
func TestReach_Law(t *testing.T) {
	for _, alpha := range []float64{1e-300, 1e-3, math.Ln2, 1, 7.5, 1e12, 1e300} {
		for _, k := range []int{2, 3, 4, 8, 1000, 1e6 + 3, 1e8 + 7, 1e9 + 9} {
			r := Reach(alpha, k)
			if !Exceeded(alpha, r, k) {
				t.Errorf("alpha %v, k %d: reach %v is too large", alpha, k, r)
			}
			if next := directed.Next(r); next <= math.MaxFloat64 && Exceeded(alpha, next, k) {
				t.Errorf("alpha %v, k %d: reach %v is too small", alpha, k, r)
			}
			if e := Least(alpha, r, 2e9); e != k {
				t.Errorf("alpha %v: least count at the reach of %d is %d", alpha, k, e)
			}
			if e := Least(alpha, directed.Next(r), 2e9); directed.Next(r) <= math.MaxFloat64 && e != k+1 {
				t.Errorf("alpha %v: least count above the reach of %d is %d", alpha, k, e)
			}
		}
	}
}
