package exponential

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit/space"
)

// On a path with unit gaps the weights are tanh(alpha/2) inside and 1/(1+q) at
// the ends, and the mechanism is the truncated geometric one.
func TestTight_IsTruncatedGeometricOnALine(t *testing.T) {
	const n, alpha = 12, 0.7
	m, err := Tight(space.Path(n, 1), alpha, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := math.Exp(-alpha)
	for x := range n {
		for y := range n {
			// Clamped two-sided geometric noise.
			want := (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(x-y)))
			if y == 0 || y == n-1 {
				want = math.Pow(q, math.Abs(float64(x-y))) / (1 + q)
			}
			if got := m.Prob(x, y); !near(got, want, 1e-10) {
				t.Fatalf("P(%d|%d) = %v, want %v", y, x, got, want)
			}
		}
	}
}

// On the discrete metric tight weights are the exponential mechanism with the
// budget doubled.
func TestTight_DoublesTheBudgetOnTheDiscreteMetric(t *testing.T) {
	f := space.Func(6, func(int, int) float64 { return 1 })
	m, err := Tight(f, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Standard(f, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for x := range 6 {
		for y := range 6 {
			if !near(m.Prob(x, y), s.Prob(x, y), 1e-12) {
				t.Errorf("P(%d|%d): tight %v, standard %v", y, x, m.Prob(x, y), s.Prob(x, y))
			}
		}
	}
}
