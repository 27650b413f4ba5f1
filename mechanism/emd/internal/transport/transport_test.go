package transport

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// TestW1_OnALine is the closed form where few points differ, and at most twice the
// way to the near points above it where many do.
func TestW1_OnALine(t *testing.T) {
	rng := random.Seeded(1)
	for _, n := range []int{2, 50, most + 500} {
		p, q := testkit.Distribution(rng, n, func(int) bool { return false }), testkit.Distribution(rng, n, func(int) bool { return false })
		near := make([]int, n)
		for i := range near {
			near[i] = i / 50 * 50
		}
		want, diff := 0.0, 0.0
		for i := range n {
			want += math.Abs(diff)
			diff += p[i] - q[i]
		}
		got := testkit.Must(W1(t.Context(), func(i, j int) float64 { return math.Abs(float64(i - j)) }, p, q, near))
		slack := 1e-9
		if n > most {
			slack = 100
		}
		if got < want-1e-9 || got > want+slack {
			t.Errorf("%d points: %v, want %v", n, got, want)
		}
	}
	if d := testkit.Must(W1(t.Context(), nil, []float64{0.5, 0.5}, []float64{0.5, 0.5}, nil)); d != 0 {
		t.Errorf("equal: %v", d)
	}
}
