package mechanismtest

import (
	"math"
	"testing"
)

// binomial is P{Bin(n, p) = k}.
func binomial(n, k int, p float64) float64 {
	c := 1.0
	for i := range k {
		c *= float64(n-i) / float64(k-i)
	}
	return c * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
}

// The intervals miss with at most the stated probability, at every p, and are
// not much wider than that needs.
func TestAtLeast_Covers(t *testing.T) {
	for _, n := range []int{1, 2, 13, 60} {
		for _, level := range []float64{0.05, 1e-6} {
			low, high := make([]float64, n+1), make([]float64, n+1)
			for k := range low {
				low[k], high[k] = atLeast(k, n, level), atMost(k, n, level)
			}
			for p := 0.001; p < 1; p += 0.007 {
				above, below := 0.0, 0.0
				for k := range n + 1 {
					if low[k] > p {
						above += binomial(n, k, p)
					}
					if high[k] < p {
						below += binomial(n, k, p)
					}
				}
				if above > level*(1+1e-9) || below > level*(1+1e-9) {
					t.Fatalf("n=%d p=%v: misses with %v and %v, stated %v", n, p, above, below, level)
				}
			}
			for k := range n + 1 {
				lo := low[k]
				sum := 0.0
				for j := k; j <= n; j++ {
					sum += binomial(n, j, lo)
				}
				if mine := tail(k, n, lo); k > 0 && mine > level { // by the tail that the interval is made of
					t.Errorf("n=%d k=%d: the tail at %v is %v, above %v", n, k, lo, mine, level)
				}
				if k > 0 && math.Abs(sum-level) > 1e-9*level || k == 0 && lo != 0 {
					t.Errorf("n=%d k=%d: %v, where the tail is %v and not %v", n, k, lo, sum, level)
				}
			}
		}
	}
}

// By all outcomes of few draws: a law is rejected by draws from it with at most the stated probability.
func TestDisagree_RejectsAsStated(t *testing.T) {
	const n = 14
	for _, p := range [][3]float64{{0.5, 0.5, 0}, {0.98, 0.02, 0}, {1. / 3, 1. / 3, 1. / 3}, {0.9, 0.09, 0.01}, {0.6, 0.4 - 1e-6, 1e-6}} {
		law := map[int]float64{0: p[0], 1: p[1], 2: p[2]}
		for _, level := range []float64{0.5, 0.1, 1e-3, 1e-6} {
			rejected, some := 0.0, false
			for a := range n + 1 {
				for b := range n + 1 - a {
					c := n - a - b
					if p[2] == 0 && c > 0 {
						continue
					}
					if disagree(map[int]int{0: a, 1: b, 2: c}, law, 0, level) != nil {
						rest := 1.0
						if p[2] > 0 {
							rest = binomial(n-a, b, p[1]/(p[1]+p[2]))
						}
						rejected += binomial(n, a, p[0]) * rest
						some = true
					}
				}
			}
			if rejected > level {
				t.Errorf("%v at %v: rejected with probability %v", p, level, rejected)
			}
			if !some && level >= 0.1 { // 14 draws cannot show everything
				t.Errorf("%v at %v: never rejected", p, level)
			}
		}
	}
}

func TestKey_TellsOutputsApart(t *testing.T) {
	if key([]int{1, 2}) != key([]int{1, 2}) || key([]int{1, 2}) == key([]int{1, 3}) || key("a") != any("a") {
		t.Error("slices or strings")
	}
	var none any
	if key(none) != nil {
		t.Error("nil")
	}
	type pair struct{ a, b any }
	if key(pair{1, []int{2}}) != key(pair{1, []int{2}}) || key(pair{1, 2}) != any(pair{1, 2}) {
		t.Error("structs")
	}
	if nan := math.NaN(); !same(nan, nan) || same(1.0, 2.0) {
		t.Error("numbers")
	}
}
