package mechanism

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// line returns n points on the line with the given gap.
func line(t testing.TB, n int, gap float64) metric.Finite {
	t.Helper()
	var upper []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			upper = append(upper, gap*float64(j-i))
		}
	}
	d, err := metric.NewDense(n, upper)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// cloud returns n random points of the unit square.
func cloud(t testing.TB, r *rand.Rand, n int) metric.Finite {
	t.Helper()
	pts := make([][2]float64, n)
	for i := range pts {
		pts[i] = [2]float64{r.Float64(), r.Float64()}
	}
	p, err := metric.NewPoints(pts, metric.Func[[2]float64](func(x, y [2]float64) float64 {
		return math.Hypot(x[0]-y[0], x[1]-y[1])
	}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expo is the exponential channel at beta on f.
func expo(t testing.TB, f metric.Finite, beta float64, lazy bool) *Channel {
	t.Helper()
	c, err := NewChannel(Rows{f.Len(), f.Len(), true, func(x int, dst []float64) {
		for y, d := range metric.Row(f, x, dst) {
			dst[y] = -beta * d
		}
	}}, &ChannelOptions{Lazy: lazy})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// random returns a random channel; a fraction zeros of the weights vanishes in
// the same columns of every row, so that the level stays finite.
func random(t testing.TB, r *rand.Rand, n, m int, log bool, zeros float64) *Channel {
	t.Helper()
	dead := make([]bool, m)
	for y := 1; y < m; y++ {
		dead[y] = r.Float64() < zeros
	}
	w := make([]float64, n*m)
	for i := range w {
		switch {
		case dead[i%m] && log:
			w[i] = math.Inf(-1)
		case dead[i%m]:
		case log:
			w[i] = -3 * r.Float64()
		default:
			w[i] = 0.1 + r.Float64()
		}
	}
	from := FromWeights
	if log {
		from = FromLogWeights
	}
	c, err := from(n, m, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bigProbs returns the channel's exact law to 300 bits.
func bigProbs(c *Channel) [][]*big.Float {
	out := make([][]*big.Float, c.n)
	nf := func() *big.Float { return new(big.Float).SetPrec(300) }
	for x := range out {
		var buf []float64
		r, _ := c.read(x, &buf)
		sum := nf()
		for _, v := range r.W {
			w := nf()
			if c.log {
				if !math.IsInf(v, -1) {
					lo, _ := exact.ExpBounds(big.NewFloat(v), 260)
					w.Set(lo)
				}
			} else {
				w.SetFloat64(v)
			}
			sum.Add(sum, w)
			out[x] = append(out[x], w)
		}
		for _, w := range out[x] {
			w.Quo(w, sum)
		}
	}
	return out
}

// log300 is the natural logarithm to far more than float64 by Newton on
// ExpBounds.
func log300(v *big.Float) *big.Float {
	f, _ := v.Float64()
	l := new(big.Float).SetPrec(300).SetFloat64(math.Log(f))
	for range 4 {
		e, _ := exact.ExpBounds(l, 260)
		d := new(big.Float).SetPrec(300).Quo(v, e)
		l.Add(l, d.Sub(d, big.NewFloat(1)))
	}
	return l
}

// The audit's interval contains the level computed in 300 bits and is narrow.
func TestAudit_ContainsExactLevel(t *testing.T) {
	r := rng.Seeded(1)
	for trial := range 60 {
		n := 2 + r.IntN(5)
		f := cloud(t, r, n)
		c := random(t, r, n, 1+r.IntN(6), trial%2 == 0, 0.3)
		a, err := c.Audit(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := bigProbs(c)
		level := new(big.Float)
		for x := range n {
			for xp := range n {
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

// Levels far below 1 keep their relative accuracy, in both representations.
func TestAudit_TinyLevelsAreRelativelyExact(t *testing.T) {
	f := line(t, 20, 1)
	for _, beta := range []float64{1e-3, 1e-6, 1e-9, 1e-12} {
		c := expo(t, f, beta, false)
		a, err := c.Audit(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a.Hi-a.Lo > 1e-10*a.Hi || a.Hi > 2*beta*(1+1e-12) || a.Lo < beta/2 {
			t.Errorf("beta=%g: %v", beta, a)
		}
		// Plain weights 1 + k*beta: the ratio of neighbours is known exactly.
		w := make([]float64, 3*2)
		for x := range 3 {
			w[2*x], w[2*x+1] = 1+float64(x)*beta, 1
		}
		p, err := FromWeights(3, 2, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, err = p.Audit(line(t, 3, 1), 0); err != nil {
			t.Fatal(err)
		}
		if a.Hi-a.Lo > 1e-9*a.Hi || math.Abs(a.Hi-beta/2) > 0.01*beta {
			t.Errorf("plain weights, beta=%g: %v", beta, a)
		}
	}
}

// alpha*rho = 1e6: nothing underflows, the level is the stated one.
func TestAudit_HugeExponents(t *testing.T) {
	f := line(t, 11, 1e5)
	for _, lazy := range []bool{false, true} {
		c := expo(t, f, 1, lazy)
		a, err := c.Audit(f, 0)
		if err != nil {
			t.Fatal(err)
		}
		// Two ends: e^-1e6 against 1, normalisers alike up to e^-1e5.
		if a.Lo > 1 || a.Hi < 1 || a.Hi-a.Lo > 1e-12 {
			t.Errorf("lazy=%v: %v", lazy, a)
		}
		d, err := c.Audit(f, 1e-3)
		if err != nil {
			t.Fatal(err)
		}
		// (1-1e-3) is left to lose: s = 1e5 + ln(1 - 1e-3) for neighbours,
		// and 1e6 + the same over 1e6 for the ends.
		want := 1 + math.Log1p(-1e-3)/1e6
		if math.Abs(d.Lo-want) > 1e-9 || math.Abs(d.Hi-want) > 1e-9 {
			t.Errorf("lazy=%v delta=1e-3: %v, want %v", lazy, d, want)
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
	r := rng.Seeded(2)
	for trial := range 80 {
		n, m := 2+r.IntN(6), 1+r.IntN(7)
		f := cloud(t, r, n)
		c := random(t, r, n, m, trial%2 == 0, 0.3)
		delta := math.Pow(10, -6*r.Float64()) / 2
		a, err := c.Audit(f, delta)
		if err != nil {
			t.Fatal(err)
		}
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
		one, err := c.AuditWith(f, &AuditOptions{Delta: delta, Workers: 1})
		if err != nil || one != a {
			t.Errorf("one worker: %v, two: %v (%v)", one, a, err)
		}
	}
}

// A guarantee 10 % too small must not pass: the audit is tight both ways.
func TestAudit_TwoPointsClosedForm(t *testing.T) {
	f := line(t, 2, 0.5)
	c, err := FromLogWeights(2, 2, []float64{0, -1, -1, 0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.Audit(f, 0)
	if a.Lo > 2 || a.Hi < 2 || a.Hi-a.Lo > 1e-12 {
		t.Errorf("level of randomised response: %v, want 2", a)
	}
	// p - e^s q = delta with p = e/(1+e): s = ln((p-delta)/q).
	p := math.E / (1 + math.E)
	for _, delta := range []float64{1e-9, 0.01, 0.4} {
		a, _ = c.Audit(f, delta)
		want := math.Log((p-delta)/(1-p)) / 0.5
		if a.Lo > want+1e-9 || a.Hi < want-1e-9 || a.Hi-a.Lo > 1e-8 {
			t.Errorf("delta=%v: %v, want %v", delta, a, want)
		}
	}
	if a, _ = c.Audit(f, 0.9); a.Hi != 0 {
		t.Errorf("delta above the total variation: %v", a)
	}
}

func TestAudit_ZerosAndDuplicates(t *testing.T) {
	f := line(t, 2, 1)
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		w    []float64
		log  bool
		want float64
	}{
		{"shared zero", []float64{1, 0, 2, 0}, false, 0},
		{"one zero", []float64{1, 0, 1, 1}, false, inf},
		{"disjoint", []float64{1, 0, 0, 1}, false, inf},
		{"log shared", []float64{0, -inf, 0, -inf}, true, 0},
		{"log one", []float64{0, -inf, 0, 0}, true, inf},
		{"scaled rows", []float64{1, 3, 5, 15}, false, 0},
	} {
		ch, err := FromWeights(2, 2, c.w, nil)
		if c.log {
			ch, err = FromLogWeights(2, 2, c.w, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		a, err := ch.Audit(f, 0)
		if err != nil || a.Lo != c.want && a.Lo > c.want || a.Hi < c.want || a.Hi > c.want+1e-12 {
			t.Errorf("%s: %v (%v), want %v", c.name, a, err, c.want)
		}
	}
	// Points at distance 0: same law or no level at all.
	twins, err := metric.NewDense(2, []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	same, _ := FromWeights(2, 2, []float64{1, 3, 0.5, 1.5}, nil)
	if a, _ := same.Audit(twins, 0); a.Hi != 0 {
		t.Errorf("equal laws at distance 0: %v", a)
	}
	differ, _ := FromLogWeights(2, 2, []float64{0, -1, 0, math.Nextafter(-1, 0)}, nil)
	if a, _ := differ.Audit(twins, 0); !math.IsInf(a.Lo, 1) {
		t.Errorf("laws an ulp apart at distance 0: %v", a)
	}
	if a, _ := differ.Audit(twins, 1e-9); a.Hi != 0 {
		t.Errorf("the same with delta=1e-9: %v", a)
	}
}

// Rows of plain weights that span the whole float64 range.
func TestAudit_WideWeights(t *testing.T) {
	f := line(t, 2, 1)
	c, err := FromWeights(2, 3, []float64{1, 1e-300, 5e-324, 1e-300, 1, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Audit(f, 0)
	want := 1073 * math.Ln2 // column 2: 2^-1074 against 1/2
	if err != nil || a.Lo > want || a.Hi < want || a.Hi-a.Lo > 1e-9 {
		t.Errorf("%v (%v), want %v", a, err, want)
	}
	big, err := FromWeights(2, 2, []float64{1e308, 1e308, 1e-308, 2e-308}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, _ = big.Audit(f, 0)
	if want := math.Log(1.5); math.Abs(a.Lo-want) > 1e-9 || math.Abs(a.Hi-want) > 1e-9 {
		t.Errorf("rows at opposite ends of the range: %v, want %v", a, want)
	}
}

// Release, Sampler and Prob speak of one law; lazy and dense agree draw by draw.
func TestChannel_ReleaseLaw(t *testing.T) {
	r := rng.Seeded(3)
	f := cloud(t, r, 12)
	c, lazy := expo(t, f, 8, false), expo(t, f, 8, true)
	count := make([]int, 12)
	s, err := lazy.Sampler(5)
	if err != nil {
		t.Fatal(err)
	}
	a, b, d := rng.Seeded(9), rng.Seeded(9), rng.Seeded(9)
	for range 200_000 {
		y, err := c.Release(a, 5)
		z, err2 := lazy.Release(b, 5)
		if v := s.Draw(d); y != z || y != v || err != nil || err2 != nil {
			t.Fatalf("dense %d, lazy %d, sampler %d, %v, %v", y, z, v, err, err2)
		}
		count[y]++
	}
	testkit.ChiSquare(t, count, c.Row(5, nil), 1e-6) // false-reject probability 1e-6
	for y := range 12 {
		if p := lazy.Prob(5, y); p != c.Prob(5, y) || p != c.Row(5, nil)[y] {
			t.Errorf("Prob(5, %d): lazy %v, dense %v", y, p, c.Prob(5, y))
		}
	}
	for range 100 { // the secure generator
		if y, err := c.Release(nil, 5); err != nil || y < 0 || y >= 12 {
			t.Fatal(y, err)
		}
		s.Draw(nil)
	}
}

func TestChannel_BadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	var value *fault.ValueError
	var size *fault.SizeError
	var memory *fault.MemoryError
	for _, c := range []struct {
		name   string
		n, m   int
		w      []float64
		log    bool
		target any
	}{
		{"NaN", 1, 2, []float64{1, nan}, false, &value},
		{"negative", 1, 2, []float64{1, -1}, false, &value},
		{"Inf", 1, 2, []float64{1, inf}, false, &value},
		{"log Inf", 1, 2, []float64{1, inf}, true, &value},
		{"log NaN", 1, 2, []float64{1, nan}, true, &value},
		{"short", 2, 2, []float64{1, 1, 1}, false, &size},
		{"long", 1, 2, []float64{1, 1, 1}, false, &size},
		{"no inputs", 0, 2, nil, false, &size},
	} {
		_, err := fromSlice("test", c.n, c.m, c.w, c.log, nil)
		if err == nil || !errors.As(err, c.target) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, w := range [][]float64{{0, 0, 1, 1}, {1, 1, 0, 0}} {
		if _, err := FromWeights(2, 2, w, nil); !errors.Is(err, fault.ErrEmpty) {
			t.Errorf("row without weight: %v", err)
		}
	}
	fill := func(int, []float64) {}
	if _, err := NewChannel(Rows{1 << 20, 1 << 20, true, fill}, nil); !errors.As(err, &memory) {
		t.Errorf("8 TiB: %v", err)
	}
	if _, err := NewChannel(Rows{0, 1, true, fill}, nil); !errors.Is(err, fault.ErrEmpty) {
		t.Errorf("empty: %v", err)
	}
	if _, err := NewChannel(Rows{1, 1, true, nil}, nil); !errors.Is(err, fault.ErrEmpty) {
		t.Errorf("no Fill: %v", err)
	}
	if _, err := NewChannel(Rows{1, 2, true, fill}, &ChannelOptions{Labels: []int{1}}); !errors.As(err, &size) {
		t.Errorf("labels: %v", err)
	}
	if _, err := NewChannel(Rows{1, 1, true, fill}, &ChannelOptions{Labels: []int{-1}}); !errors.As(err, &value) {
		t.Errorf("labels: %v", err)
	}
	c := expo(t, line(t, 3, 1), 1, false)
	for _, x := range []int{-1, 3} {
		if _, err := c.Release(nil, x); !errors.As(err, &value) {
			t.Errorf("Release(%d): %v", x, err)
		}
		if _, err := c.Sampler(x); !errors.As(err, &value) {
			t.Errorf("Sampler(%d): %v", x, err)
		}
	}
	for _, delta := range []float64{-1, 1, nan} {
		if _, err := c.Audit(line(t, 3, 1), delta); !errors.As(err, &value) {
			t.Errorf("delta %v: %v", delta, err)
		}
	}
	if _, err := c.Audit(line(t, 4, 1), 0); !errors.As(err, &size) {
		t.Errorf("audit against another space: %v", err)
	}
	if _, err := c.Loss(line(t, 4, 1)); !errors.As(err, &size) {
		t.Errorf("loss against another space: %v", err)
	}
	lazy, err := NewChannel(Rows{3, 2, false, func(x int, dst []float64) { dst[0], dst[1] = 1, float64(x)*nan }}, &ChannelOptions{Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lazy.Release(nil, 1); !errors.As(err, &value) {
		t.Errorf("bad lazy row: %v", err)
	}
	if _, err := lazy.Audit(line(t, 3, 1), 0); !errors.As(err, &value) {
		t.Errorf("bad lazy row: %v", err)
	}
	if p := lazy.Prob(1, 0); !math.IsNaN(p) {
		t.Errorf("bad lazy row: %v", p)
	}
}

func TestLosses(t *testing.T) {
	f := line(t, 3, 2)
	c, err := FromWeights(3, 2, []float64{1, 1, 3, 1, 0, 1}, &ChannelOptions{Labels: []int{0, 2}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := c.Loss(f)
	if err != nil || l[0] != 2 || l[1] != 2 || l[2] != 0 {
		t.Fatal(l, err)
	}
	if v, x := l.Worst(); v != 2 || x != 0 {
		t.Error(v, x)
	}
	if m, err := l.Mean([]float64{0.25, 0.25, 0.5}); m != 1 || err != nil {
		t.Error(m, err)
	}
	if m, _ := l.Mean(nil); math.Abs(m-4.0/3) > 1e-15 {
		t.Error(m)
	}
	for _, p := range [][]float64{{1}, {0.5, 0.5, 0.5}, {-1, 1, 1}, {math.NaN(), 0, 1}} {
		if _, err := l.Mean(p); err == nil {
			t.Errorf("prior %v accepted", p)
		}
	}
	long := make(Losses, 20)
	for i := range long {
		long[i] = float64(i)
	}
	for q, want := range map[float64]float64{0.95: 18, 1: 19, 0.01: 0, 0.5: 9} {
		if got, err := long.Quantile(q); got != want || err != nil {
			t.Errorf("quantile %v = %v (%v), want %v", q, got, err, want)
		}
	}
	if _, err := long.Quantile(0); err == nil {
		t.Error("quantile 0 accepted")
	}
	for x := range 3 {
		if v, err := c.LossAt(x, f); v != l[x] || err != nil {
			t.Error(v, err)
		}
	}
}

// The remap attains the least mean loss of all relabellings (brute force), and
// the posterior is Bayes' rule.
func TestRemap_IsOptimal(t *testing.T) {
	r := rng.Seeded(4)
	for range 30 {
		n := 4
		f := cloud(t, r, n)
		c := random(t, r, n, 3, true, 0)
		prior := []float64{0.1, 0.2, 0.3, 0.4}
		remap, err := c.Remap(prior, f)
		if err != nil {
			t.Fatal(err)
		}
		mean := func(labels []int) float64 {
			d, err := c.Relabel(labels)
			if err != nil {
				t.Fatal(err)
			}
			l, err := d.Loss(f)
			if err != nil {
				t.Fatal(err)
			}
			m, _ := l.Mean(prior)
			return m
		}
		best := math.Inf(1)
		for k := range n * n * n {
			best = min(best, mean([]int{k % n, k / n % n, k / n / n}))
		}
		if got := mean(remap); got > best+1e-12 {
			t.Errorf("remap %v has loss %v, the best %v", remap, got, best)
		}
		post, err := c.Posterior(prior, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for x := range n {
			sum += prior[x] * c.Prob(x, 1)
		}
		for x := range n {
			if want := prior[x] * c.Prob(x, 1) / sum; math.Abs(post[x]-want) > 1e-14 {
				t.Errorf("posterior %v, want %v", post[x], want)
			}
		}
	}
}

func BenchmarkAudit(b *testing.B) {
	r := rng.Seeded(5)
	f, err := metric.Densify(cloud(b, r, 1000))
	if err != nil {
		b.Fatal(err)
	}
	log := expo(b, f, 5, false)
	plain, err := NewChannel(Rows{1000, 1000, false, func(x int, dst []float64) { log.Row(x, dst) }}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		c     *Channel
		delta float64
	}{{"log", log, 0}, {"plain", plain, 0}, {"log-delta", log, 1e-3}, {"plain-delta", plain, 1e-6}} {
		b.Run(c.name+"/n=1000", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.c.Audit(f, c.delta); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRelease(b *testing.B) {
	r := rng.Seeded(6)
	for _, n := range []int{1000, 100_000} {
		c := expo(b, cloud(b, r, n), 5, true)
		b.Run("first/n="+itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Release(r, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
		s, err := c.Sampler(1)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("repeated/n="+itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Draw(r)
			}
		})
	}
}

func itoa(n int) string { return big.NewInt(int64(n)).String() }
