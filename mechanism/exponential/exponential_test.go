package exponential

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// on returns the finite metric with distance d(i, j) on n points.
func on(t testing.TB, n int, d func(i, j int) float64) *metric.Dense {
	t.Helper()
	var upper []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			upper = append(upper, d(i, j))
		}
	}
	f, err := metric.NewDense(n, upper)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func path(t testing.TB, n int, gap float64) *metric.Dense {
	return on(t, n, func(i, j int) float64 { return gap * float64(j-i) })
}

func cycle(t testing.TB, n int) *metric.Dense {
	return on(t, n, func(i, j int) float64 { return float64(min(j-i, n-j+i)) })
}

// halton returns the first n points of the Halton sequence in bases 2 and 3.
func halton(t testing.TB, n int) metric.Finite {
	t.Helper()
	digit := func(i, base int) float64 {
		v, f := 0.0, 1.0
		for ; i > 0; i /= base {
			f /= float64(base)
			v += f * float64(i%base)
		}
		return v
	}
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{digit(i+1, 2), digit(i+1, 3)}
	}
	p, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func worst(t testing.TB, m *Mechanism, f metric.Finite) float64 {
	t.Helper()
	l, err := m.Loss(f)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := l.Worst()
	return v
}

func near(a, b, rel float64) bool { return math.Abs(a-b) <= rel*math.Abs(b) }

// The table of MATH.md section 1.
func TestKnownAnswers_Table(t *testing.T) {
	for _, c := range []struct {
		name                                             string
		f                                                metric.Finite
		alpha, std, stdLevel, beta, tunedLoss, tightLoss float64
	}{
		{"path", path(t, 50, 1), 1, 1.91894159, 0.714023061, 0.778186562, 1.16395333, 0.850918128},
		{"path", path(t, 50, 1), 0.5, 3.91028046, 0.408941790, 0.318926531, 3.07437038, 1.91902528},
		{"Halton", halton(t, 50), 10, 0.295555169, 7.60738977, 7.08125745, 0.221261859, 0.170535534},
		{"Halton", halton(t, 50), 2, 0.581010570, 1.75267346, 1.14586957, 0.568938533, math.NaN()},
	} {
		s, err := Standard(c.f, c.alpha, nil)
		if err != nil {
			t.Fatal(err)
		}
		if l := worst(t, s, c.f); !near(l, c.std, 1e-8) || !near(s.Audit.Hi, c.stdLevel, 1e-8) || s.Guarantee().Alpha() != s.Audit.Hi {
			t.Errorf("%s %v: standard loss %.10g, level %.10g", c.name, c.alpha, l, s.Audit.Hi)
		}
		u, err := Tuned(c.f, c.alpha, nil)
		if err != nil {
			t.Fatal(err)
		}
		if l := worst(t, u, c.f); !near(l, c.tunedLoss, 1e-8) || !near(u.Beta, c.beta, 1e-8) || u.Audit.Hi > c.alpha || u.Audit.Hi < c.alpha*(1-1e-9) {
			t.Errorf("%s %v: tuned loss %.10g, beta %.10g, level %.17g", c.name, c.alpha, l, u.Beta, u.Audit.Hi)
		}
		w, err := Tight(c.f, c.alpha, nil)
		if math.IsNaN(c.tightLoss) {
			var negative *NegativeWeightError
			if !errors.As(err, &negative) || negative.Weight >= 0 {
				t.Errorf("%s %v: tight: %v, want a negative weight", c.name, c.alpha, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if l := worst(t, w, c.f); !near(l, c.tightLoss, 1e-8) || w.Audit.Hi > c.alpha || w.Audit.Hi < c.alpha*(1-1e-9) {
			t.Errorf("%s %v: tight loss %.10g, level %.17g", c.name, c.alpha, l, w.Audit.Hi)
		}
	}
}

func TestConstantNormaliser_Cycle(t *testing.T) {
	f := cycle(t, 20)
	m, err := ConstantNormaliser(f, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := worst(t, m, f); !near(l, 0.850464108, 1e-8) || m.Audit.Hi > 1 || m.Audit.Hi < 1-1e-12 {
		t.Errorf("loss %.10g, %v", l, m.Audit)
	}
	var normaliser *NormaliserError
	if _, err := ConstantNormaliser(path(t, 5, 1), 1, nil); !errors.As(err, &normaliser) {
		t.Errorf("path: %v", err)
	}
}

// From an independent C++ library's tests: ten points at gap 1.1, rate 0.9.
func TestKnownAnswers_IndependentLibrary(t *testing.T) {
	f := path(t, 10, 1.1)
	m, err := Standard(f, 0.9, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.64197307180467134; m.Audit.Lo > want+1e-14 || m.Audit.Hi < want-1e-14 || m.Audit.Hi-m.Audit.Lo > 1e-12 {
		t.Errorf("level %.17g..%.17g, want %v", m.Audit.Lo, m.Audit.Hi, want)
	}
}

// One point at distance 1 from K clustered ones: the factor 1/2 is tight.
func TestStandard_FactorTwoIsTight(t *testing.T) {
	// The cluster's K points at mutual distance 0 are one row each; K+1
	// outputs, weights e^-1/2 or 1.
	f := on(t, 11, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 0
	})
	m, err := Standard(f, 2, nil) // rate 1: the level per rate is the ratio
	if err != nil {
		t.Fatal(err)
	}
	if !near(m.Audit.Hi, 1.79567, 1e-5) {
		t.Errorf("level %v, want 1.79567", m.Audit.Hi)
	}
	// K = 10^6 through the weights: two rows tell the whole story.
	k := 1e6
	two, err := Weighted(path(t, 2, 1), 2, []float64{1, k}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !near(two.Audit.Hi, 1.999998, 1e-6) {
		t.Errorf("level %v, want 1.999998", two.Audit.Hi)
	}
}

// On a path with unit gaps the weights are tanh(alpha/2) inside and 1/(1+q) at
// the ends, and the mechanism is the truncated geometric one.
func TestTight_IsTruncatedGeometricOnALine(t *testing.T) {
	const n, alpha = 12, 0.7
	m, err := Tight(path(t, n, 1), alpha, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := math.Exp(-alpha)
	for x := range n {
		for y := range n {
			// Clamped two-sided geometric noise.
			want := (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(x-y)))
			if y == 0 || y == n-1 {
				want = math.Pow(q, math.Abs(float64(x-y))) / (1 + q)
			}
			if got := m.Prob(x, y); !near(got, want, 1e-10) {
				t.Fatalf("P(%d|%d) = %v, want %v", y, x, got, want)
			}
		}
	}
}

// On the discrete metric tight weights are the exponential mechanism with the
// budget doubled.
func TestTight_DoublesTheBudgetOnTheDiscreteMetric(t *testing.T) {
	f := on(t, 6, func(int, int) float64 { return 1 })
	m, err := Tight(f, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Standard(f, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for x := range 6 {
		for y := range 6 {
			if !near(m.Prob(x, y), s.Prob(x, y), 1e-12) {
				t.Errorf("P(%d|%d): tight %v, standard %v", y, x, m.Prob(x, y), s.Prob(x, y))
			}
		}
	}
}

// Every construction on random spaces, nets, weights and levels stays at or
// below its level, and a rate 10 % too large would be caught.
func TestEveryMethod_AuditsAtItsLevel(t *testing.T) {
	r := rng.Seeded(1)
	caught := 0
	for range 60 {
		n := 1 + r.IntN(25)
		pts := make([][]float64, n)
		for i := range pts {
			pts[i] = []float64{r.Float64(), r.Float64()}
			if i > 0 && r.IntN(4) == 0 {
				pts[i] = pts[r.IntN(i)] // duplicates
			}
		}
		f, err := metric.NewPoints(pts, metric.Euclidean{})
		if err != nil {
			t.Fatal(err)
		}
		alpha := math.Pow(10, 5*r.Float64()-2)
		var o *Options
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = math.Exp(4 * r.NormFloat64())
		}
		if r.IntN(2) == 0 {
			net, err := metric.Net(f, 0.2, nil)
			if err != nil {
				t.Fatal(err)
			}
			o = &Options{Net: net}
			weights = weights[:len(net)]
		}
		build := map[Method]func() (*Mechanism, error){
			MethodStandard: func() (*Mechanism, error) { return Standard(f, alpha, o) },
			MethodWeighted: func() (*Mechanism, error) { return Weighted(f, alpha, weights, o) },
			MethodTuned:    func() (*Mechanism, error) { return Tuned(f, alpha, o) },
			MethodTight:    func() (*Mechanism, error) { return Tight(f, alpha, nil) },
		}
		for method, b := range build {
			m, err := b()
			if method == MethodTight && inapplicable(err) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			a, err := m.Channel.Audit(f, 0) // again, not trusting the constructor
			if err != nil || a.Hi > alpha || m.Guarantee().Alpha() < a.Lo || m.Guarantee().Alpha() > alpha {
				t.Errorf("%s at %v: %v, guarantee %v (%v)", method, alpha, a, m.Guarantee(), err)
			}
			// Tuned and tight use the whole budget: a tenth more is visible.
			if (method == MethodTuned || method == MethodTight) && m.Beta < alpha && n > 1 {
				fam, _ := newFamily(method, f, alpha, nil, o.orDefault())
				c, err := fam.channel(m.Beta * 1.1)
				if err != nil {
					t.Fatal(err)
				}
				if a, _ := c.Audit(f, 0); a.Lo > alpha {
					caught++
				}
			}
		}
	}
	if caught < 10 {
		t.Errorf("a rate 10 %% too large was caught only %d times", caught)
	}
}

func TestStandard_LazyIsTheSameLaw(t *testing.T) {
	f := halton(t, 40)
	for _, net := range [][]int{nil, {3, 1, 20}} {
		lazy, err := Standard(f, 3, &Options{Lazy: true, Net: net, Unit: "km"})
		if err != nil {
			t.Fatal(err)
		}
		if g := lazy.Guarantee(); g.Alpha() != 3 || g.Unit() != "km" || g.Delta() != 0 {
			t.Error(g)
		}
		a, err := lazy.Channel.Audit(f, 0)
		if err != nil || a.Hi > 3 {
			t.Error(a, err)
		}
		count := make([]int, 40)
		r := rng.Seeded(2)
		for range 100_000 {
			y, err := lazy.Release(r, 7)
			if err != nil {
				t.Fatal(err)
			}
			count[y]++
		}
		p := make([]float64, 40)
		for y := range lazy.Outputs() {
			p[lazy.Output(y)] = lazy.Prob(7, y)
		}
		testkit.ChiSquare(t, count, p, 1e-6) // false-reject probability 1e-6
	}
}

// Without an audit the rate itself must be safe: on a space that nearly uses the
// factor 1/2 up, the lazy mechanism lies just below its level, and a rate 2 %
// larger would lie above.
func TestStandard_LazyRateIsSafeAndTight(t *testing.T) {
	f := on(t, 201, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 0
	})
	m, err := Standard(f, 2, &Options{Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := m.Channel.Audit(f, 0); err != nil || a.Hi > 2 || a.Lo < 2/1.02 {
		t.Errorf("%v (%v), want just below 2", a, err)
	}
}

// alpha*rho = 1e6, in the constructor's own audit.
func TestStandard_HugeExponent(t *testing.T) {
	m, err := Standard(path(t, 30, 1e5), 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Audit.Hi > 20 || m.Audit.Lo < 9.9 {
		t.Error(m.Audit)
	}
}

// Distances that are no metric are found out, whatever the constructor.
func TestConstructors_RefuseANonMetric(t *testing.T) {
	// 0 and 1 are close, 2 is near 0 and far from 1.
	f := on(t, 3, func(i, j int) float64 {
		switch {
		case i == 0 && j == 1:
			return 0.01
		case i == 0 && j == 2:
			return 1
		}
		return 9
	})
	var level *LevelError
	if _, err := Standard(f, 1, nil); !errors.As(err, &level) || level.Audit.X+level.Audit.XPrime != 1 {
		t.Errorf("Standard: %v", err)
	}
	zero := on(t, 3, func(i, j int) float64 { return float64(i) }) // d(0,1) = d(0,2) = 0, d(1,2) = 1
	if _, err := Standard(zero, 1, nil); !errors.As(err, &level) || !math.IsInf(level.Audit.Hi, 1) {
		t.Errorf("distance 0 to two points 1 apart: %v", err)
	}
}

func TestBest_TakesTheLeastLoss(t *testing.T) {
	f := halton(t, 30)
	for _, alpha := range []float64{0.01, 2, 20} {
		for _, o := range []*BestOptions{nil, {Criterion: Mean}, {Criterion: Mean, Remap: true}} {
			c, err := Best(metric.Same(f), alpha, o)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Candidates) != 5 || c.Guarantee().Alpha() > alpha {
				t.Errorf("%+v, %v", c.Candidates, c.Guarantee())
			}
			for _, k := range c.Candidates {
				if k.Loss < c.Objective {
					t.Errorf("alpha %v took %s (%v) over %s (%v)", alpha, c.Method, c.Objective, k.Method, k.Loss)
				}
			}
			losses, err := c.Loss(f)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := losses.Worst()
			if o != nil {
				want, _ = losses.Mean(nil)
			}
			if want != c.Objective {
				t.Errorf("stated loss %v, computed %v", c.Objective, want)
			}
		}
	}
	star := on(t, 9, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 2
	})
	c, err := Best(metric.Same(star), 1e-3, nil)
	if err != nil || c.Method != MethodConstant || c.Objective != 1 {
		t.Errorf("at a tiny level: %v, %v", c, err)
	}
}

func TestConstructors_BadInput(t *testing.T) {
	f := path(t, 4, 1)
	nan, inf := math.NaN(), math.Inf(1)
	var value *fault.ValueError
	var size *fault.SizeError
	for _, alpha := range []float64{0, -1, nan, inf} {
		for name, build := range map[string]func(metric.Finite, float64, *Options) (*Mechanism, error){
			"Standard": Standard, "Tuned": Tuned, "ConstantNormaliser": ConstantNormaliser, "Tight": Tight,
		} {
			if _, err := build(f, alpha, nil); !errors.As(err, &value) || value.Arg != "alpha" {
				t.Errorf("%s(alpha = %v): %v", name, alpha, err)
			}
		}
		if _, err := Best(metric.Same(f), alpha, nil); !errors.As(err, &value) {
			t.Errorf("Best(alpha = %v): %v", alpha, err)
		}
	}
	for _, net := range [][]int{{}, {4}, {-1}} {
		if _, err := Standard(f, 1, &Options{Net: net}); err == nil {
			t.Errorf("net %v accepted", net)
		}
	}
	for _, w := range [][]float64{{1, 1, 1}, {1, 1, 1, 0}, {1, 1, 1, nan}, {1, 1, 1, inf}, {1, 1, -1, 1}} {
		if _, err := Weighted(f, 1, w, nil); !errors.As(err, &value) && !errors.As(err, &size) {
			t.Errorf("weights %v: %v", w, err)
		}
	}
	for _, build := range []func(metric.Finite, float64, *Options) (*Mechanism, error){Tuned, Tight, ConstantNormaliser} {
		if _, err := build(f, 1, &Options{Lazy: true}); err == nil {
			t.Error("Lazy accepted")
		}
	}
	if _, err := Weighted(f, 1, []float64{1, 1, 1, 1}, &Options{Lazy: true}); err == nil {
		t.Error("Weighted accepted Lazy")
	}
	if _, err := Tight(f, 1, &Options{Net: []int{0}}); err == nil {
		t.Error("Tight accepted a net")
	}
	if _, err := Tight(f, 1e-14, nil); !errors.Is(err, ErrSingular) {
		t.Errorf("Tight at a tiny level: %v", err)
	}
	for _, p := range []int{-1, 4} {
		if _, err := Constant(4, p, ""); !errors.As(err, &value) {
			t.Errorf("Constant(%d): %v", p, err)
		}
	}
	if _, err := Best(metric.Bimetric{Privacy: f}, 1, nil); err == nil {
		t.Error("half a bimetric space accepted")
	}
	if _, err := Best(metric.Same(f), 1, &BestOptions{Prior: []float64{1}}); err == nil {
		t.Error("short prior accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Tuned(f, 1, &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	single, err := Best(metric.Same(path(t, 1, 1)), 1, nil)
	if err != nil || single.Objective != 0 {
		t.Errorf("one point: %v %v", single, err)
	}
}

// The rejection sampler on a finite space has the exact law, and its failure
// probability stays below the stated delta.
func TestBaseMeasure_Law(t *testing.T) {
	draw := func(r *rand.Rand) float64 { return float64(r.IntN(5)) / 4 }
	cfg := BaseMeasure[float64, float64]{
		Map:       func(x float64) (float64, error) { return x, nil },
		Lipschitz: 1,
		Sigma:     metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }),
		Draw:      draw,
		Beta:      3,
		Unit:      "m",
	}
	m, err := NewBaseMeasure(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if g := m.Guarantee(); g.Alpha() != 6 || g.Delta() != 0 || g.Unit() != "m" {
		t.Error(g)
	}
	p := make([]float64, 5)
	z := 0.0
	for y := range p {
		p[y] = math.Exp(-3 * math.Abs(0.3-float64(y)/4))
		z += p[y]
	}
	for y := range p {
		p[y] /= z
	}
	r := rng.Seeded(3)
	count := make([]int, 5)
	for range 200_000 {
		y, err := m.Release(r, 0.3)
		if err != nil {
			t.Fatal(err)
		}
		count[int(4*y)]++
	}
	testkit.ChiSquare(t, count, p, 1e-6) // false-reject probability 1e-6

	cfg.MaxDraws, cfg.MinMass = 4, z/5
	bounded, err := NewBaseMeasure(cfg)
	if err != nil {
		t.Fatal(err)
	}
	delta := math.Pow(1-z/5, 4)
	if g := bounded.Guarantee(); !near(g.Delta(), delta, 1e-12) || g.Delta() < delta*(1-1e-15) {
		t.Errorf("%v, want delta %v", g, delta)
	}
	failed := 0
	for range 100_000 {
		if _, err := bounded.Release(r, 0.3); errors.Is(err, ErrExhausted) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	// Binomial: five standard deviations, false-reject probability below 1e-6.
	if f := float64(failed) / 1e5; math.Abs(f-delta) > 5*math.Sqrt(delta/1e5) {
		t.Errorf("failed with frequency %v, want %v", f, delta)
	}

	for name, change := range map[string]func(*BaseMeasure[float64, float64]){
		"beta":      func(b *BaseMeasure[float64, float64]) { b.Beta = 0 },
		"NaN":       func(b *BaseMeasure[float64, float64]) { b.Beta = math.NaN() },
		"lipschitz": func(b *BaseMeasure[float64, float64]) { b.Lipschitz = -1 },
		"mass":      func(b *BaseMeasure[float64, float64]) { b.MinMass = 0 },
		"mass > 1":  func(b *BaseMeasure[float64, float64]) { b.MinMass = 1.5 },
		"draws":     func(b *BaseMeasure[float64, float64]) { b.MaxDraws = -1 },
		"no map":    func(b *BaseMeasure[float64, float64]) { b.Map = nil },
		"no draw":   func(b *BaseMeasure[float64, float64]) { b.Draw = nil },
		"hopeless":  func(b *BaseMeasure[float64, float64]) { b.MinMass = 1e-300 },
	} {
		bad := cfg
		change(&bad)
		if _, err := NewBaseMeasure(bad); err == nil {
			t.Errorf("%s accepted", name)
		}
	}
	if _, err := m.Release(r, math.NaN()); err == nil {
		t.Error("NaN released")
	}
}

func BenchmarkStandard(b *testing.B) {
	f := halton(b, 1000)
	b.Run("build/n=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fam, err := newFamily(MethodStandard, f, 5, nil, &Options{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := fam.channel(2.5); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("build+audit/n=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Standard(f, 5, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkTuned(b *testing.B) {
	f := halton(b, 1000)
	for b.Loop() {
		if _, err := Tuned(f, 5, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTight(b *testing.B) {
	f := halton(b, 1000)
	for b.Loop() {
		if _, err := Tight(f, 60, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// A first release without any matrix.
func BenchmarkFirstRelease(b *testing.B) {
	f := halton(b, 100_000)
	r := rng.Seeded(4)
	b.Run("n=100000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m, err := Standard(f, 5, &Options{Lazy: true})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := m.Release(r, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}
