package knots

import (
	"math"
	"testing"
)

// Knots are ceil(n/every), in order: the parts that they are the middles of have every inputs
// or one less, where there are parts enough, and no knot is farther than that from the next.
func TestAt_AreSpreadEvenly(t *testing.T) {
	for n := range 40 {
		for every := range 45 {
			at, e := At(n, every), max(1, every)
			ok := len(at) == (n+e-1)/e
			last := -1
			for j, i := range at {
				lo, hi := j*n/len(at), (j+1)*n/len(at)
				ok = ok && i > last && i-last <= e+1 && i >= lo && i <= hi && math.Abs(float64(2*i+1-lo-hi)) <= 2
				last = i
			}
			if !ok || n > 0 && n-last > e/2+2 {
				t.Fatalf("%d of %d: %v", n, every, at)
			}
		}
	}
}

func TestAt_OfAnyNumber(t *testing.T) {
	for _, n := range []int{math.MaxInt, math.MaxInt - 1, math.MaxInt/2 + 1} {
		if at := At(n, n/2+1); len(at) != 2 || at[0] != n/4 || at[1] < n/4*3 || at[1] > n/4*3+3 {
			t.Errorf("two of %d: %v", n, at)
		}
		if at := At(n, 1); at != nil {
			t.Errorf("all of %d: %d", n, len(at))
		}
	}
	if at := At(-5, 2); at != nil || len(At(5, math.MinInt)) != 5 || len(At(5, math.MaxInt)) != 1 {
		t.Error(at)
	}
}
