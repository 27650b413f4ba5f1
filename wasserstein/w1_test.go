package wasserstein

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func TestW1_SlowReference(t *testing.T) {
	r := random.Seeded(3)
	for range 60 {
		n := 1 + r.IntN(40)
		f := w1Plane(r, n)
		mu, nu := w1Weights(r, n, true), w1Weights(r, n, true)
		got := testkit.Must(W1(t.Context(), f, mu, nu, nil))
		w1Verify(t, metricCost{f}, mu, nu, got, w1Tol)
		if want := refSigned(f.Distance, mu, nu); math.Abs(got.Cost-want) > 1e-13 {
			t.Fatalf("n = %d: %v, want %v", n, got.Cost, want)
		}
		if got.Gap() > 1e-12*got.Cost {
			t.Errorf("n = %d: gap %v, cost %v", n, got.Gap(), got.Cost)
		}
	}
}

// Measures that differ by rounding alone, and more on one side than on the
// other: what is left to move need not balance.
func TestW1_NothingButRounding(t *testing.T) {
	r := random.Seeded(12)
	for range 20 {
		n := 2 + r.IntN(200)
		f, mu := w1Plane(r, n), w1Weights(r, n, false)
		nu := slices.Clone(mu)
		for i := range nu {
			nu[i] *= 1 + 0x1p-52*float64(r.IntN(4)/2*(r.IntN(4)-1))
		}
		got := testkit.Must(W1(t.Context(), f, mu, nu, nil))
		w1Verify(t, metricCost{f}, mu, nu, got, w1Tol)
		if got.Upper > 1e-15 {
			t.Errorf("n = %d: Upper = %v", n, got.Upper)
		}
	}
}

func TestW1_MaxPivots(t *testing.T) {
	r := random.Seeded(11)
	n := 400
	f := w1Plane(r, n)
	mu, nu := w1Weights(r, n, false), w1Weights(r, n, false)
	want := testkit.Must(W1(t.Context(), f, mu, nu, nil))
	got := testkit.Must(W1(t.Context(), f, mu, nu, &Options{MaxPivots: 20}))
	if got.Pivots != 20 || !(got.Lower <= want.Upper && want.Lower <= got.Upper) || got.Cost <= want.Cost {
		t.Errorf("[%v, %v] after %d pivots, optimum %v", got.Lower, got.Upper, got.Pivots, want.Cost)
	}
}

// Any finite input gives a certified optimum or an error.
func FuzzW1(f *testing.F) {
	f.Add([]byte{3, 3, 1, 2, 3, 1, 2, 3, 9, 8, 7, 6, 5, 4, 3, 2, 1})
	f.Add([]byte{1, 5, 200, 1, 1, 1, 1, 196, 0, 0, 255, 255, 17})
	f.Add([]byte{8, 8, 0x80, 0x91, 0xa2})
	f.Fuzz(func(t *testing.T, data []byte) {
		wide := false
		next := func() float64 { // small integers, and powers of two far apart
			if len(data) == 0 {
				return 1
			}
			b := data[0]
			data = data[1:]
			if b < 128 {
				return float64(b)
			}
			wide = true
			return math.Ldexp(1+float64(b&7), int(b&0x78)-60)
		}
		n, m := 1+int(math.Mod(next(), 9)), 1+int(math.Mod(next(), 9))
		mu, nu := make([]float64, n), make([]float64, m)
		for i := range mu {
			mu[i] = next()
		}
		left := total(mu)
		for j := range nu[:m-1] {
			nu[j] = min(left, next())
			left -= nu[j]
		}
		nu[m-1] = left
		c := make([]float64, n*m)
		for k := range c {
			c[k] = next()
		}
		cost := w1Matrix(n, m, c)
		got, err := Between(t.Context(), cost, mu, nu, nil)
		if err != nil {
			if mass := (*MassError)(nil); !errors.As(err, &mass) {
				t.Fatal(err)
			}
			return
		}
		w1Verify(t, cost, mu, nu, got, w1Tol)
		if wide {
			return // too many scales for the reference, which is plain float64; the certificate was checked
		}
		want := refTransport(cost, mu, nu)
		if slack := 1e-13 * total(mu) * slices.Max(c); want < got.Lower-slack || want > got.Upper+slack {
			t.Fatalf("reference %v outside [%v, %v]", want, got.Lower, got.Upper)
		}
	})
}

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

// From 2,500 vectors on, an auction finds a basis next to the optimal one, of masses in general
// position or not.
func TestW1Points_ManyVectors(t *testing.T) {
	const n, m = 1400, 1100
	r := random.Seeded(5)
	x := make([][]float64, n+m)
	for i := range x {
		for range 20 {
			x[i] = append(x[i], r.NormFloat64())
		}
	}
	counts := func(n int) []float64 {
		w := slices.Repeat([]float64{1}, n)
		for range 4000 - n {
			w[r.IntN(n)]++
		}
		return w
	}
	for name, w := range map[string][2][]float64{
		"real":   {w1Weights(r, n, false), w1Weights(r, m, false)},
		"counts": {counts(n), counts(m)},
	} {
		got := testkit.Must(W1Points(t.Context(), metric.Euclidean{}, x[:n], w[0], x[n:], w[1], nil))
		if got.Gap() > 1e-13*got.Cost || got.Unmatched > 1e-14*total(w[0]) {
			t.Errorf("%s: %v, unmatched %v", name, got, got.Unmatched)
		}
		if got.Pivots > n {
			t.Errorf("%s: %d pivots", name, got.Pivots)
		}
	}
}
