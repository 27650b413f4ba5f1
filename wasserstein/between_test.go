package wasserstein

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func TestBetween_SlowReference(t *testing.T) {
	r := random.Seeded(2)
	for k := range 400 {
		most := 25
		if k%2 == 0 {
			most = 4
		}
		n, m := 1+r.IntN(most), 1+r.IntN(most)
		if k%5 == 0 {
			m = n
		}
		mu, nu := w1Weights(r, n, k%2 == 0), w1Weights(r, m, k%3 == 0)
		if k%5 == 0 { // Birkhoff: all masses equal
			for i := range mu {
				mu[i], nu[i] = 1/float64(n), 1/float64(n)
			}
		}
		if k%7 == 0 { // small integers, so that ties abound
			clear(mu)
			clear(nu)
			for range 12 {
				mu[r.IntN(n)]++
				nu[r.IntN(m)]++
			}
		}
		c := w1Random(r, n, m)
		cost := w1Matrix(n, m, c)
		got := testkit.Must(Between(t.Context(), cost, mu, nu, nil))
		w1Verify(t, cost, mu, nu, got, w1Tol)
		if k%5 == 0 && k%7 != 0 && len(got.Plan) != n {
			t.Errorf("equal masses, %d points, %d flows", n, len(got.Plan))
		}
		want := refTransport(cost, mu, nu)
		if math.Abs(got.Cost-want) > 1e-13*total(mu)*slices.Max(c) {
			t.Fatalf("%d x %d: %v, want %v", n, m, got.Cost, want)
		}
	}
}

// W1Points is W1LineBetween and, without weights, W1Samples of numbers, which may coincide;
// flows go from one list to the other.
func TestW1Points_IsThatOfTheLine(t *testing.T) {
	r := random.Seeded(3)
	for k := range 100 {
		var x, w [2][]float64
		for s := range x {
			x[s] = make([]float64, 1+r.IntN(30))
			for i := range x[s] {
				x[s][i] = float64(r.IntN(50))
			}
			if k%2 > 0 {
				w[s] = w1Weights(r, len(x[s]), false)
			}
		}
		got := testkit.Must(W1Points(t.Context(), metric.Numbers[float64]{}, x[0], w[0], x[1], w[1], nil))
		want := testkit.Must(W1Samples(x[0], x[1]))
		if k%2 > 0 {
			want = testkit.Must(W1LineBetween(x[0], w[0], x[1], w[1]))
		}
		cost := 0.0
		for _, p := range got.Plan {
			cost += p.Mass * math.Abs(x[0][p.I]-x[1][p.J])
		}
		if math.Abs(got.Cost-want) > 1e-12 || math.Abs(cost-want) > 1e-12 {
			t.Fatalf("%v with weights %v: %v by a plan of %v, want %v", x, w, got.Cost, cost, want)
		}
	}
}
