package bsv24

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
)

func TestExhibits_Hold(t *testing.T) {
	slow := []string{"BSV24/thm1.5", "BSV24/sec1.4", "BSV24/sec2", "BSV24/thm1.7", "BSV24/thm6.2", "BSV24/thm6.3", "BSV24/thm6.4"}
	exhibittest.Hold(t, Exhibits, slow, "bsv24-balls.png")
}

// Two points have A = rho2/(1+e^rho1), s = 0 and s_o = 1.
func TestQuotient_OfTwoPoints(t *testing.T) {
	for _, c := range [][2]float64{{0.5, 0.5}, {0.25, 0.75}, {1. / 3, 1. / 7}} {
		want := math.Pow(2, c[1]/c[0]) / (1 + math.Pow(2, 1/c[0]))
		if got := quotient(t.Context(), 2, c[0], c[1]); math.Abs(got/want-1) > 2e-4 {
			t.Errorf("c, d = %v: %v, want %v", c, got, want)
		}
	}
}
