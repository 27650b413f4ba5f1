package mechanism

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// The audit's interval contains the level computed in 300 bits and is narrow.
func TestAudit_ContainsExactLevel(t *testing.T) {
	r := random.Seeded(1)
	for trial := range 60 {
		n := 2 + r.IntN(5)
		f := space.Uniform(n, r)
		c := arbitrary(t, r, n, 1+r.IntN(6), trial%2 == 0, 0.3)
		a := testkit.Must(c.Audit(t.Context(), f, nil))
		level := exactLevel(c, f)
		if level.Cmp(big.NewFloat(a.Lo)) < 0 || level.Cmp(big.NewFloat(a.Hi)) > 0 {
			t.Errorf("level %v outside %v", level, a)
		}
		if a.Hi-a.Lo > 1e-10*a.Hi+1e-13 {
			t.Errorf("wide: %v", a)
		}
		if a.X >= 0 {
			l := (math.Log(c.Prob(a.X, a.Y)) - math.Log(c.Prob(a.XPrime, a.Y))) / f.Distance(a.X, a.XPrime)
			if math.Abs(l-a.Lo) > 1e-9*a.Lo+1e-12 {
				t.Errorf("witness gives %v: %v", l, a)
			}
		}
	}
}

// Pairs that are passed over change nothing: the audit is that of the pairs, one by
// one, where many levels are next to the largest and weights are of any size.
func TestAudit_IsThatOfThePairs(t *testing.T) {
	r := random.Seeded(12)
	for trial := range 40 {
		const n = 40
		m := 1 + r.IntN(6)
		span, noise := math.Exp(8*r.Float64()-4), math.Pow(10, -6-8*r.Float64())
		f := space.Func(n, func(i, j int) float64 { return span })
		w := make([]float64, n*m)
		for i := range w {
			w[i] = math.Exp(.5 * span * float64((i/m+i%m)%3-1))
			switch w[i] *= 1 + noise*r.Float64(); {
			case trial%4 == 0 && r.IntN(300) == 0:
				w[i] *= math.Exp(600 * (r.Float64() - .5))
			case trial%4 == 1:
				w[i] *= math.Exp(.1 * span * r.Float64())
			}
		}
		got, want := ofPairs(t, f, m, w, func(c *Channel, f metric.Finite) (Audit, error) { return c.Audit(t.Context(), f, nil) })
		if got.Lo != want.Lo || got.Hi != want.Hi {
			t.Fatalf("%v, of the pairs %v", got, want)
		}
	}
}

// ofPairs is the audit of weights under f, and the largest of those of every two inputs alone.
func ofPairs(t *testing.T, f metric.Finite, m int, w []float64, audit func(*Channel, metric.Finite) (Audit, error)) (got, want Audit) {
	t.Helper()
	of := func(inputs []int, weights []float64) Audit {
		c := testkit.Must(FromWeights(t.Context(), len(inputs), m, weights, nil))
		return testkit.Must(audit(c, testkit.Must(metric.Subset(f, inputs))))
	}
	var all []int
	for x := range f.Len() {
		all = append(all, x)
		for y := range x {
			a := of([]int{y, x}, append(slices.Clone(w[y*m:(y+1)*m]), w[x*m:(x+1)*m]...))
			want.Lo, want.Hi = max(want.Lo, a.Lo), max(want.Hi, a.Hi)
		}
	}
	return of(all, w), want
}

// Next to a level whose exponential at a far pair's distance is out of range, that pair
// counts: no level is enough for it.
func TestAudit_FarPairsCount(t *testing.T) {
	at := []float64{0, 1, 1000}
	f := space.Func(3, func(i, j int) float64 { return math.Abs(at[i] - at[j]) })
	c := testkit.Must(FromWeights(t.Context(), 3, 2, []float64{1, 1, .01, 1, 1, 0}, nil))
	if a := testkit.Must(c.Audit(t.Context(), f, nil)); !math.IsInf(a.Hi, 1) {
		t.Errorf("%v", a)
	}
}

// The same at delta > 0, with two outputs: of each order of the inputs one output
// counts, and ln((p-delta)/q) is the level.
func TestAudit_DeltaContainsExactLevel(t *testing.T) {
	r, f := random.Seeded(10), space.Path(2, 1)
	for trial := range 60 {
		c := arbitrary(t, r, 2, 2, trial%2 == 0, 0)
		delta := math.Pow(10, -15*r.Float64()) / 2
		a := testkit.Must(c.Audit(t.Context(), f, &AuditOptions{Delta: delta}))
		p, level := bigProbs(c), new(big.Float)
		for x := range 2 {
			for y := range 2 {
				q := new(big.Float).SetPrec(300).Sub(p[x][y], big.NewFloat(delta))
				if q.Quo(q, p[1-x][y]).Sign() <= 0 {
					continue
				}
				if l := log300(q); l.Cmp(level) > 0 {
					level = l
				}
			}
		}
		if level.Cmp(big.NewFloat(a.Lo)) < 0 || level.Cmp(big.NewFloat(a.Hi)) > 0 || a.Hi-a.Lo > 1e-10*a.Hi+1e-9 {
			t.Errorf("delta=%g: level %v outside %v", delta, level, a)
		}
	}
}

// Where an output never comes up at the other input with a probability just above delta, no
// level will do, however float64 adds up that probability.
func TestAudit_DeltaJustBelowWhatNeverComesUp(t *testing.T) {
	r, f := random.Seeded(12), space.Path(2, 1)
	for range 200 {
		const m = 9
		w := make([]float64, 2*m)
		for y := range m {
			w[y], w[m+y] = r.Float64(), r.Float64()*float64(y%2)
		}
		c, never := testkit.Must(FromWeights(t.Context(), 2, m, w, nil)), new(big.Float).SetPrec(300)
		for y, p := range bigProbs(c)[0] {
			if y%2 == 0 {
				never.Add(never, p)
			}
		}
		delta, _ := never.Float64()
		if never.Cmp(big.NewFloat(delta)) <= 0 {
			delta = math.Nextafter(delta, 0)
		}
		if a := testkit.Must(c.Audit(t.Context(), f, &AuditOptions{Delta: delta})); !math.IsInf(a.Hi, 1) {
			t.Fatalf("delta = %v of %v: %v", delta, never, a)
		}
	}
}

// exactLevel is the level of a channel without zeros of its own in a row, to 300 bits.
func exactLevel(c *Channel, f metric.Finite) *big.Float {
	p, level := bigProbs(c), new(big.Float)
	for x := range c.n {
		for xp := range c.n {
			for y := range c.m {
				if x == xp || p[x][y].Sign() == 0 {
					continue
				}
				q := new(big.Float).SetPrec(300).Quo(p[x][y], p[xp][y])
				l := log300(q)
				if l.Quo(l, big.NewFloat(f.Distance(x, xp))); l.Cmp(level) > 0 {
					level = l
				}
			}
		}
	}
	return level
}

// Each rounding on the way to the interval is in it: that of the row sums where rows differ by little, that of
// logarithms where quotients leave the range of float64, that of quotients, and that of differences of
// logarithms; and levels far below 1 keep their relative accuracy.
func TestAudit_ContainsExactLevelAtTheEnds(t *testing.T) {
	r, f := random.Seeded(9), space.Path(2, 1)
	for trial := range 270 {
		const m = 12
		w, wide := make([]float64, 2*m), 1e-9
		log, kind := true, trial%9
		for y := range m {
			w[y] = -3 * r.Float64()
			switch kind {
			case 0, 1, 7:
				w[m+y] = w[y] + []float64{1e-4, 1e-10, 1e-12}[kind%5]*r.NormFloat64()
			case 2: // not logarithms
				log = false
				w[y], w[m+y] = math.Ldexp(.5+r.Float64(), -1008*(y%2)), math.Ldexp(.5+r.Float64(), -1008*((y+1)%2))
			case 3: // logarithms some 2^-4, quotients some 1
				log = false
				w[y], w[m+y] = 1+.1*r.Float64(), 1+.1*r.Float64()
			case 4: // differences round by 2^-41, levels are some 1
				wide = math.Inf(1)
				w[y], w[m+y] = 1e4-r.Float64(), -r.Float64()
				w[0], w[m] = 1e4, 0
			case 5, 8: // quotients so near 1 that differences count
				log = false
				w[y], w[m+y] = 1+.01*r.Float64(), 1+.01*r.Float64()
				if kind == 8 {
					w[m+y] = w[y] * (1 + 1e-12*r.Float64())
				}
			case 6: // scales far apart
				log = false
				w[y], w[m+y] = .5+r.Float64(), math.Ldexp(.5+r.Float64(), -905-trial/9)
			}
		}
		from := FromWeights
		if log {
			from = FromLogWeights
		}
		c := testkit.Must(from(t.Context(), 2, m, w, nil))
		a := testkit.Must(c.Audit(t.Context(), f, nil))
		if level := exactLevel(c, f); level.Cmp(big.NewFloat(a.Lo)) < 0 || level.Cmp(big.NewFloat(a.Hi)) > 0 || a.Hi-a.Lo > wide*a.Hi {
			t.Errorf("trial %d: level %v outside %v", trial, level, a)
		}
	}
}

// Pairs that are passed over have no larger level: the audit of many rows is that of the worst two of
// them, also where weights are subnormal, 0 or far from each other, and rows of other scales.
func TestAudit_OfTheWorstPair(t *testing.T) {
	r, infinite := random.Seeded(10), 0
	for trial := range 400 {
		const n, m = 5, 4
		step := 1 + r.Float64()
		if trial%6 == 5 {
			step *= 300
		}
		f := space.Path(n, step)
		rows := make([][]float64, n)
		for x := range rows {
			rows[x] = []float64{1, r.Float64(), r.Float64(), r.Float64()}
			switch trial % 6 {
			case 1: // numbers of few bits
				rows[x][3] = float64(1+r.IntN(4)) * 0x1p-1074
			case 2:
				rows[x][3] = math.Ldexp(1+r.Float64(), -1000-r.IntN(60))
			case 3:
				rows[x][3] = math.Ldexp(float64(r.IntN(3)), -800)
			case 4: // rows of other scales
				floats.Scale(math.Ldexp(1, r.IntN(10)*(1+trial%9)), rows[x])
			case 5: // levels times distances, and scales, beyond what factors hold
				floats.Scale(math.Ldexp(1, 900*r.IntN(2)), rows[x])
				rows[x][3] = math.Ldexp(1+r.Float64(), r.IntN(1900)-1000)
			}
		}
		audit := func(of ...int) Audit {
			var w, at []float64
			for _, x := range of {
				w, at = append(w, rows[x]...), append(at, f.Distance(0, x))
			}
			c := testkit.Must(FromWeights(t.Context(), len(of), m, w, nil))
			return testkit.Must(c.Audit(t.Context(), testkit.Must(metric.NewPoints(at, metric.Numbers[float64]{})), nil))
		}
		lo, hi := 0.0, 0.0
		for x := range n {
			for y := range x {
				a := audit(y, x)
				lo, hi = max(lo, a.Lo), max(hi, a.Hi)
			}
		}
		a := audit(0, 1, 2, 3, 4)
		if math.Abs(a.Lo-lo) > 1e-12*lo || math.Abs(a.Hi-hi) > 1e-12*hi {
			t.Errorf("trial %d: [%v, %v], the worst pair [%v, %v]", trial, a.Lo, a.Hi, lo, hi)
		}
		if math.IsInf(lo, 1) {
			infinite++
		}
	}
	if infinite < 30 {
		t.Errorf("%d infinite levels", infinite)
	}
}

// Of differences that round to one number the bounds hold each, and are no wider than they must be.
func TestLogExtreme_HoldsWhatRoundsToIt(t *testing.T) {
	above, inf, most := math.Nextafter(1, 2), math.Inf(1), math.MaxFloat64
	for _, c := range []struct {
		a, b   []float64
		lo, hi float64
		at     int
	}{
		{[]float64{0, 1}, []float64{0, 0}, 1, 1, 1},
		{[]float64{1, 0x1p-60}, []float64{0, -1}, math.Nextafter(1, 0), above, 0},
		{[]float64{0x1p-60, 1}, []float64{-1, 0}, math.Nextafter(1, 0), above, 0},
		{[]float64{0, most}, []float64{0, -most}, most, inf, 1},
		{[]float64{most, 0}, []float64{-most, -inf}, inf, inf, 1},
	} {
		up, _ := logExtremes(c.a, c.b)
		_, down := logExtremes(c.b, c.a)
		if up != (logRatio{c.lo, c.hi, c.at}) || down != (logRatio{-c.hi, -c.lo, c.at}) {
			t.Errorf("%v less %v: %v and %v", c.a, c.b, up, down)
		}
	}
}

// alpha*rho = 1e6: nothing underflows. At both ends of the path e^-1e6 stands against 1, of which delta
// takes a part.
func TestAudit_HugeExponents(t *testing.T) {
	f := space.Path(11, 1e5)
	for _, lazy := range []bool{false, true} {
		for _, delta := range []float64{0, 1e-3} {
			a, want := testkit.Must(expo(t, f, 1, lazy).Audit(t.Context(), f, &AuditOptions{Delta: delta})), 1+math.Log1p(-delta)/1e6
			if slack := 1e-12 + delta*1e-6; a.Lo < want-slack || a.Lo > want+slack || math.Abs(a.Hi-want) > slack {
				t.Errorf("lazy=%v delta=%v: %v, want %v", lazy, delta, a, want)
			}
		}
	}
}

// The interval of two row sums' quotient holds that of sums that are off by all that theirs
// may be, the errors apart; of exponents, 2^10 times ln 2 is a product without rounding.
func TestLnRatio_ContainsWhatItsErrorsAllow(t *testing.T) {
	r := random.Seeded(151)
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	ln2 := log300(wide(2))
	for trial := range testkit.Sweep(1200, 50000) {
		draw := func() rowSum {
			s := rowSum{t: exact.DD{Hi: 1 + 0x1p-40*r.Float64()}}
			if trial%3 == 0 {
				s.t.Hi = math.Exp(5 * r.Float64())
			}
			s.t.Lo = s.t.Hi * 0x1p-53 * (r.Float64() - 0.5)
			s.err = []float64{exact.TotalDDErr, exact.TotalErr, 0x1p-30, 0}[r.IntN(4)]
			switch trial / 3 % 3 {
			case 0:
				s.ln = 100 * r.NormFloat64()
			case 1:
				s.exp = []int{0, 512, -512, r.IntN(2000) - 1000, 700 + r.IntN(300), -700 - r.IntN(300)}[r.IntN(6)]
			}
			return s
		}
		a, b := draw(), draw()
		lo, hi := lnRatio(a, b)
		sign := float64(trial%2*2 - 1)
		total := func(s rowSum, sign float64) *big.Float {
			v := wide(s.t.Hi)
			v.Add(v, wide(s.t.Lo))
			return v.Mul(v, wide(1).Add(wide(1), wide(sign*s.err)))
		}
		want := log300(wide(1).Quo(total(a, sign), total(b, -sign)))
		want.Add(want, wide(1).Mul(ln2, wide(float64(a.exp-b.exp))))
		want.Add(want, wide(1).Sub(wide(a.ln), wide(b.ln)))
		if wide(lo).Cmp(want) > 0 || wide(hi).Cmp(want) < 0 || !(hi-lo <= 16*max(a.err, b.err)+0x1p-38) {
			t.Fatalf("%+v, %+v: %v to %v, exactly %v", a, b, lo, hi, want.Text('g', 25))
		}
	}
}

// excessAt is the slow reference for delta > 0.
func excessAt(c *Channel, x, xp int, s float64) float64 {
	sum := 0.0
	for y := range c.m {
		sum += max(0, c.Prob(x, y)-math.Exp(s)*c.Prob(xp, y))
	}
	return sum
}

func TestAudit_DeltaMatchesBruteForce(t *testing.T) {
	r := random.Seeded(2)
	for trial := range 80 {
		n, m := 2+r.IntN(6), 1+r.IntN(7)
		f := space.Uniform(n, r)
		c := arbitrary(t, r, n, m, trial%2 == 0, 0.3)
		delta := math.Pow(10, -6*r.Float64()) / 2
		a := testkit.Must(c.Audit(t.Context(), f, &AuditOptions{Delta: delta}))
		want := 0.0
		for x := range n {
			for xp := range n {
				if x == xp {
					continue
				}
				lo, hi := 0.0, 40.0
				if excessAt(c, x, xp, 0) <= delta {
					hi = 0
				}
				for range 100 {
					if mid := (lo + hi) / 2; excessAt(c, x, xp, mid) > delta {
						lo = mid
					} else {
						hi = mid
					}
				}
				want = max(want, hi/f.Distance(x, xp))
			}
		}
		if want < a.Lo-1e-7*want || want > a.Hi+1e-7*want || a.Hi-a.Lo > 1e-6*a.Hi+1e-9 {
			t.Errorf("delta=%g: %v, brute force %v", delta, a, want)
		}
		one, err := c.Audit(t.Context(), f, &AuditOptions{Delta: delta, Workers: 1})
		if err != nil || one != a {
			t.Errorf("one worker: %v, two: %v (%v)", one, a, err)
		}
	}
}

// Of two inputs: zeros, laws at distance 0, closed forms, and numbers that leave the range of float64,
// as deltas too small for sums of probabilities and ratios that are infinite or only overflow. The
// level is between lo and hi, Lo is at most it and Hi at least it, and they go beyond by at most wide.
func TestAudit_KnownLevels(t *testing.T) {
	inf := math.Inf(1)
	type row struct {
		name     string
		plain    bool // weights, not their logarithms
		w        []float64
		d, delta float64
		lo, hi   float64
		wide     float64
	}
	rows := []row{
		{"a shared zero", true, []float64{1, 0, 2, 0}, 1, 0, 0, 0, 1e-12},
		{"a zero in one row", true, []float64{1, 0, 1, 1}, 1, 0, inf, inf, 0},
		{"disjoint rows", true, []float64{1, 0, 0, 1}, 1, 0, inf, inf, 0},
		{"a shared zero in logarithms", false, []float64{0, -inf, 0, -inf}, 1, 0, 0, 0, 1e-12},
		{"scaled rows", true, []float64{1, 3, 5, 15}, 1, 0, 0, 0, 1e-12},
		{"one law at distance 0", true, []float64{1, 3, 0.5, 1.5}, 0, 0, 0, 0, 0},
		{"laws an ulp apart at distance 0", false, []float64{0, -1, 0, math.Nextafter(-1, 0)}, 0, 0, inf, inf, 0},
		{"the same with a delta", false, []float64{0, -1, 0, math.Nextafter(-1, 0)}, 0, 1e-9, 0, 0, 0},
		{"1/402 in total variation at distance 0", true, []float64{1, 1, 1, 1.01}, 0, 1e-3, inf, inf, 0},
		{"a delta just below it", true, []float64{1, 1, 1, 1.01}, 0, .9 / 402, inf, inf, 0},
		{"a delta just above it", true, []float64{1, 1, 1, 1.01}, 0, 1.1 / 402, 0, 0, 0},
		{"randomized response", false, []float64{0, -1, -1, 0}, .5, 0, 2, 2, 1e-12},
		{"a delta above the total variation", false, []float64{0, -1, -1, 0}, .5, .9, 0, 0, 0},
		// Column 2 has 2^-1074 against 1/2.
		{"the whole range", true, []float64{1, 1e-300, 5e-324, 1e-300, 1, 1}, 1, 0, 1073 * math.Ln2, 1073 * math.Ln2, 1e-9},
		{"rows at opposite ends", true, []float64{1e308, 1e308, 1e-308, 2e-308}, 1, 0, math.Log(1.5) - 1e-9, math.Log(1.5) + 1e-9, 0},
		// Row sums of e^1e17 and 2e^-7: 1e17 + 7 - ln 2 is between 1e17 and the next float64.
		{"scales far apart", false, []float64{1e17, -7, -7, -7}, 1, 0, 1e17 + 16, 1e17, inf},
		// Output 1 has e^-720 = 2.06e-313 at x = 1 and 0 at x = 0.
		{"a tiny zero", false, []float64{0, -inf, 0, -720}, 1, 0, inf, inf, 0},
		{"a tiny zero, far apart", false, []float64{0, -inf, 0, -720}, 7, 0, inf, inf, 0},
		{"a zero of less than delta", false, []float64{0, -inf, 0, -720}, 1, 1e-305, 0, 0, inf},
		{"a zero of less than the least delta", false, []float64{0, -inf, 0, -730}, 1, 1e-312, 0, 0, inf},
		{"a zero of more than delta", false, []float64{0, -inf, 0, -600}, 1, 1e-305, inf, inf, 0},
		{"a zero of more than a delta in range", false, []float64{0, -inf, 0, -2}, 1, .1, inf, inf, 0},
		// log((e^-710-delta)/e^-800), of which float64 tells no delta before 1e-310.
		{"a tiny delta", false, []float64{0, -800, 0, -710}, 1, 1e-320, 89.9999999, 90, inf},
		// Levels of 1e308, from ratios of 2e308: the sum of a row is e^(its larger).
		{"an overflow", false, []float64{0, 1e308, 0, -1e308}, 1, 0, 1e308, 1e308, inf},
		{"an overflow over 4", false, []float64{0, 1e308, 0, -1e308}, 4, 0, 1e308 / 4, 1e308 / 4, inf},
		{"an overflow and a zero", false, []float64{0, 1e308, 0, 0, -1e308, -inf}, 1, 0, inf, inf, 0},
	}
	for _, delta := range []float64{1e-9, 0.01, 0.4} { // p - e^s q = delta with p = e/(1+e), q = 1-p
		p := math.E / (1 + math.E)
		want := math.Log((p-delta)/(1-p)) / 0.5
		rows = append(rows, row{"randomized response with a delta", false, []float64{0, -1, -1, 0}, .5, delta, want - 1e-9, want + 1e-9, 1e-8})
	}
	for _, c := range rows {
		from := FromLogWeights
		if c.plain {
			from = FromWeights
		}
		ch := testkit.Must(from(t.Context(), 2, len(c.w)/2, c.w, nil))
		a, err := ch.Audit(t.Context(), testkit.Must(metric.NewDense(2, []float64{c.d})), &AuditOptions{Delta: c.delta})
		if err != nil || !(a.Lo <= c.hi && a.Hi >= c.lo && (c.wide == inf || a.Lo >= c.lo-c.wide && a.Hi <= c.hi+c.wide)) || a.Delta != c.delta {
			t.Errorf("%s, delta %v: %v (%v), the level is %v to %v", c.name, c.delta, a, err, c.lo, c.hi)
		}
	}
}

func BenchmarkAudit(b *testing.B) {
	r := random.Seeded(5)
	f := testkit.Must(metric.Densify(b.Context(), space.Uniform(1000, r)))
	log := expo(b, f, 5, false)
	plain := testkit.Must(NewChannel(b.Context(), Rows{1000, 1000, false, func(x int, dst []float64) { log.Row(x, dst) }}, nil))
	for _, c := range []struct {
		name  string
		c     *Channel
		delta float64
	}{{"log", log, 0}, {"plain", plain, 0}, {"log-delta", log, 1e-3}, {"plain-delta", plain, 1e-6}} {
		b.Run(c.name+"/n=1000", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.c.Audit(b.Context(), f, &AuditOptions{Delta: c.delta}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A pair of inputs passes at a level only where f is small enough at an argument that
// is at most level*d less the margin, and the interval of a level holds what the
// arguments and the margin allow, in exact arithmetic.
func TestMargin_RoundsOutward(t *testing.T) {
	const e = margin(0x1p-40)
	num := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	for i := range 2000 {
		level, d := 1+math.Pi*float64(i), math.Sqrt(float64(i+1))/3
		most := new(big.Rat).Mul(num(level), num(d))
		most.Sub(most, num(float64(e)))
		e.passes(func(s float64) float64 {
			if num(s).Cmp(most) > 0 {
				t.Errorf("level %v, distance %v: tried at %v", level, d, s)
			}
			return 0
		}, level, d, 0)
		s := level * d
		lo, hi := e.level(s, s, d)
		if new(big.Rat).Mul(num(lo), num(d)).Cmp(new(big.Rat).Sub(num(s), num(float64(e)))) > 0 {
			t.Errorf("%v over %v: Lo = %v", s, d, lo)
		}
		if new(big.Rat).Mul(num(hi), num(d)).Cmp(new(big.Rat).Add(num(s), num(float64(e)))) < 0 {
			t.Errorf("%v over %v: Hi = %v", s, d, hi)
		}
	}
}
