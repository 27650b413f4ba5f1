package wasserstein

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// TestW1_TakesSignedEstimates: the distance of an unbiased estimate, whose total
// is 1 up to the rounding of its inverse, from a distribution is that of the
// closed form, handed over as it is or as the parts of the difference.
func TestW1_TakesSignedEstimates(t *testing.T) {
	r := random.Seeded(5)
	for range 50 {
		n := 2 + r.IntN(30)
		x, est, truth := make([]float64, n), make([]float64, n), make([]float64, n)
		pos, neg := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = r.Float64()
			truth[i] = r.ExpFloat64()
			est[i] = truth[i] + 3*r.NormFloat64()
		}
		te, tt := total(est), total(truth)
		for i := range x {
			truth[i] /= tt
			est[i] += (tt - te) / float64(n)
			est[i] = est[i]/tt + 1e-12*r.NormFloat64()
			d := est[i] - truth[i]
			pos[i], neg[i] = max(0, d), max(0, -d)
		}
		line := onLine(x)
		want := testkit.Must(distance(line, est, truth))
		for name, mu := range map[string][2][]float64{"estimate": {est, truth}, "swapped": {truth, est}, "parts": {pos, neg}} {
			for _, f := range []metric.Finite{line, linePoints(x)} { // by the closed form, and not
				got := testkit.Must(W1(t.Context(), f, mu[0], mu[1], nil))
				if math.Abs(got.Cost-want) > 1e-9*(1+want) || got.Lower > want+1e-9 || got.Upper < want-1e-9 {
					t.Fatalf("n=%d, %s: %v, on the line %v", n, name, got, want)
				}
			}
		}
		if _, err := W1(t.Context(), line, est, pos, nil); err == nil {
			t.Fatal("a forgotten part is not refused")
		}
	}
}
