package wasserstein

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"golang.org/x/exp/constraints"
)

// lineClose reports whether got is within the relative error tol of want.
func lineClose(got, want, tol float64) bool { return math.Abs(got-want) <= tol*math.Abs(want) }

// linePositions: scattered over the scales, with duplicates, sometimes sorted.
func linePositions(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	scale := math.Pow(10, float64(r.IntN(25)-12))
	for i := range x {
		switch r.IntN(5) {
		case 0:
			x[i] = x[r.IntN(i+1)]
		case 1:
			x[i] = scale * float64(r.IntN(5)-2)
		default:
			x[i] = scale * r.NormFloat64()
		}
	}
	if r.IntN(4) == 0 {
		slices.Sort(x)
	}
	return x
}

// lineMeasure has total mass 1 up to rounding, and some zeros.
func lineMeasure(r *rand.Rand, n int) []float64 {
	return testkit.Distribution(r, n, func(int) bool { return r.IntN(4) == 0 })
}

// lineSigned has total 1 up to rounding, and weights of both signs.
func lineSigned(r *rand.Rand, n int) []float64 {
	g := lineMeasure(r, n)
	a, b := lineMeasure(r, n), lineMeasure(r, n)
	s := r.Float64() * 2
	for i := range g {
		g[i] += s * (a[i] - b[i])
	}
	return g
}

// The quantile coupling over all pairs, in rational arithmetic.
func lineCoupling(x, mu, y, nu []float64) float64 {
	type atom struct{ at, w *big.Rat }
	atoms := func(x, w []float64) []atom {
		var l []atom
		for i := range x {
			l = append(l, atom{new(big.Rat).SetFloat64(x[i]), new(big.Rat).SetFloat64(w[i])})
		}
		slices.SortFunc(l, func(a, b atom) int { return a.at.Cmp(b.at) })
		return l
	}
	a, b, cost := atoms(x, mu), atoms(y, nu), new(big.Rat)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		w := a[i].w
		if w.Cmp(b[j].w) > 0 {
			w = b[j].w
		}
		w = new(big.Rat).Set(w)
		d := new(big.Rat).Sub(a[i].at, b[j].at)
		cost.Add(cost, d.Mul(d.Abs(d), w))
		a[i].w.Sub(a[i].w, w)
		b[j].w.Sub(b[j].w, w)
		if a[i].w.Sign() == 0 {
			i++
		} else {
			j++
		}
	}
	f, _ := cost.Float64()
	return f
}

// lineDyadic weights in units of 2^-40, of equal total, without rounding.
func lineDyadic(r *rand.Rand, n int) []float64 {
	cuts := make([]int64, n+1)
	for i := range cuts {
		cuts[i] = r.Int64N(1<<40 + 1)
	}
	cuts[0], cuts[n] = 0, 1<<40
	slices.Sort(cuts)
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Ldexp(float64(cuts[i+1]-cuts[i]), -40)
	}
	return w
}

func TestW1LineBetween_IsTheQuantileCoupling(t *testing.T) {
	r := random.Seeded(2)
	for range 200 {
		n, m := 1+r.IntN(30), 1+r.IntN(30)
		x, y := linePositions(r, n), linePositions(r, m)
		mu, nu := lineDyadic(r, n), lineDyadic(r, m)
		want := lineCoupling(x, mu, y, nu)
		got, err := W1LineBetween(x, mu, y, nu)
		if err != nil || !lineClose(got, want, 0x1p-51) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		back, err := W1LineBetween(y, nu, x, mu)
		if err != nil || !lineClose(back, want, 0x1p-51) {
			t.Fatalf("%v, %v, want %v", back, err, want)
		}
		// One support: the union of both.
		both := append(slices.Clone(x), y...)
		one, err := distance(onLine(both), append(slices.Clone(mu), make([]float64, m)...), append(make([]float64, n), nu...))
		if err != nil || !lineClose(one, want, 0x1p-51) {
			t.Fatalf("%v, %v, want %v", one, err, want)
		}
	}
}

func TestW1Samples_IsTheQuantileCoupling(t *testing.T) {
	r := random.Seeded(3)
	uniform := func(n, m int) []float64 { // in units of 1/(n m)
		w := make([]float64, n)
		for i := range w {
			w[i] = float64(m)
		}
		return w
	}
	for range 200 {
		n, m := 1+r.IntN(40), 1+r.IntN(40)
		if r.IntN(3) == 0 {
			m = n
		}
		a, b := linePositions(r, n), linePositions(r, m)
		a0, b0 := slices.Clone(a), slices.Clone(b)
		got := testkit.Must(W1Samples(a, b))
		if !slices.Equal(a, a0) || !slices.Equal(b, b0) {
			t.Fatal("samples modified")
		}
		want := lineCoupling(a, uniform(n, m), b, uniform(m, n)) / float64(n*m)
		if !lineClose(got, want, 0x1p-50) {
			t.Fatalf("n=%d, m=%d: %v, want %v", n, m, got, want)
		}
	}
}

// Integers of any type keep all their digits: differences neither wrap nor lose
// what lies below 2^53. Numbers of float32 count as they are.
func TestW1Samples_OfAnyNumbers(t *testing.T) {
	type cents int64
	r := random.Seeded(7)
	for trial := range 100 {
		n, m := 1+r.IntN(9), 1+r.IntN(9)
		bits, base := make([]uint64, n+m), r.Uint64()
		for i := range bits {
			switch trial % 3 {
			case 0:
				bits[i] = r.Uint64()
			case 1:
				bits[i] = base + r.Uint64N(1000) // alike but for the last digits
			default:
				bits[i] = []uint64{0, 1, 1 << 63, 1<<63 - 1, math.MaxUint64}[r.IntN(5)]
			}
		}
		samplesCheck(t, bits[:n], bits[n:])
		samplesCheck(t, testConvert[int64](bits[:n]), testConvert[int64](bits[n:]))
		samplesCheck(t, testConvert[cents](bits[:n]), testConvert[cents](bits[n:]))
		samplesCheck(t, testConvert[int8](bits[:n]), testConvert[int8](bits[n:]))
		f, g := testConvert[float32](bits[:n]), testConvert[float32](bits[n:])
		if got, want := testkit.Must(W1Samples(f, g)), testkit.Must(W1Samples(testConvert[float64](f), testConvert[float64](g))); got != want {
			t.Fatalf("%v, %v: %v, want %v", f, g, got, want)
		}
	}
}

// samplesCheck matches every number, repeated to one size, in order.
func samplesCheck[T constraints.Integer](t *testing.T, a, b []T) {
	t.Helper()
	number := func(v T) *big.Int {
		if v < 0 {
			return big.NewInt(int64(v))
		}
		return new(big.Int).SetUint64(uint64(v))
	}
	x, y, sum := slices.Repeat(a, len(b)), slices.Repeat(b, len(a)), new(big.Int)
	slices.Sort(x)
	slices.Sort(y)
	for k := range x {
		d := new(big.Int).Sub(number(x[k]), number(y[k]))
		sum.Add(sum, d.Abs(d))
	}
	want, _ := new(big.Rat).SetFrac(sum, big.NewInt(int64(len(x)))).Float64()
	if got := testkit.Must(W1Samples(a, b)); !lineClose(got, want, 0x1p-51) {
		t.Fatalf("%T %v, %v: %v, want %v", a, a, b, got, want)
	}
}

func testConvert[T, S constraints.Integer | constraints.Float](x []S) []T {
	out := make([]T, len(x))
	for i, v := range x {
		out[i] = T(v)
	}
	return out
}

func TestLineSort_SortsStably(t *testing.T) {
	r := random.Seeded(6)
	for _, n := range []int{2, lineSmall - 1, lineSmall, 5000} {
		for range 5 {
			x := linePositions(r, n)
			x[0], x[n-1] = math.Inf(1), math.Inf(-1)
			want := make([]int32, n)
			for i := range want {
				want[i] = int32(i)
			}
			slices.SortStableFunc(want, func(i, j int32) int { return cmp.Compare(x[i], x[j]) })
			for _, indexed := range []bool{true, false} {
				sorted, index := lineSort(x, indexed)
				if indexed != (index != nil) {
					t.Fatal("index")
				}
				for k, v := range sorted {
					if v != x[want[k]] || indexed && v != x[index[k]] {
						t.Fatalf("n=%d: position %d", n, k)
					}
					if indexed && index[k] != want[k] && math.Signbit(v) == math.Signbit(x[want[k]]) {
						t.Fatalf("n=%d: not stable at %d", n, k)
					}
				}
			}
		}
	}
}

func TestDistance_ExtremesOfTheLine(t *testing.T) {
	// Zero mass everywhere, one point, all points equal.
	for _, c := range []struct {
		x, mu, nu []float64
		want      float64
	}{
		{[]float64{1, 2}, []float64{0, 0}, []float64{0, 0}, 0},
		{[]float64{7}, []float64{3}, []float64{3}, 0},
		{[]float64{7, 7, 7}, []float64{1, 0, 0}, []float64{0, 0, 1}, 0},
		{[]float64{-1e300, 1e300}, []float64{1, 0}, []float64{0, 1}, 2e300},
		{[]float64{-1e300, 1e300}, []float64{1e9, 0}, []float64{0, 1e9}, math.Inf(1)},
		{[]float64{1e-300, 0}, []float64{0, 1}, []float64{1, 0}, 1e-300},
		{[]float64{0, 1, 3}, []float64{1, -2, 1}, []float64{0, 0, 0}, 3},
	} {
		if got, err := distance(onLine(c.x), c.mu, c.nu); err != nil || got != c.want {
			t.Errorf("Distance(%v, %v, %v) = %v, %v, want %v", c.x, c.mu, c.nu, got, err, c.want)
		}
		if got, err := W1LineBetween(c.x, c.mu, c.x, c.nu); err != nil || got != c.want {
			t.Errorf("W1LineBetween(%v, %v, %v) = %v, %v, want %v", c.x, c.mu, c.nu, got, err, c.want)
		}
	}
	if got, err := W1Samples([]float64{-1e300, -1e300, -1e300}, []float64{1e300, 1e300}); err != nil || !lineClose(got, 2e300, 0x1p-51) {
		t.Errorf("%v, %v, want 2e300", got, err)
	}
}
