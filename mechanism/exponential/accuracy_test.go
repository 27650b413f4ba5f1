package exponential

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/metric"
)

// BSV24 Lemma 4.1 with explicit constants: 14.898 at alpha = 1, s = 0; the
// minimum against a dense scan of u; and the mechanism stays below it.
func TestStandardBound(t *testing.T) {
	if b, err := StandardBound(1, 0); err != nil || math.Abs(b-14.898) > 5e-4 {
		t.Errorf("bound %v (%v), want 14.898", b, err)
	}
	for _, alpha := range []float64{0.01, 1, 30} {
		for _, s := range []float64{0, 0.1, 1, 50} {
			b, err := StandardBound(alpha, s)
			if err != nil {
				t.Fatal(err)
			}
			least := math.Inf(1)
			for u := 2.0; u < 80; u += 1e-3 {
				least = min(least, 3*s+u/alpha+math.Exp(-u/6)*(9*s+(3*u+12)/alpha))
			}
			if b > least*(1+1e-9) || b < least*(1-1e-4) {
				t.Errorf("alpha %v, s %v: %v, scan %v", alpha, s, b, least)
			}
		}
	}
	for _, c := range [][2]float64{{0, 1}, {1, -1}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if _, err := StandardBound(c[0], c[1]); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
	// On a path of unit gaps s = 0 serves at a large level: N(B(x,r), 0) =
	// 2r+1 <= e^(alpha*r/3) for all r >= 1.
	f := path(t, 40, 1)
	m, err := Standard(f, 6, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := StandardBound(6, 0); worst(t, m, f) > b {
		t.Errorf("loss %v above the bound %v", worst(t, m, f), b)
	}
}

// MATH.md section 1: uniform measure on [0,1], gamma = .1, delta = .05.
func TestUtilityBeta_KnownAnswers(t *testing.T) {
	paper, err := UtilityBeta(0.1, 0.05, 0.05)
	if err != nil || math.Abs(paper-119.829291) > 1e-6 {
		t.Errorf("KL10's rate %v (%v), want 119.829291", paper, err)
	}
	// On a grid of step h the first miss is at gamma+h, so gamma = .1-h. An
	// inner point misses with probability 2q^(.1/h)/(1+q), q = e^-(beta*h),
	// which tends to the continuum's e^(-.1*beta) linearly in h.
	grid := func(n int) (metric.Finite, []float64) {
		return path(t, n, 1/float64(n-1)), slices.Repeat([]float64{1 / float64(n)}, n)
	}
	smallest := func(n int) float64 {
		f, mu := grid(n)
		h := 1 / float64(n-1)
		beta, err := SmallestBeta(f, mu, 0.1-h+1e-12, 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if miss := 2 * math.Exp(-0.1*beta) / (1 + math.Exp(-beta*h)); math.Abs(miss-0.05) > 1e-6 {
			t.Errorf("n = %d: an inner point misses with probability %v", n, miss)
		}
		return beta
	}
	if beta := 2*smallest(801) - smallest(401); math.Abs(beta-29.9573) > 2e-3 { // e^-beta and h^2 are left
		t.Errorf("smallest rate %v, want 29.9573", beta)
	}
	const n = 101
	f, mu := grid(n)
	if beta, err := SmallestBeta(f, mu, 2, 0.05); beta != 0 || err != nil {
		t.Errorf("everything is within 2: %v, %v", beta, err)
	}
	mu2 := make([]float64, n)
	mu2[0] = 1
	if _, err := SmallestBeta(f, mu2, 0.1, 0.05); err == nil {
		t.Error("a ball of measure 0 accepted")
	}
	for _, c := range [][3]float64{{0, 0.1, 0.1}, {1, 0, 0.1}, {1, 0.1, 0}, {1, 2, 1}, {1, 0.1, math.NaN()}} {
		if _, err := UtilityBeta(c[0], c[1], c[2]); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
	for _, c := range [][2]float64{{-1, 0.1}, {math.NaN(), 0.1}, {0.1, 0}, {0.1, 1}} {
		if _, err := SmallestBeta(f, mu, c[0], c[1]); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
	if _, err := SmallestBeta(f, mu[:5], 0.1, 0.1); err == nil {
		t.Error("short measure accepted")
	}
}
