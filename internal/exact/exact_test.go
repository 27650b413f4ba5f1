package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// relErr returns the largest relative distance of v from [lo, hi].
func relErr(v *big.Float, lo, hi *big.Float) float64 {
	worst := 0.0
	for _, b := range []*big.Float{lo, hi} {
		d := new(big.Float).SetPrec(400).Sub(v, b)
		d.Quo(d, b)
		f, _ := d.Float64()
		worst = max(worst, math.Abs(f))
	}
	return worst
}

// Bounds at a low precision must contain the bounds at a high one, keep their
// stated width, and multiply as e^(x+y) = e^x e^y.
func TestExpBounds_NestAndMultiply(t *testing.T) {
	rng := random.Seeded(1)
	for range 300 {
		x := (rng.Float64() - 0.5) * math.Pow(10, float64(rng.IntN(9)))
		y := (rng.Float64() - 0.5) * math.Pow(10, float64(rng.IntN(3)))
		xl, xh := ExpBounds(big.NewFloat(x), 64)
		zl, zh := ExpBounds(big.NewFloat(x), 400)
		if xl.Cmp(zl) > 0 || xh.Cmp(zh) < 0 {
			t.Fatalf("e^%v: bounds do not nest", x)
		}
		if relErr(xl, xh, xh) > 0x1p-64 {
			t.Fatalf("e^%v: bounds too wide", x)
		}
		sum := new(big.Float).SetPrec(300).Add(big.NewFloat(x), big.NewFloat(y))
		sl, sh := ExpBounds(sum, 200)
		yl, yh := ExpBounds(big.NewFloat(y), 200)
		wl, wh := ExpBounds(big.NewFloat(x), 200)
		if new(big.Float).SetPrec(500).Mul(wl, yl).Cmp(sh) > 0 || new(big.Float).SetPrec(500).Mul(wh, yh).Cmp(sl) < 0 {
			t.Fatalf("e^(%v+%v) is not the product", x, y)
		}
	}
}

func TestExpBounds_KnownDigits(t *testing.T) {
	for _, c := range []struct {
		x float64
		s string
	}{
		{1, "2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457"},
		{-1, "0.367879441171442321595523770161460867445811131031767834507836801697461495744899803357"},
		{0.5, "1.64872127070012814684865078781416357165377610071014801157507931164066102119421560863"},
		{-20, "2.061153622438557827965940380155820976375807275599103692972244661629164023784559353280e-9"},
	} {
		want, _, err := big.ParseFloat(c.s, 10, 300, big.ToNearestEven)
		testkit.Must(want, err)
		lo, hi := ExpBounds(big.NewFloat(c.x), 220)
		if lo.Cmp(want) > 0 || hi.Cmp(want) < 0 {
			t.Errorf("e^%v: [%v, %v] misses %v", c.x, lo, hi, want)
		}
	}
}

// Bounds at every precision and size hold e^(2^j): e by its series in integers, squared j times.
func TestExpBounds_HighPrecision(t *testing.T) {
	const w = 4200
	e, term := new(big.Int), new(big.Int).Lsh(big.NewInt(1), w)
	for i := int64(1); term.Sign() != 0; i++ { // each term is cut off by less than two units
		e.Add(e, term)
		term.Quo(term, big.NewInt(i))
	}
	v := new(big.Float).SetPrec(w).SetInt(e)
	v.SetMantExp(v, -w)
	for j := range 30 {
		inverse := new(big.Float).SetPrec(w).Quo(big.NewFloat(1), v)
		for _, prec := range []uint{64, 700, 1500, 4000} {
			for x, want := range map[float64]*big.Float{math.Ldexp(1, j): v, -math.Ldexp(1, j): inverse} {
				ln2Cache.v = nil // or a longer one takes part
				lo, hi := ExpBounds(big.NewFloat(x), prec)
				if width := new(big.Float).Sub(hi, lo); lo.Cmp(want) > 0 || hi.Cmp(want) < 0 || width.MantExp(nil) > lo.MantExp(nil)-int(prec) {
					t.Errorf("e^%v at %d bits: off by 2^%d, width 2^%d of it", x, prec, new(big.Float).Sub(lo, want).MantExp(nil)-lo.MantExp(nil), width.MantExp(nil)-lo.MantExp(nil))
				}
			}
		}
		v.Mul(v, v)
	}
}

func TestExpBounds_Extremes(t *testing.T) {
	lo, hi := ExpBounds(big.NewFloat(-1e6), 128)
	if lo.Sign() <= 0 || hi.MantExp(nil) != -1442695 {
		t.Errorf("e^-1e6 = [%v, %v]", lo, hi)
	}
	lo, hi = ExpBounds(big.NewFloat(-1e300), 128)
	if lo.Sign() != 0 || hi.Sign() <= 0 {
		t.Errorf("e^-1e300 = [%v, %v]", lo, hi)
	}
	lo, hi = ExpBounds(new(big.Float).SetInf(true), 64)
	if lo.Sign() != 0 || hi.Sign() != 0 {
		t.Errorf("e^-Inf = [%v, %v]", lo, hi)
	}
	if _, hi = ExpBounds(big.NewFloat(1e300), 64); !hi.IsInf() {
		t.Errorf("e^1e300 <= %v", hi)
	}
}

func TestExp_StatedError(t *testing.T) {
	rng := random.Seeded(2)
	worst := 0.0
	for i := range testkit.Sweep(20000, 40000) {
		x := -rng.Float64() * []float64{0.4, 1, 30, 708}[i%4]
		if i%8 == 7 {
			x = rng.Float64() * 709
		}
		lo, hi := ExpBounds(big.NewFloat(x), 80)
		worst = max(worst, relErr(big.NewFloat(Exp(x)), lo, hi))
	}
	t.Logf("worst relative error 2^%.2f", math.Log2(worst))
	if worst > ExpErr {
		t.Errorf("relative error %v, stated %v", worst, ExpErr)
	}
	for x, want := range map[float64]float64{0: 1, -1e9: 0, 710: math.Inf(1), math.Inf(-1): 0} {
		if got := Exp(x); got != want {
			t.Errorf("Exp(%v) = %v, want %v", x, got, want)
		}
	}
	for x := -745.5; x < -700; x += 0.37 {
		if d := math.Abs(Exp(x) - math.Exp(x)); d > 0x1p-1073 && d > 1e-14*math.Exp(x) {
			t.Errorf("Exp(%v) = %v, want %v", x, Exp(x), math.Exp(x))
		}
	}
}

func TestExpDD_StatedError(t *testing.T) {
	rng := random.Seeded(3)
	worst := 0.0
	for i := range 5000 {
		x := (rng.Float64() - 0.8) * []float64{1e-9, 0.5, 20, 600}[i%4]
		e := ExpDD(x)
		v := new(big.Float).SetPrec(300).Add(big.NewFloat(e.Hi), big.NewFloat(e.Lo))
		lo, hi := ExpBounds(big.NewFloat(x), 140)
		worst = max(worst, relErr(v, lo, hi))
	}
	t.Logf("worst relative error 2^%.2f", math.Log2(worst))
	if worst > ExpDDErr {
		t.Errorf("relative error %v, stated %v", worst, ExpDDErr)
	}
}

func TestTotals_StatedError(t *testing.T) {
	rng := random.Seeded(4)
	for trial := range 60 {
		w := Weights{Log: trial%2 == 0}
		for range 1 + rng.IntN(200) {
			x := rng.Float64() * math.Pow(10, float64(rng.IntN(6)-2))
			if w.Log {
				x = -x
			}
			w.W = append(w.W, x)
		}
		scale := w.Scale()
		lo, hi := w.cumulateBig(200)
		n := len(lo) - 1
		below, above := w.cumulateBig(64)
		for j := range lo {
			if below[j].Cmp(lo[j]) > 0 || above[j].Cmp(hi[j]) < 0 {
				t.Fatalf("sum %d of %v: bounds of few bits hold not those of more", j, w)
			}
		}
		l, h := lo[n], hi[n]
		if !w.Log { // cumulateBig does not divide by the scale
			l, h = new(big.Float).Quo(l, big.NewFloat(scale)), new(big.Float).Quo(h, big.NewFloat(scale))
		}
		if e := relErr(big.NewFloat(w.Total(scale)), l, h); e > TotalErr {
			t.Errorf("Total: relative error %v, stated %v", e, TotalErr)
		}
		d := w.TotalDD(scale)
		v := new(big.Float).SetPrec(300).Add(big.NewFloat(d.Hi), big.NewFloat(d.Lo))
		if e := relErr(v, l, h); e > TotalDDErr {
			t.Errorf("TotalDD: relative error %v, stated %v", e, TotalDDErr)
		}
	}
}

func randomWeights(rng *rand.Rand, n int, log bool) Weights {
	w := Weights{Log: log, W: make([]float64, n)}
	for i := range w.W {
		switch {
		case log && rng.IntN(5) == 0:
			w.W[i] = math.Inf(-1)
		case log:
			w.W[i] = -rng.Float64() * 12
		case rng.IntN(5) == 0:
		default:
			w.W[i] = rng.Float64()
		}
	}
	w.W[rng.IntN(n)] = 1
	return w
}

// Boundaries at dyadic points, approached to the last bit and beyond 64 bits, by no word too many.
func TestDraw_DecidesAtTheBoundary(t *testing.T) {
	const ones = math.MaxUint64
	half, below := []float64{0, 0}, []float64{-0x1p-150, 0} // a boundary at 1/2, or 2^-152 below
	for _, c := range []struct {
		logs       []float64
		bits       fixed
		want, left int
	}{
		{half, fixed{1<<63 - 1, ones, ones}, 0, 2}, {half, fixed{1 << 63, ones}, 1, 1}, {half, fixed{0, ones}, 0, 1}, {half, fixed{ones, ones}, 1, 1},
		{below, fixed{1<<63 - 1, ones, ones, ones}, 1, 1}, {below, fixed{1<<63 - 1, ones, 1 << 63, 0}, 0, 1},
	} {
		bits := slices.Clone(c.bits)
		if got := Draw(rand.New(&bits), Weights{c.logs, true}); got != c.want || len(bits) != c.left {
			t.Errorf("Draw%v of %v = %d with %d words left, want %d with %d", c.bits, c.logs, got, len(bits), c.want, c.left)
		}
	}
	// P{1} = e^-100/(1+e^-100), about 2^-144: its lower boundary is found only after 144 ones.
	rare := Weights{W: []float64{0, -100}, Log: true}
	all := fixed{ones, ones, ones, ones}
	if got := NewTable(rare).Draw(rand.New(&all)); got != 1 {
		t.Errorf("an outcome of probability e^-100 is never drawn")
	}
	almost := fixed{ones, ones, 0}
	if got := NewTable(rare).Draw(rand.New(&almost)); got != 0 {
		t.Errorf("an outcome of probability e^-100 is drawn at 128 ones")
	}
	// A boundary 2^-290 above 1/2, between bounds on both sides of that.
	for x := -1.0; x > -9; x-- {
		bits := fixed{1 << 63}
		if got := Draw(rand.New(&bits), Weights{W: []float64{-200, x, 0, 0, x}, Log: true}); got != 2 {
			t.Errorf("U = 1/2 among weights 0 and %v gives %d, want 2", x, got)
		}
	}
	// Underflown weights on both sides, and zero weights, stay in order.
	ends := Weights{W: []float64{math.Inf(-1), -800, 0, -800, math.Inf(-1)}, Log: true}
	zeros := fixed{}
	if got := Draw(rand.New(&zeros), ends); got != 1 {
		t.Errorf("U = 0 gives %d, want 1", got)
	}
}

// U times the sum takes more than the 128 bits that it is first rounded to, and the boundary is the
// rounded product: what is on its other side is decided by more bits.
func TestDraw_RoundsProductsOutward(t *testing.T) {
	const k = 0xe79b97f4a7c15d13
	sum := wide(0).Add(wide(1.5), wide(0x1p-70)) // in one binade with the boundary
	parts := func(v *big.Float) (w []float64) {
		for v.Sign() != 0 {
			x, _ := new(big.Float).SetPrec(53).SetMode(big.ToZero).Set(v).Float64()
			w, v = append(w, x), wide(0).Sub(v, wide(x))
		}
		return w
	}
	for i, bits := range []fixed{{k - 1, math.MaxUint64, math.MaxUint64}, {k, 0, 0}} {
		bound := []*big.Float{down(128), up(128)}[i]
		bound.Mul(sum, new(big.Float).SetMantExp(new(big.Float).SetUint64(k), -64))
		below := parts(bound)
		slices.Reverse(below) // the last one is large
		if got := Draw(rand.New(&bits), Weights{W: append(below, parts(wide(0).Sub(sum, bound))...)}); got != len(below)-i {
			t.Errorf("%d, want %d", got, len(below)-i)
		}
	}
}

// Around each boundary 2^64 C_j/S, to the last bit of a word and as far as float64
// may be wrong, a draw is on the boundary's right side.
func TestDraw_DecidesAtEveryBoundary(t *testing.T) {
	rng := random.Seeded(12)
	for trial := range 8 {
		w := randomWeights(rng, 12, trial%2 == 0)
		table := NewTable(w)
		lo, hi := w.cumulateBig(300)
		n := len(lo)
		words := func(c, s *big.Float) uint64 { // 2^64 c/s, rounded down
			q := new(big.Float).SetPrec(300).Quo(c, s)
			u, _ := q.SetMantExp(q, 64).Uint64()
			return u
		}
		bounds := make([]uint64, n-1)
		for j := range bounds {
			bounds[j] = words(lo[j], hi[n-1])
			if bounds[j] != words(hi[j], lo[n-1]) {
				t.Fatal("300 bits do not tell a boundary's 64") // by chance less than once in 2^200
			}
		}
		for _, b := range bounds {
			for _, off := range []int64{-1 << 18, -1 << 15, -1 << 12, -1 << 11, -1 << 10, -1 << 9, -1 << 8, -1 << 7, -65, -2, -1, 1, 2, 65, 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 15, 1 << 18} {
				u := b + uint64(off)
				if off > 0 == (u < b) || slices.Contains(bounds, u) {
					continue // beyond [0, 1), or next to another boundary
				}
				want, _ := slices.BinarySearch(bounds, u)
				for name, draw := range map[string]func(*rand.Rand) int{"Draw": func(rng *rand.Rand) int { return Draw(rng, w) }, "Table.Draw": table.Draw} {
					bits := fixed{u, rng.Uint64()}
					if got := draw(rand.New(&bits)); got != want {
						t.Fatalf("trial %d: %s at %d from a boundary is %d, want %d", trial, name, off, got, want)
					}
				}
			}
		}
	}
}

// 10^6 draws, chi-square at 1e-6: each of the eight cases falsely fails with
// that probability over the choice of the seed.
func TestTable_ChiSquare(t *testing.T) {
	rng := random.Seeded(6)
	for _, w := range []Weights{
		{W: []float64{1, 2, 3, 4}},
		{W: []float64{0.1, 0, 1e-3, 5, 1e300, 1e300}},
		{W: []float64{-1, -2, -3, 0}, Log: true},
		randomWeights(rng, 1000, true),
	} {
		n := len(w.W)
		scale := w.Scale()
		p := make([]float64, n)
		for i, x := range w.W {
			if w.Log {
				p[i] = math.Exp(x-scale) / w.Total(scale)
			} else {
				p[i] = x / scale / w.Total(scale)
			}
		}
		table := NewTable(w)
		draws := testkit.Sweep(150_000, 400_000)
		count := make([]int, n)
		for range draws {
			count[table.Draw(rng)]++
		}
		testkit.ChiSquare(t, count, p, 1e-6)
		clear(count)
		for range draws / 10 {
			count[Draw(rng, w)]++
		}
		testkit.ChiSquare(t, count, p, 1e-6)
	}
}
