package walk

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// TestSuperregular_Theorem: V is 1-Lipschitz in l1, attained where n is a power
// of two, by the exact formula; and each partial sum has a deviation within a multiple
// of (log n)^(3/2).
func TestSuperregular_Theorem(t *testing.T) {
	rng := random.Seeded(23)
	for n := 1; n <= 70; n++ {
		w := testkit.Must(Superregular(n))
		x, y := make([]float64, n), make([]float64, n)
		worst := 0.0
		for trial := range 200 {
			for i := range x {
				x[i] = []float64{0, 1, 100}[trial%3] * rng.NormFloat64()
			}
			copy(y, x)
			if trial%2 == 0 {
				y[rng.IntN(n)] += rng.NormFloat64()
			} else {
				for i := range y {
					y[i] += rng.NormFloat64()
				}
			}
			worst = max(worst, math.Abs(testkit.Must(w.Potential(x))-testkit.Must(w.Potential(y)))/floats.Distance(x, y, 1))
		}
		if worst > 1+1e-9 {
			t.Fatalf("n = %d: V rises by %v per unit of l1", n, worst)
		}
		if n&(n-1) == 0 && worst < 1-1e-9 {
			t.Errorf("n = %d: the steepest rise found is %v, want 1", n, worst)
		}
		if loss := testkit.Must(w.Tree().Loss(AddRemoveOne, w.Scales())); loss > 1 || n&(n-1) == 0 && loss < 1 {
			t.Errorf("n = %d: loss %v", n, loss)
		}
		if L := w.Tree().Height(); w.Scales().Total != float64(L+1) {
			t.Errorf("n = %d: scale %v", n, w.Scales().Total)
		}
	}
	for _, n := range []int{2, 5, 64, 1000, 1 << 12} {
		w := testkit.Must(Superregular(n))
		v := make([]float64, n)
		testkit.Check(t, w.Variances(v))
		L := float64(w.Tree().Height())
		// Each level adds b^2 phi^2/2 or b^2 (1-phi)^2/2, phi in [0, 1], and the
		// total at most 2b^2.
		if top := slices.Max(v); top > (L+1)*(L+1)*(L/2+2) {
			t.Errorf("n = %d: variance %v at height %v", n, top, L)
		}
	}
}
