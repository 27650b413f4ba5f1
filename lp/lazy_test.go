package lp

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// lazily solves with the lazy engine at any size.
func lazily(t testing.TB, b metric.Bimetric, alpha float64, o *Options) *Solution {
	t.Helper()
	p := testkit.Must(read(t.Context(), "lp: Optimal", b, alpha, o))
	g := p.merge(p.o.Tolerance / mergeShare)
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	g.plan = testkit.Must(ipm.Lazily(t.Context(), &g.prog))
	s := &Solution{Prior: distribution(p.o.Prior, p.n)}
	s.keep(testkit.Must(p.constant(t.Context())))
	if err := g.solve(s, time.Now()); err != nil {
		t.Fatal(err)
	}
	return s
}

// Both engines bracket one optimum: points of the plane and random metrics, one
// metric and two, worst case and mean, small budgets and large.
func TestLazy_AgreesWithDense(t *testing.T) {
	r := random.Seeded(7)
	for i, n := range []int{2, 3, 5, 16, 20, 32, 50} {
		if n > testkit.Sweep(20, 50) {
			continue
		}
		space := func(i int) metric.Finite {
			if i%2 == 0 {
				return randomMetric(t, r, n)
			}
			return space.Halton(n)
		}
		for _, alpha := range []float64{.4, 4, 40} {
			b := metric.Bimetric{Privacy: space(i), Utility: space(i + int(alpha)%3)}
			var prior []float64
			if alpha == 4 {
				prior = distribution(nil, n)
			}
			const tolerance = 1e-5
			o := &Options{Tolerance: tolerance, Prior: prior}
			dense := testkit.Must(Optimal(t.Context(), b, alpha, o))
			lazy := lazily(t, b, alpha, o)
			certified(t, b, alpha, prior, lazy)
			if lazy.Gap > tolerance {
				t.Errorf("n=%d, alpha=%v: lazy %v", n, alpha, lazy)
			}
			if lazy.DualBound > dense.Objective || dense.DualBound > lazy.Objective {
				t.Errorf("n=%d, alpha=%v: lazy %v, dense %v", n, alpha, lazy, dense)
			}
		}
	}
}

// prepared is the program of b with no inputs merged but those at distance 0.
func prepared(t *testing.T, b metric.Bimetric, alpha float64, o *Options) *merged {
	t.Helper()
	p := testkit.Must(read(t.Context(), "lp: Optimal", b, alpha, o))
	g := p.merge(0)
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	return g
}

// response is randomized response between two points at the level alpha, as
// columns.
func response(alpha float64) []float64 {
	p := 1 / (1 + math.Exp(-alpha))
	return []float64{p, 1 - p, 1 - p, p}
}

// What is mixed in makes the constraints hold, and a tenth less does not.
func TestMixture_IsTheLeast(t *testing.T) {
	const k, m = 3, 3
	r := random.Seeded(3)
	g := prepared(t, metric.Same(space.Simplex(k, .2)), 1, nil)
	for range 100 {
		x := make([]float64, k*m)
		for i := range x {
			x[i] = r.ExpFloat64()
		}
		x = normalized(k, x) // whose rows break some constraints
		theta := testkit.Must(g.mixture(x, 0))
		breach := func(theta float64) float64 {
			worst := 0.0
			for w := range m {
				for u := range k {
					for v := range k {
						a, b := (1-theta)*x[w*k+u]+theta/m, (1-theta)*x[w*k+v]+theta/m
						worst = max(worst, a/b/math.Exp(.2)-1)
					}
				}
			}
			return worst
		}
		if theta > 0 && (breach(theta) > 1e-14 || breach(.9*theta) < 1e-4) {
			t.Errorf("theta %v breaks by %v, nine tenths of it by %v", theta, breach(theta), breach(.9*theta))
		}
	}
}

// Columns whose level is above alpha by whatever little are mended.
func TestRepair_LevelIsAtMostAlpha(t *testing.T) {
	const alpha = .7
	g := prepared(t, metric.Same(space.Path(2, 1)), alpha, nil)
	for _, excess := range []float64{1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0} {
		x := response(alpha * (1 + excess))
		r, err := g.repair(x)
		if err != nil || r == nil || r.audit.Hi > alpha || r.channel.Guarantee().Alpha() != r.audit.Hi {
			t.Errorf("excess %v: %+v, %v", excess, r, err)
		}
	}
}

// Whatever columns a solver returns, what is released keeps alpha and loses no
// more than is said, or nothing is released.
func TestRepair_Garbage(t *testing.T) {
	const n = 6
	b := metric.Same(space.Halton(n))
	r := random.Seeded(4)
	for _, alpha := range []float64{1e-9, 1, 40, 2000} {
		for name, entry := range map[string]func(w, u int) float64{
			"any size":      func(int, int) float64 { return math.Exp(50 * r.NormFloat64()) },
			"identity":      func(w, u int) float64 { return float64(max(0, 1-max(w-u, u-w))) },
			"zeros":         func(int, int) float64 { return float64(r.IntN(2)) },
			"nothing":       func(int, int) float64 { return 0 },
			"subnormal":     func(int, int) float64 { return 5e-324 * float64(1+r.IntN(3)) },
			"huge":          func(int, int) float64 { return 1e307 * r.Float64() },
			"negative":      func(int, int) float64 { return r.Float64() - .5 },
			"NaN":           func(w, u int) float64 { return []float64{1, math.NaN()}[min(1, w*u)] },
			"infinite":      func(w, u int) float64 { return []float64{1, math.Inf(1)}[min(1, w*u)] },
			"short of 1":    func(int, int) float64 { return 1e-3 * r.Float64() },
			"an ulp off":    func(int, int) float64 { return 1. / n * (1 + 0x1p-52*float64(r.IntN(3))) },
			"one output":    func(w, u int) float64 { return float64(max(0, 1-w)) },
			"close to that": func(w, u int) float64 { return math.Exp(-300 * float64(w) * r.Float64()) },
		} {
			g := prepared(t, b, alpha, nil)
			x := make([]float64, n*n)
			for w := range n {
				for u := range n {
					x[w*n+u] = entry(w, u)
				}
			}
			s := &Solution{}
			if c, err := g.repair(x); err == nil {
				s.keep(c)
			}
			if s.Channel == nil {
				continue
			}
			a, err := s.Audit(t.Context(), b.Privacy, nil)
			if err != nil || a != s.Audited || a.Hi > alpha || s.Channel.Guarantee().Alpha() != a.Hi {
				t.Errorf("%s, alpha=%v: %v, audited again %v, %v", name, alpha, s.Audited, a, err)
			}
			if loss := lossOf(t, s.Channel, b.Utility, nil); loss > s.Objective*(1+1e-11) {
				t.Errorf("%s, alpha=%v: loss %v, objective %v", name, alpha, loss, s.Objective)
			}
		}
	}
}

// Neither tuning nor the choice takes a channel whose level is above alpha, by
// however little.
func TestTuning_TakesNoLevelAboveAlpha(t *testing.T) {
	testkit.Rounding(t)
	line := metric.Same(space.Path(2, 1))
	for _, excess := range []float64{1e-3, 1e-9, 1e-12} {
		// ConstOPT: the program is the same, alpha is not.
		c := testkit.Must(newConst(t.Context(), line, 1, &ConstOptions{Lambdas: []float64{10}}))
		if err := c.impose(); err != nil {
			t.Fatal(err)
		}
		c.kernel.Lambda = 10
		free := &ConstSolution{Objective: math.Inf(1)}
		if _, err := c.try(free, 1, 10, time.Now()); err != nil || free.Channel == nil {
			t.Fatal(free, err)
		}
		c.alpha = free.Audited.Hi * (1 - excess)
		s := &ConstSolution{Objective: math.Inf(1)}
		if level, err := c.try(s, 1, 10, time.Now()); err != nil || level <= 1 || s.Channel != nil {
			t.Errorf("ConstOPT, excess %v: level %v, %v, %v", excess, level, s, err)
		}

		// Spanner: randomized response has the level of its budget.
		o := testkit.Must((&Options{Tolerance: 1e-7}).defaults("lp: Spanner", line, 1))
		graph := testkit.Must(metric.Spanner(t.Context(), line.Privacy, 3))
		search := &spannerSearch{b: line, alpha: 1, o: o, graph: graph, short: 1, p: testkit.Must(read(t.Context(), "test", line, 1, nil))}
		search.best.Objective = math.Inf(1)
		level, err := search.solve(t.Context(), 1)
		if err != nil || search.best.Channel == nil {
			t.Fatal(search.best, err)
		}
		search.best = SpannerSolution{Solution: Solution{Objective: math.Inf(1)}}
		level, err = search.solve(t.Context(), (1+excess)/level)
		if err != nil || level <= 1 || level > 1+2*excess || search.best.Channel != nil {
			t.Errorf("Spanner, excess %v: level %v, %v, %v", excess, level-1, search.best.Channel, err)
		}

		// Choose.
		choice := testkit.Must(newChooser(t.Context(), "test", line, 1, nil))
		choice.try(builder{exponential.MethodTuned, 0, func(context.Context) (*exponential.Mechanism, error) {
			return exponential.Tuned(t.Context(), line.Privacy, 1+2*excess, nil)
		}})
		if k := choice.choice.Candidates[0]; choice.choice.Channel != nil || k.Err == nil {
			t.Errorf("Choose, excess %v: %v", excess, k)
		}
	}
}
