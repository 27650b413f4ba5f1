package mechanism

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// holed is a random channel whose rows have zeros of their own, a fraction of the weights.
func holed(t testing.TB, r *rand.Rand, n, m int, zeros float64) *Channel {
	t.Helper()
	w := make([]float64, n*m)
	for i := range w {
		if i%m == 0 || r.Float64() >= zeros {
			w[i] = math.Exp(2 * r.NormFloat64())
		}
	}
	return testkit.Must(FromWeights(t.Context(), n, m, w, nil))
}

// product is the distribution of all outputs of the composition at two inputs.
func product(cs []repeatedChannel, x, xp int) (p, q []float64) {
	p, q = []float64{1}, []float64{1}
	for _, r := range cs {
		for range r.times {
			var np, nq []float64
			for i := range p {
				for y := range r.c.Outputs() {
					np = append(np, p[i]*r.c.Prob(x, y))
					nq = append(nq, q[i]*r.c.Prob(xp, y))
				}
			}
			p, q = np, nq
		}
	}
	return p, q
}

// apart is the least delta at which p is s from q.
func apart(p, q []float64, s float64) float64 {
	sum := 0.0
	for i, v := range p {
		if v > 0 && (q[i] == 0 || math.Log(v/q[i]) > s) {
			sum += v - math.Exp(s)*q[i]
		}
	}
	return sum
}

// levelOf is the level of the composition by enumeration of all outputs.
func levelOf(cs []repeatedChannel, f metric.Finite, delta float64) float64 {
	level := 0.0
	for x := range f.Len() {
		for xp := range f.Len() {
			if x == xp {
				continue
			}
			p, q := product(cs, x, xp)
			if apart(p, q, 700) > delta {
				return math.Inf(1)
			}
			if apart(p, q, 0) > delta {
				_, s := search.Change(0, 700, 1e-14, func(s float64) bool { return apart(p, q, s) <= delta })
				level = max(level, s/f.Distance(x, xp))
			}
		}
	}
	return level
}

// composition is that of the channels.
func composition(t testing.TB, cs []repeatedChannel) *Composition {
	t.Helper()
	var rs []Repeated
	for _, r := range cs {
		rs = append(rs, Repeated{r.c, r.times})
	}
	return testkit.Must(NewComposition(rs...))
}

// few is a random composition whose outputs can be enumerated.
func few(t testing.TB, r *rand.Rand, n, trial int) []repeatedChannel {
	m := 2 + r.IntN(3)
	zeros := []float64{0, 0, .3}[trial%3]
	cs := []repeatedChannel{{holed(t, r, n, m, zeros), 1 + r.Int64N(4)}}
	if trial%2 == 0 {
		cs = append(cs, repeatedChannel{arbitrary(t, r, n, 2, trial%4 == 0, 0), 1 + r.Int64N(3)})
	}
	return cs
}

func TestComposition_ContainsExactLevel(t *testing.T) {
	r := random.Seeded(1)
	infinite := 0
	for trial := range 150 {
		n := 2 + r.IntN(2)
		f := space.Uniform(n, r)
		cs := few(t, r, n, trial)
		delta := math.Pow(10, -12*r.Float64())
		a := testkit.Must(composition(t, cs).Audit(t.Context(), f, &AuditOptions{Delta: delta}))
		level := levelOf(cs, f, delta)
		if math.IsInf(level, 1) {
			infinite++
		}
		if !(a.Lo <= level*(1+1e-9) && level <= a.Hi*(1+1e-11)) {
			t.Errorf("trial %d: level %v outside %v", trial, level, a)
		}
		if a.Hi-a.Lo > 1e-3*a.Hi+1e-6 {
			t.Errorf("trial %d: wide: %v, level %v", trial, a, level)
		}
	}
	if infinite < 10 {
		t.Errorf("%d infinite levels", infinite)
	}
}

// However coarse the lattice is, both ends are right.
func TestLosses_CoarseLatticesHold(t *testing.T) {
	r := random.Seeded(2)
	slack := 0
	for trial := range testkit.Sweep(100, 200) {
		cs := few(t, r, 2, trial)
		p, q := product(cs, 0, 1)
		c := testkit.Must(newComposing(t.Context(), space.Path(2, 1), cs, (&AuditOptions{Delta: .1}).auditing("test")))
		var l composedLoss
		c.set(&l, 0, 1)
		l.gather()
		if len(l.factors[0].atoms) < 2 {
			continue
		}
		step := (l.factors[0].top - l.factors[0].bottom) / (1 + 20*r.Float64())
		g := l.onGrid(step)
		for range 4 {
			s := 8 * r.Float64()
			delta := apart(p, q, s)
			if delta < 1e-13 {
				continue
			}
			if ok := testkit.Must(g.within(t.Context(), s, delta*(1-1e-9))); ok {
				t.Errorf("trial %d: step %v: less than delta %v at %v", trial, step, delta, s)
			}
			if ok := testkit.Must(g.within(t.Context(), s, min(1, 1.5*delta))); ok {
				slack++
			}
			lo := testkit.Must(l.atLeast(t.Context(), delta, s, step))
			if lo > s*(1+1e-9)+1e-9 {
				t.Errorf("trial %d: step %v: the level at %v is %v, at least %v", trial, step, delta, s, lo)
			}
			_, never := l.never()
			if never < delta*(1-1e-9) {
				if log, _ := l.exponent(s, l.guess(s), math.Inf(-1)); log < math.Log((delta-never)*(1-1e-9)) {
					t.Errorf("trial %d: Chernoff's bound %v of %v", trial, log, math.Log(delta-never))
				}
			}
		}
	}
	if slack < testkit.Sweep(100, 200) {
		t.Errorf("1.5 delta passes %d times", slack)
	}
}

// What a loss may be off by counts once for every draw, at both ends of the level.
func TestLosses_LooseMovesTheEnds(t *testing.T) {
	const count, loose = 10, 1e-3
	for _, delta := range []float64{1e-3, 1e-6, .03} {
		l := composedLoss{factors: []factorLoss{{count: count, atoms: []atom{{-.3, .4}, {.3, .6}}, top: .3, bottom: -.3, loose: loose, err: 0x1p-45}}}
		_, exactly := search.Change(0, 10*.3, 1e-12, func(s float64) bool {
			sum := 0.0
			for k := range count + 1 { // of the larger loss
				law := math.Exp(float64(k)*math.Log(.6) + float64(count-k)*math.Log(.4))
				for i := range k {
					law *= float64(count-i) / float64(i+1)
				}
				sum += law * max(0, -math.Expm1(s-.3*float64(2*k-count)))
			}
			return sum <= delta
		})
		s, step, err := l.level(t.Context(), delta, fineLattice)
		low := testkit.Must(l.atLeast(t.Context(), delta, exactly, step))
		if err != nil || s < exactly+count*loose*(1-1e-9) || s > exactly*1.01+count*loose || low > exactly-count*loose*(1-1e-9) {
			t.Errorf("delta %v: from %v to %v (%v), exactly %v and off by %v", delta, low, s, err, exactly, count*loose)
		}
		g := l.onGrid(step)
		if testkit.Must(g.within(t.Context(), exactly+count*loose*(1-1e-2), delta)) {
			t.Errorf("delta %v: what losses may be off by is left out", delta)
		}
	}
}

// Where masses are off, so is what never comes up, in both directions; and masses too small to be split, or that
// are 0 for their size, never come up, with the least mass at least.
func TestLosses_NeverCountsErrors(t *testing.T) {
	var f factorLoss
	if f.set([]float64{0, -625, -800}, []float64{0, 0, 0}, []float64{1, 0x1p-901, 0}, 0); len(f.atoms) != 1 || f.never != 2*leastMass {
		t.Errorf("%d atoms, and never %v", len(f.atoms), f.never)
	}
	for _, err := range []float64{1e-3, 1e-9, 0} {
		l := composedLoss{factors: []factorLoss{{count: 3, never: .2, err: err}, {count: 1, never: .1, err: err}}}
		at := func(sign float64) float64 {
			return 1 - math.Pow(1-.2*(1+sign*err), 3)*(1-.1*(1+sign*err))
		}
		if lo, hi := l.never(); lo > at(-1) || hi < at(1) || hi-lo > at(1)-at(-1)+1e-11 {
			t.Errorf("off by %v: %v to %v, want %v to %v", err, lo, hi, at(-1), at(1))
		}
	}
}

// An atom whose lower part would be no normal number moves up whole.
func TestOnGrid_TinyPartsMoveUp(t *testing.T) {
	const step = 1000
	l := composedLoss{factors: []factorLoss{{count: 1, atoms: []atom{{0, .5}, {-310, .5}}, bottom: -310, loose: 0x1p-40}}}
	if p := l.onGrid(step).parts[0]; !slices.Equal(p.At, []int64{0}) || p.Mass[0] != 1 {
		t.Errorf("%v at %v", p.Mass, p.At)
	}
	l.factors[0].atoms[1].loss = -600 // e^-600 is one
	if p := l.onGrid(step).parts[0]; !slices.Equal(p.At, []int64{0, -1}) || p.Mass[0] != 1 || !(p.Mass[1] > 0x1p-900) {
		t.Errorf("%v at %v", p.Mass, p.At)
	}
}

// Where losses have no error of their own nothing hides what their sum is rounded by.
func TestLosses_MostIsRoundedUp(t *testing.T) {
	r := random.Seeded(152)
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	for range 300 {
		var l composedLoss
		want := wide(0)
		for range 1 + r.IntN(3) {
			f := factorLoss{count: 1 + r.Int64N(1<<r.IntN(30)), top: r.Float64(), loose: 0x1p-40 * r.Float64()}
			l.factors = append(l.factors, f)
			one := wide(0).Add(wide(f.top), wide(f.loose))
			want.Add(want, one.Mul(one, wide(float64(f.count))))
		}
		got := l.most()
		if v, _ := want.Float64(); wide(got).Cmp(want) < 0 || got > v*(1+0x1p-48) {
			t.Fatalf("%+v: %v, exactly %v", l.factors, got, want)
		}
	}
}

// Chernoff's bound counts what losses and masses may be off by, and each of the terms
// that it is computed from where that is by far the largest.
func TestExponent_CountsErrorsAndRoundings(t *testing.T) {
	r := random.Seeded(153)
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	times := func(a, b *big.Float) *big.Float { return wide(0).Mul(a, b) }
	for trial := range testkit.Sweep(200, 4000) {
		f := factorLoss{count: 1, atoms: []atom{{0, r.Float64()}}}
		s, x := r.Float64(), 2*r.Float64()
		switch trial % 5 {
		case 0:
			s = -1e10 * r.Float64()
		case 1:
			x *= 1e9
		case 2:
			f.count, f.atoms[0].mass = 1+r.Int64N(1e9), math.Exp(-100*r.Float64())
		case 3:
			f.err, f.loose = 1e-6*r.Float64(), 1e-6*r.Float64()
			f.atoms[0].loss = r.Float64()
			f.top, f.bottom = f.atoms[0].loss, f.atoms[0].loss
		case 4:
			x *= 1e-9
		}
		// x loss + ln mass, count times, with its errors.
		want := times(wide(x), wide(f.atoms[0].loss))
		want.Add(want, log300(wide(f.atoms[0].mass)))
		want.Add(want, wide(f.err))
		want = times(want.Add(want, times(wide(x), wide(f.loose))), wide(float64(f.count)))
		want.Sub(want, times(wide(x), wide(s)))
		want.Add(want, times(wide(x), log300(wide(x))))
		more := wide(0).Add(wide(1), wide(x))
		want.Sub(want, times(more, log300(more)))
		l := composedLoss{factors: []factorLoss{f}}
		got, _ := l.exponent(s, x, math.Inf(1))
		if v, _ := want.Float64(); wide(got).Cmp(want) < 0 || got > v+0x1p-44*float64(f.count)*(1+math.Abs(math.Log(f.atoms[0].mass))+30*x)+0x1p-44*x*math.Abs(s) {
			t.Fatalf("trial %d: %+v, s %v, tilt %v: %v, exactly %v", trial, f, s, x, got, want)
		}
	}
}

// The sum of the levels takes, of each channel by itself, the level at delta = 0 or that at its
// share of delta.
func TestNewComposing_SumsTheBetterLevels(t *testing.T) {
	f := space.Path(2, 1)
	plain := func(w ...float64) repeatedChannel {
		return repeatedChannel{testkit.Must(FromWeights(t.Context(), 2, len(w)/2, w, nil)), 2}
	}
	// Of the first no level at delta = 0 is finite; with the others delta is worth less than
	// what an audit at delta > 0 is off by.
	own := []repeatedChannel{plain(1, 3e-30, 1e-40, 1, 1e-31, 0), plain(1, 1.001, 1, 1), plain(1, 1.002, 1, 1)}
	const delta = 1e-30
	c := testkit.Must(newComposing(t.Context(), f, own, (&AuditOptions{Delta: delta}).auditing("test")))
	want := 0.0
	for i, r := range own {
		pure := testkit.Must(r.c.Audit(t.Context(), f, nil)).Hi
		part := testkit.Must(r.c.Audit(t.Context(), f, &AuditOptions{Delta: delta / 6})).Hi
		if (i == 0) != (part < pure) {
			t.Fatalf("channel %d: %v at delta = 0, else %v", i, pure, part)
		}
		want += 2 * min(pure, part)
	}
	if math.Abs(c.sum-want) > 1e-12*want {
		t.Errorf("%v, want %v", c.sum, want)
	}
}

// Pairs that are passed over change nothing: the audit is that of the pairs.
func TestComposition_IsThatOfThePairs(t *testing.T) {
	r := random.Seeded(3)
	for trial := range testkit.Sweep(4, 12) {
		const n, m = 9, 4
		f := space.Uniform(n, r)
		w := make([]float64, n*m)
		for i := range w {
			w[i] = math.Exp(f.Distance(i/m, i%m)) * (1 + []float64{0, 1e-14, .1}[trial%3]*r.Float64())
			if trial%4 == 0 { // many pairs of the same losses
				w[i] = 1 + float64(i/m%3)*float64(i%m)
			}
		}
		got, want := ofPairs(t, f, m, w, func(c *Channel, f metric.Finite) (Audit, error) {
			all := testkit.Must(NewComposition(Repeated{c, 3 + 40*int64(trial%2)}))
			return all.Audit(t.Context(), f, &AuditOptions{Delta: 1e-5})
		})
		if got.Hi < want.Lo || got.Lo > want.Hi || got.Hi > 1.001*want.Hi || got.Lo < .999*want.Lo {
			t.Errorf("trial %d: %v, of the pairs %v", trial, got, want)
		}
	}
}

func TestComposition_IsNarrowAndBelowTheSum(t *testing.T) {
	f := space.Halton(20)
	for _, times := range []int64{2, 300, 1e9, 20, 1e6}[:testkit.Sweep(3, 5)] {
		c := expo(t, f, 4/math.Sqrt(float64(times)), false)
		lazy := expo(t, f, 4/math.Sqrt(float64(times)), true)
		m := testkit.Must(NewComposition(Repeated{c, times - 1}, Repeated{c, 1}))
		sum := testkit.Must(m.Audit(t.Context(), f, nil))
		before := sum.Hi
		for _, delta := range []float64{1e-290, 1e-18, 1e-6, .01} {
			a := testkit.Must(m.Audit(t.Context(), f, &AuditOptions{Delta: delta}))
			if !(a.Hi <= before) || delta > 1e-200 && a.Hi-a.Lo > 1e-3*a.Hi {
				t.Errorf("%d times, delta %v: %v, the sum is %v", times, delta, a, sum)
			}
			if before = a.Hi; times == 300 {
				b := testkit.Must(testkit.Must(NewComposition(Repeated{lazy, times})).Audit(t.Context(), f, &AuditOptions{Delta: delta, Workers: 1}))
				if a != b {
					t.Errorf("lazy: %v, not %v", b, a)
				}
			}
		}
	}
}

// At delta = 0 the largest over the pairs of the sum of the exact levels, to the last bit, where all that
// float64 computes of it is some ulps off; one release is the channel's own audit.
func TestComposition_PureContainsExactLevel(t *testing.T) {
	r := random.Seeded(14)
	for trial := range 40 {
		n := 2 + r.IntN(3)
		f := space.Uniform(n, r)
		cs := [2]*Channel{arbitrary(t, r, n, 3, trial%2 == 0, .2), arbitrary(t, r, n, 4, trial%4 < 2, 0)}
		a := testkit.Must(testkit.Must(NewComposition(Repeated{cs[0], 3}, Repeated{cs[1], 1})).Audit(t.Context(), f, nil))
		level, probs := new(big.Float), [2][][]*big.Float{bigProbs(cs[0]), bigProbs(cs[1])}
		for x := range n {
			for xp := range n {
				if x == xp {
					continue
				}
				product := new(big.Float).SetPrec(300).SetInt64(1)
				for i, p := range probs {
					most := new(big.Float)
					for y, v := range p[x] {
						if v.Sign() == 0 {
							continue
						}
						if q := new(big.Float).SetPrec(300).Quo(v, p[xp][y]); q.Cmp(most) > 0 {
							most = q
						}
					}
					for range 3 - 2*i {
						product.Mul(product, most)
					}
				}
				l := log300(product)
				if l.Quo(l, big.NewFloat(f.Distance(x, xp))); l.Cmp(level) > 0 {
					level = l
				}
			}
		}
		if level.Cmp(big.NewFloat(a.Lo)) < 0 || level.Cmp(big.NewFloat(a.Hi)) > 0 || a.Hi-a.Lo > 1e-9*a.Hi {
			t.Errorf("trial %d: level %v outside %v", trial, level, a)
		}
		o := &AuditOptions{Delta: .01 * float64(trial%2)}
		own := testkit.Must(cs[0].Audit(t.Context(), f, o))
		if one := testkit.Must(testkit.Must(NewComposition(Repeated{cs[0], 1})).Audit(t.Context(), f, o)); one != own {
			t.Errorf("one release: %v, not %v", one, own)
		}
	}
}

// Inputs at distance 0 may differ by delta in total variation, and no more.
func TestComposition_DistanceZero(t *testing.T) {
	f := space.Func(3, func(i, j int) float64 {
		if i+j == 1 {
			return 0
		}
		return 1
	})
	for _, c := range []struct {
		w     []float64
		delta float64
		inf   bool
	}{
		{[]float64{1, 1, 2, 2, 3, 1}, 0, false},
		{[]float64{1, 1, 2, 2, 3, 1}, 1e-9, false},
		{[]float64{1, 1, 1.01, 1, 3, 1}, 0, true},
		{[]float64{1, 1, 1.01, 1, 3, 1}, .001, true},
		{[]float64{1, 1, 1.01, 1, 3, 1}, .02, false},
		{[]float64{1, 0, 1, .001, 3, 1}, .001, true}, // 0.005 in 5 releases
	} {
		ch := testkit.Must(FromWeights(t.Context(), 3, 2, c.w, nil))
		a := testkit.Must(testkit.Must(NewComposition(Repeated{ch, 5})).Audit(t.Context(), f, &AuditOptions{Delta: c.delta}))
		if math.IsInf(a.Hi, 1) != c.inf || math.IsInf(a.Lo, 1) != c.inf {
			t.Errorf("%v at delta %v: %v", c.w, c.delta, a)
		}
	}
}

func TestComposition_RefusesBadInput(t *testing.T) {
	f := space.Path(4, 1)
	a, other := expo(t, f, 1, false), expo(t, space.Path(3, 1), 1, false)
	good := testkit.Must(NewComposition(Repeated{a, 2}))
	made := func(cs ...Repeated) error { return testkit.Err(NewComposition(cs...)) }
	globe := testkit.Must(metric.NewPoints([]metric.LatLon{{Lat: 1}, {Lat: 2}, {Lat: 3}, {Lat: 4}}, metric.GreatCircle{}))
	refuse(t, []refused{
		{made(Repeated{a, 1}, Repeated{(*Channel)(nil), 1}), "NewComposition: cs[1].Mechanism"},
		{made(Repeated{nil, 1}), "NewComposition: cs[0].Mechanism"},
		{made(Repeated{a, 1}, Repeated{other, 1}), "NewComposition: cs[1].Mechanism"},
		{made(Repeated{a, 1<<40 + 1}), "NewComposition: cs[0].Times"},
		{made(Repeated{certified(t, a, f, "m"), 1}, Repeated{certified(t, a, f, "km"), 1}), "NewComposition: cs[1]"},
		{testkit.Err(good.Audit(t.Context(), space.Path(3, 1), nil)), "Composition.Audit: rho"},
		{testkit.Err(good.Audit(t.Context(), space.Constant(4, -1), &AuditOptions{Delta: .1})), "Composition.Audit: rho.Distance(0, 1)"},
		{testkit.Err2(good.Certify(t.Context(), globe, "m", nil)), "Composition.Certify: "},
		{testkit.Err(testkit.Must(NewComposition(Repeated{a, 1 << 40})).Release(nil, 0)), "Composition.Release: needs"},
	})
}

// The product channel has at most the sum of the levels.
func TestCompose_AddsAndReleases(t *testing.T) {
	f := space.Path(4, 1)
	a, b := certified(t, expo(t, f, 0.5, false), f, "m"), certified(t, expo(t, f, 1, false), f, "m")
	both := testkit.Must(Compose[int, int](a, b))
	w := make([]float64, 4*16)
	for x := range 4 {
		for y := range 16 {
			w[16*x+y] = a.w[4*x+y/4] + b.w[4*x+y%4]
		}
	}
	product := testkit.Must(testkit.Must(FromLogWeights(t.Context(), 4, 16, w, nil)).Audit(t.Context(), f, nil))
	if g := both.Guarantee().Alpha(); product.Lo > g || g < a.Guarantee().Alpha()+b.Guarantee().Alpha() {
		t.Errorf("the product has level %v, composed %v", product, both.Guarantee())
	}
	doubled := Then(both, func(y []int) (float64, error) { return 2 * float64(y[0]), nil })
	if y, err := doubled.Release(random.Seeded(1), 2); err != nil || doubled.Guarantee() != both.Guarantee() || y < 0 || y > 6 {
		t.Error(y, err)
	}
	for want, err := range map[error]error{
		ErrUnit:         testkit.Err(Compose[int, int](a, certified(t, expo(t, f, 1, false), f, "km"))),
		metric.ErrEmpty: testkit.Err(Compose[int, int](a, nil)),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if testkit.Err(Compose[int, int]()) == nil || testkit.Err(doubled.Release(nil, -1)) == nil {
		t.Error("composed nothing, or released an input outside the space")
	}
}
