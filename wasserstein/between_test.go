package wasserstein

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// Weights are small integers, so that stripping is exact and ties abound.
func TestBetween_AllVertices(t *testing.T) {
	r := random.Seeded(1)
	for range 400 {
		n, m := 1+r.IntN(3), 1+r.IntN(4)
		mu, nu := make([]float64, n), make([]float64, m)
		for range 12 {
			mu[r.IntN(n)]++
			nu[r.IntN(m)]++
		}
		c := w1Random(r, n, m)
		got := testkit.Must(Between(t.Context(), w1Matrix(n, m, c), mu, nu, nil))
		w1Verify(t, w1Matrix(n, m, c), mu, nu, got, w1Tol)
		if want := w1Vertices(c, mu, nu); math.Abs(got.Cost-want) > 1e-13*want {
			t.Fatalf("%v -> %v at %v: %v, want %v", mu, nu, c, got.Cost, want)
		}
	}
}

func TestBetween_SlowReference(t *testing.T) {
	r := random.Seeded(2)
	for k := range 150 {
		n, m := 1+r.IntN(25), 1+r.IntN(25)
		if k%5 == 0 {
			m = n
		}
		mu, nu := w1Weights(r, n, k%2 == 0), w1Weights(r, m, k%3 == 0)
		if k%5 == 0 { // Birkhoff: all masses equal
			for i := range mu {
				mu[i], nu[i] = 1/float64(n), 1/float64(n)
			}
		}
		c := w1Random(r, n, m)
		got := testkit.Must(Between(t.Context(), w1Matrix(n, m, c), mu, nu, nil))
		w1Verify(t, w1Matrix(n, m, c), mu, nu, got, w1Tol)
		if k%5 == 0 && len(got.Plan) != n {
			t.Errorf("equal masses, %d points, %d flows", n, len(got.Plan))
		}
		want := refTransport(w1Rows(c, n, m), mu, nu)
		if math.Abs(got.Cost-want) > 1e-13*slices.Max(c) {
			t.Fatalf("%d x %d: %v, want %v", n, m, got.Cost, want)
		}
	}
}

// Costs and masses over 24 orders of magnitude in one problem.
func TestBetween_MixedScales(t *testing.T) {
	r := random.Seeded(7)
	for range 40 {
		n, m := 1+r.IntN(12), 1+r.IntN(12)
		c := make([]float64, n*m)
		for k := range c {
			c[k] = math.Pow(10, 24*r.Float64()-12)
		}
		mu, nu := make([]float64, n), make([]float64, m)
		for range 50 { // dyadic, so that totals agree to the bit
			w := math.Ldexp(1, -r.IntN(45))
			mu[r.IntN(n)] += w
			nu[r.IntN(m)] += w
		}
		got := testkit.Must(Between(t.Context(), w1Matrix(n, m, c), mu, nu, nil))
		w1Verify(t, w1Matrix(n, m, c), mu, nu, got, w1Tol)
		if want := refTransport(w1Rows(c, n, m), mu, nu); math.Abs(got.Cost-want) > 1e-12*want+1e-14*slices.Max(c) {
			t.Fatalf("%d x %d: %v, want %v", n, m, got.Cost, want)
		}
	}
}

// Measures far apart make the short lists useless, and sampling starts; a warm
// start, few workers and costs computed anew change nothing but the work.
func TestBetween_SameAnswerEveryWay(t *testing.T) {
	r := random.Seeded(9)
	n, m := 300, 240
	for _, shift := range []float64{0, 3} {
		c := w1Shifted(r, n, m, shift)
		mu, nu := w1Weights(r, n, false), w1Weights(r, m, true)
		want := testkit.Must(Between(t.Context(), c, mu, nu, nil))
		w1Verify(t, c, mu, nu, want, w1Tol)
		for _, o := range []Options{{Lazy: true}, {Workers: 1}, {Workers: 5, Lazy: true}} {
			got := testkit.Must(Between(t.Context(), c, mu, nu, &o))
			if got.Cost != want.Cost || got.Lower != want.Lower || got.Upper != want.Upper || got.Pivots != want.Pivots ||
				!slices.Equal(got.Plan, want.Plan) || !slices.Equal(got.U, want.U) || !slices.Equal(got.V, want.V) {
				t.Errorf("%+v: %v after %d pivots, want %v after %d", o, got.Cost, got.Pivots, want.Cost, want.Pivots)
			}
		}
		warm := testkit.Must(Between(t.Context(), c, mu, nu, &Options{U: want.U, V: want.V}))
		w1Verify(t, c, mu, nu, warm, w1Tol)
		if 2*warm.Pivots > want.Pivots || math.Abs(warm.Cost-want.Cost) > 1e-13*want.Cost {
			t.Errorf("warm start: %v after %d pivots, want %v after %d", warm.Cost, warm.Pivots, want.Cost, want.Pivots)
		}
	}
}

// A start from nonsense gets there as well.
func TestBetween_BadWarmStart(t *testing.T) {
	r := random.Seeded(10)
	n := 90
	c := w1Shifted(r, n, n, 1)
	mu, nu := w1Weights(r, n, false), w1Weights(r, n, false)
	want := testkit.Must(Between(t.Context(), c, mu, nu, nil))
	o := &Options{U: make([]float64, n), V: make([]float64, n)}
	for i := range n {
		o.U[i], o.V[i] = 1e200*r.NormFloat64(), 1e200*r.NormFloat64()
	}
	got, err := Between(t.Context(), c, mu, nu, o)
	if err != nil || math.Abs(got.Cost-want.Cost) > 1e-13 {
		t.Fatalf("%v, want %v, %v", got, want.Cost, err)
	}
}
