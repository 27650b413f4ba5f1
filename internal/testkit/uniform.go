package testkit

import (
	"math"
	"slices"
	"testing"
)

// Uniform fails t where the numbers, sorted in place, are not uniform on [0, 1]: Kolmogorov and
// Smirnov, with the Dvoretzky-Kiefer-Wolfowitz bound P{sup > e} <= 2 exp(-2 n e^2), so that the
// false-reject probability is at most 1e-7.
func Uniform(t *testing.T, name string, u []float64) {
	t.Helper()
	slices.Sort(u)
	n := float64(len(u))
	worst := 0.0
	for i, v := range u {
		worst = max(worst, v-float64(i)/n, float64(i+1)/n-v)
	}
	if limit := math.Sqrt(math.Log(2/1e-7) / (2 * n)); !(worst <= limit) {
		t.Errorf("%s: Kolmogorov-Smirnov %.5f, limit %.5f", name, worst, limit)
	}
}
