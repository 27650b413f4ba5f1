package entropy

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// Both bounds of ln Z hold, and that of the loss, for the distances as given and for
// those that are less by all that is allowed for.
func TestRow_EnclosesTheNormalizer(t *testing.T) {
	r := random.Seeded(1)
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	for trial := range 400 {
		k := 1 + r.IntN(4)
		w := netOutputs{}
		sigma, loss := make([]float64, k), make([]float64, k)
		for j := range k {
			w.Outputs = append(w.Outputs, j)
			sigma[j], loss[j] = float64(r.IntN(3))*r.Float64(), r.Float64()
		}
		if trial%4 == 0 {
			clear(sigma)
		}
		if trial%2 == 0 {
			for range k {
				w.Weights = append(w.Weights, math.Exp(9*r.NormFloat64())*float64(r.IntN(2)))
			}
			w.Weights[r.IntN(k)] = r.Float64()
		}
		rate := math.Exp(4*r.Float64() - 2)
		got := w.row(rate, sigma, loss)
		for _, part := range []float64{1, keep} {
			low, high, cost := wide(0), wide(0), wide(0).SetMode(big.ToZero)
			for j, s := range sigma {
				x := wide(-rate)
				x.Mul(x, wide(s)).Mul(x, wide(part))
				l, h := exact.ExpBounds(x, 200)
				l.Mul(l, wide(w.weight(j)))
				h.Mul(h, wide(w.weight(j)))
				low.Add(low, l)
				high.Add(high, h)
				cost.Add(cost, new(big.Float).Mul(l, wide(loss[j])))
			}
			if l, _ := exact.ExpBounds(wide(got.low), 200); l.Cmp(high) > 0 {
				t.Fatalf("trial %d: ln Z is at least %v, Z is %v", trial, got.low, high)
			}
			if _, h := exact.ExpBounds(wide(got.high), 200); h.Cmp(low) < 0 {
				t.Fatalf("trial %d: ln Z is at most %v, Z is %v", trial, got.high, low)
			}
			if cost.Quo(cost, high); wide(got.loss).Cmp(cost) < 0 {
				t.Fatalf("trial %d: a loss of %v at most, exactly %v", trial, got.loss, cost)
			}
		}
		if got.high-got.low > 1e-6 {
			t.Errorf("trial %d: ln Z in [%v, %v]", trial, got.low, got.high)
		}
	}
}

// The best of the candidates is that with the least of its largest losses over all
// points, in whichever piece of the work these are.
func TestLeastWorst_OverAllPoints(t *testing.T) {
	b := metric.Same(space.Path(200, 1))
	w := &work{b: b, stored: b, alphas: []float64{1}, o: &Options{Workers: 1}}
	best := testkit.Must(w.leastWorst(t.Context(), 2, func(r1, _ []float64, _ float64, worst []float64) {
		x := r1[0] // the point
		if x == 150 {
			worst[0] = max(worst[0], 9)
		}
		worst[1] = max(worst[1], 5)
	}))
	if best[0] != 1 {
		t.Errorf("candidate %d", best[0])
	}
	if _, err := w.leastWorst(testkit.Looking(0), 2, func(_, _ []float64, _ float64, _ []float64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("the context was over: %v", err)
	}
}
