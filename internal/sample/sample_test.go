package sample

import (
	"math"
	"testing"
)

// Ranks enclose the quantile but with probability 1/200 on either side, and no wider
// than that takes: by the binomial distribution.
func TestRanks_Enclose(t *testing.T) {
	for _, n := range []int{1, 10, 200, 1000} {
		for _, prob := range []float64{0.01, 0.5, 0.95, 0.999} {
			atMost := []float64{math.Pow(1-prob, float64(n))} // P{X <= k}
			for k, p := 0, atMost[0]; k < n; k++ {
				p *= float64(n-k) / float64(k+1) * prob / (1 - prob)
				atMost = append(atMost, atMost[k]+p)
			}
			if atMost[0] < 1e-300 {
				continue
			}
			lo, hi := Ranks(n, prob, 0.005)
			if lo >= 0 && atMost[lo] > 0.005 || atMost[lo+1] <= 0.005 || hi < n && atMost[hi] < 0.995 || hi > 0 && atMost[hi-1] >= 0.995 {
				t.Errorf("%d draws, %v: ranks %d and %d", n, prob, lo, hi)
			}
		}
	}
}
