package additive

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// TestGammaQuantile_LowerTail inverts the distribution function where that is in
// closed form, a = 1, and where its power series has one term, and agrees with
// gonum where that is right.
func TestGammaQuantile_LowerTail(t *testing.T) {
	close := func(what string, a, q, got, want float64) {
		if !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%s: quantile %v of Gamma(%v) is %v, want %v", what, q, a, got, want)
		}
	}
	for q := lowerTail / 2; q > 0; q /= 1e5 {
		close("closed form", 1, q, gammaQuantile(1, q), -math.Log1p(-q))
		for _, a := range []float64{0.5, 1.5, 2, 5} {
			lg, _ := math.Lgamma(1 + a)
			x := gammaQuantile(a, q)
			if lead := math.Exp((math.Log(q) + lg) / a); lead < 1e-14 && q > 0x1p-1022 {
				close("one term", a, q, x, lead)
			}
			if p := mathext.GammaIncReg(a, x); x > 1e-290 && q > 1e-290 && !(math.Abs(p-q) <= 1e-11*q) {
				t.Errorf("Gamma(%v) has mass %v below its quantile %v", a, p, q)
			}
		}
	}
	for _, a := range []float64{0.5, 1, 3, 10, 100, 1e4} {
		close("gonum", a, lowerTail, gammaLowerQuantile(a, lowerTail), mathext.GammaIncRegInv(a, lowerTail))
	}
}
