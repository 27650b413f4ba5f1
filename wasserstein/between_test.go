package wasserstein

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
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

// Two lists of numbers joined are W1Samples and DistanceEM, and points may
// coincide; flows go from one list to the other.
func TestW1_IsThatOfSamples(t *testing.T) {
	r := random.Seeded(3)
	for range 100 {
		a, b := make([]float64, 1+r.IntN(30)), make([]float64, 1+r.IntN(30))
		for _, x := range [][]float64{a, b} {
			for i := range x {
				x[i] = float64(r.IntN(50))
			}
		}
		n, m := len(a), len(b)
		mu := append(slices.Repeat([]float64{1 / float64(n)}, n), make([]float64, m)...)
		nu := append(make([]float64, n), slices.Repeat([]float64{1 / float64(m)}, m)...)
		f := onLine(slices.Concat(a, b))
		got := testkit.Must(W1(t.Context(), f, mu, nu, nil))
		both := make([]int, f.Len())
		for i := range both {
			both[i] = i
		}
		for _, want := range []float64{testkit.Must(W1Samples(a, b)), testkit.Must(DistanceEM(t.Context(), f, both[:len(a)], both[len(a):]))} {
			if math.Abs(got.Cost-want) > 1e-12 {
				t.Fatalf("%v and %v: %v, want %v", a, b, got.Cost, want)
			}
		}
		cost := 0.0
		for _, p := range got.Plan {
			cost += p.Mass * math.Abs(a[p.I]-b[p.J-n])
		}
		if math.Abs(cost-got.Cost) > 1e-12 {
			t.Fatalf("%v and %v: the plan costs %v, not %v", a, b, cost, got.Cost)
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
		cost := w1Matrix(n, m, c)
		got := testkit.Must(Between(t.Context(), cost, mu, nu, nil))
		w1Verify(t, cost, mu, nu, got, w1Tol)
		if want := refTransport(cost, mu, nu); math.Abs(got.Cost-want) > 1e-12*want+1e-14*slices.Max(c) {
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
		nonsense := &Options{U: make([]float64, n), V: make([]float64, m)}
		for _, w := range [][]float64{nonsense.U, nonsense.V} {
			for i := range w {
				w[i] = 1e200 * r.NormFloat64()
			}
		}
		if got := testkit.Must(Between(t.Context(), c, mu, nu, nonsense)); math.Abs(got.Cost-want.Cost) > 1e-13*want.Cost {
			t.Errorf("start from nonsense: %v, want %v", got.Cost, want.Cost)
		}
	}
}
