package star

import (
	"context"
	"math"
	"testing"
)

// Seen from x, two points x and y at distance d with w = e^-u: the optimum of
// the program is d/(1+e^u), and the multipliers prove it.
func TestSolve_TwoPoints(t *testing.T) {
	for _, d := range []float64{1e-9, 1, 250} {
		for _, u := range []float64{0.1, 1, 5} {
			w := math.Exp(-u)
			c, g, ok := Solve(t.Context(), []float64{w, 1}, 1, [][]float64{{d, 0}, {0, d}}) // outputs x and y
			if !ok || len(c) != 2 || len(g) != 1 {
				t.Fatalf("d %v, u %v: %v, %v, %v", d, u, c, g, ok)
			}
			least := math.Inf(1)
			for z := range 2 {
				h := c[0]*d*float64(1-z) - g[0]
				if h < 0 {
					h /= w
				} else {
					h *= w
				}
				least = min(least, h+c[1]*d*float64(z))
			}
			got, want := (g[0]+least)/(c[0]+c[1]), d/(1+math.Exp(u))
			if !(got <= want*(1+1e-12) && got > want*(1-1e-3)) {
				t.Errorf("d %v, u %v: proves %v, want %v", d, u, got, want)
			}
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, ok := Solve(done, []float64{0.5, 1}, 1, [][]float64{{1, 0}, {0, 1}}); ok {
		t.Error("ok where the context is done")
	}
	if _, _, ok := Solve(t.Context(), []float64{0.5, 1}, 1, [][]float64{{0, 0}, {0, 0}}); ok {
		t.Error("ok where all distances are 0")
	}
}
