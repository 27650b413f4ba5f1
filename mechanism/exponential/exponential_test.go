package exponential

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Losses, levels and rates to nine digits, computed apart.
func TestKnownAnswers_Table(t *testing.T) {
	testkit.Rounding(t)
	for _, c := range []struct {
		name                                             string
		f                                                metric.Finite
		alpha, std, stdLevel, beta, tunedLoss, tightLoss float64
	}{
		{"path", space.Path(50, 1), 1, 1.91894159, 0.714023061, 0.778186562, 1.16395333, 0.850918128},
		{"path", space.Path(50, 1), 0.5, 3.91028046, 0.408941790, 0.318926531, 3.07437038, 1.91902528},
		{"Halton", space.Halton(50), 10, 0.295555169, 7.60738977, 7.08125745, 0.221261859, 0.170535534},
		{"Halton", space.Halton(50), 2, 0.581010570, 1.75267346, 1.14586957, 0.568938533, math.NaN()},
	} {
		s := testkit.Must(Standard(t.Context(), c.f, c.alpha, nil))
		if l := worst(t, s, c.f); !near(l, c.std, 1e-8) || !near(s.Audited.Hi, c.stdLevel, 1e-8) || s.Guarantee().Alpha() != s.Audited.Hi {
			t.Errorf("%s %v: standard loss %.10g, level %.10g", c.name, c.alpha, l, s.Audited.Hi)
		}
		u := testkit.Must(Tuned(t.Context(), c.f, c.alpha, nil))
		if l := worst(t, u, c.f); !near(l, c.tunedLoss, 1e-8) || !near(u.Beta, c.beta, 1e-8) || u.Audited.Hi > c.alpha || u.Audited.Hi < c.alpha*(1-1e-9) {
			t.Errorf("%s %v: tuned loss %.10g, beta %.10g, level %.17g", c.name, c.alpha, l, u.Beta, u.Audited.Hi)
		}
		w, err := Tight(t.Context(), c.f, c.alpha, nil)
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
		if l := worst(t, w, c.f); !near(l, c.tightLoss, 1e-8) || w.Audited.Hi > c.alpha || w.Audited.Hi < c.alpha*(1-1e-9) {
			t.Errorf("%s %v: tight loss %.10g, level %.17g", c.name, c.alpha, l, w.Audited.Hi)
		}
	}
}

// On a cycle all weights are the same: the exponential mechanism at the full rate.
func TestTight_IsExponentialOnACycle(t *testing.T) {
	testkit.Rounding(t)
	f := cycle(20)
	m := testkit.Must(Tight(t.Context(), f, 1, nil))
	if l := worst(t, m, f); !near(l, 0.850464108, 1e-8) || m.Audited.Hi > 1 || m.Audited.Hi < 1-1e-12 {
		t.Errorf("loss %.10g, %v", l, m.Audited)
	}
	for y := range 20 {
		if got, want := m.Prob(0, y)/m.Prob(0, 0), math.Exp(-f.Distance(0, y)); !near(got, want, 1e-10) {
			t.Errorf("P(%d|0) is %v of P(0|0), want %v", y, got, want)
		}
	}
}

// From an independent C++ library's tests: ten points at gap 1.1, rate 0.9.
func TestKnownAnswers_IndependentLibrary(t *testing.T) {
	f := space.Path(10, 1.1)
	m := testkit.Must(Standard(t.Context(), f, 0.9, nil))
	if want := 0.64197307180467134; m.Audited.Lo > want+1e-14 || m.Audited.Hi < want-1e-14 || m.Audited.Hi-m.Audited.Lo > 1e-12 {
		t.Errorf("level %.17g..%.17g, want %v", m.Audited.Lo, m.Audited.Hi, want)
	}
}

// Every construction on random spaces, nets, weights and levels stays at or
// below its level, and a rate 10 % too large would be caught.
func TestEveryMethod_AuditsAtItsLevel(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(1)
	caught := 0
	for range 60 {
		n := 1 + r.IntN(25)
		f := randomPoints(t, r, n)
		alpha := math.Pow(10, 5*r.Float64()-2)
		var o *Options
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = math.Exp(4 * r.NormFloat64())
		}
		if r.IntN(2) == 0 {
			net := testkit.Must(metric.Net(t.Context(), f, 0.2, nil))
			o = &Options{Outputs: net}
			weights = weights[:len(net)]
		}
		build := map[Method]func() (*Mechanism, error){
			MethodStandard: func() (*Mechanism, error) { return Standard(t.Context(), f, alpha, o) },
			MethodWeighted: func() (*Mechanism, error) { return Weighted(t.Context(), f, alpha, weights, o) },
			MethodTuned:    func() (*Mechanism, error) { return Tuned(t.Context(), f, alpha, o) },
			MethodTight:    func() (*Mechanism, error) { return Tight(t.Context(), f, alpha, nil) },
		}
		for method, b := range build {
			m, err := b()
			if negative := new(NegativeWeightError); method == MethodTight && (errors.As(err, &negative) || errors.Is(err, ErrSingular)) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			a, err := m.Audit(t.Context(), f, nil) // again, not trusting the constructor
			if err != nil || a.Hi > alpha || m.Guarantee().Alpha() < a.Lo || m.Guarantee().Alpha() > alpha {
				t.Errorf("%s at %v: %v, guarantee %v (%v)", method, alpha, a, m.Guarantee(), err)
			}
			// Tuned and tight use the whole budget: a tenth more is visible.
			if (method == MethodTuned || method == MethodTight) && m.Beta < alpha && n > 1 {
				fam, _ := newFamily("", method, f, alpha, o)
				c := testkit.Must(fam.channel(t.Context(), m.Beta*1.1))
				if a, _ := c.Audit(t.Context(), f, nil); a.Lo > alpha {
					caught++
				}
			}
		}
	}
	if caught < 10 {
		t.Errorf("a rate 10 %% too large was caught only %d times", caught)
	}
}

// Distances that are no metric are found out, whatever the constructor.
func TestConstructors_RefuseANonMetric(t *testing.T) {
	// 0 and 1 are close, 2 is near 0 and far from 1.
	f := space.Func(3, func(i, j int) float64 {
		switch {
		case i == 0 && j == 1:
			return 0.01
		case i == 0 && j == 2:
			return 1
		}
		return 9
	})
	var level *LevelError
	if _, err := Standard(t.Context(), f, 1, nil); !errors.As(err, &level) || level.Audited.X+level.Audited.XPrime != 1 {
		t.Errorf("Standard: %v", err)
	}
	zero := space.Func(3, func(i, j int) float64 { return float64(i) }) // d(0,1) = d(0,2) = 0, d(1,2) = 1
	if _, err := Standard(t.Context(), zero, 1, nil); !errors.As(err, &level) || !math.IsInf(level.Audited.Hi, 1) {
		t.Errorf("distance 0 to two points 1 apart: %v", err)
	}
}

// builders are the constructors of one metric and a level.
var builders = map[string]builder{
	"Standard": tuning(Standard),
	"Tuned":    tuning(Tuned),
	"Weighted": func(ctx context.Context, f metric.Finite, alpha float64, u metric.Unit) (*Mechanism, error) {
		return Weighted(ctx, f, alpha, slices.Repeat([]float64{1}, f.Len()), &Options{Unit: u})
	},
	"Tight": func(ctx context.Context, f metric.Finite, alpha float64, u metric.Unit) (*Mechanism, error) {
		return Tight(ctx, f, alpha, &TightOptions{Unit: u})
	},
	"Lazy": func(ctx context.Context, f metric.Finite, alpha float64, u metric.Unit) (*Mechanism, error) {
		return Lazy(ctx, f, alpha, &LazyOptions{Unit: u})
	},
	"Relaxed": func(ctx context.Context, f metric.Finite, alpha float64, u metric.Unit) (*Mechanism, error) {
		m, err := Relaxed(ctx, metric.Same(f), alpha, &RelaxedOptions{Unit: u})
		return &cmp.Or(m, &RelaxedMechanism{}).Mechanism, err
	},
	"Best": func(ctx context.Context, f metric.Finite, alpha float64, u metric.Unit) (*Mechanism, error) {
		m, err := Best(ctx, metric.Same(f), alpha, &BestOptions{Unit: u})
		return &cmp.Or(m, &Choice{}).Mechanism, err
	},
}

type builder = func(context.Context, metric.Finite, float64, metric.Unit) (*Mechanism, error)

func tuning(build func(context.Context, metric.Finite, float64, *Options) (*Mechanism, error)) builder {
	return func(ctx context.Context, f metric.Finite, alpha float64, u metric.Unit) (*Mechanism, error) {
		return build(ctx, f, alpha, &Options{Unit: u})
	}
}

// Every constructor takes the unit of its metric, and refuses another.
func TestConstructors_TakeTheUnitOfTheMetric(t *testing.T) {
	globe := testkit.Must(metric.NewPoints([]metric.LatLon{{}, {Lat: 90}}, metric.GreatCircle{}))
	for name, build := range builders {
		for _, u := range []metric.Unit{"", "km"} {
			if m, err := build(t.Context(), globe, 1, u); err != nil || m.Guarantee().Unit() != "km" {
				t.Errorf("%s, unit %q: %v (%v)", name, u, m, err)
			}
		}
		if _, err := build(t.Context(), globe, 1, "m"); !errors.Is(err, mechanism.ErrUnit) || !strings.HasPrefix(err.Error(), "exponential: "+name+": ") {
			t.Errorf("%s: %v", name, err)
		}
		if m, err := build(t.Context(), space.Path(2, 1), 1, "step"); err != nil || m.Guarantee().Unit() != "step" {
			t.Errorf("%s: %v (%v)", name, m, err)
		}
	}
}

// A distance that is none is an error of the constructor that was called.
func TestConstructors_NameTheDistance(t *testing.T) {
	for name, build := range builders {
		for _, d := range []float64{math.NaN(), -1, math.Inf(1)} {
			_, err := build(t.Context(), distances{d}, 1, "")
			if err == nil || !strings.HasPrefix(err.Error(), "exponential: "+name+": ") {
				t.Errorf("%s(%v): %v", name, d, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Errors name the call, the argument, the value and what was wanted.
func TestErrors(t *testing.T) {
	ctx, nan := t.Context(), math.NaN()
	f, u := space.Path(4, 1), randomUltrametric(t, random.Seeded(25), 4)
	half := metric.Bimetric{Privacy: f}
	for want, err := range map[string]error{
		"Standard: alpha = 0, want a finite number > 0":                    second(Standard(ctx, f, 0, nil)),
		"Standard: Outputs: empty input":                                   second(Standard(ctx, f, 1, &Options{Outputs: []int{}})),
		"Standard: Outputs[1] = 4, want an index in [0, 4)":                second(Standard(ctx, f, 1, &Options{Outputs: []int{0, 4}})),
		"Standard: the space: empty input":                                 second(Standard(ctx, nil, 1, nil)),
		"Weighted: alpha = NaN":                                            second(Weighted(ctx, f, nan, nil, nil)),
		"Weighted: weights has size 3, want 4":                             second(Weighted(ctx, f, 1, []float64{1, 1, 1}, nil)),
		"Weighted: weights[1] = 0, want a finite number > 0":               second(Weighted(ctx, f, 1, []float64{1, 0, 1, 1}, nil)),
		"Tight: exp(-alpha*rho) is singular":                               second(Tight(ctx, f, 1e-14, nil)),
		"Lazy: alpha = -1":                                                 second(Lazy(ctx, f, -1, nil)),
		"Constant: n: empty input":                                         second(Constant(0, 0, "")),
		"Constant: point = 4, want an index in [0, 4)":                     second(Constant(4, 4, "")),
		"Best: alpha = +Inf":                                               second(Best(ctx, metric.Same(f), math.Inf(1), nil)),
		"Best: Prior has size 1, want 4":                                   second(Best(ctx, metric.Same(f), 1, &BestOptions{Prior: []float64{1}})),
		"Best: Remap: want a Prior":                                        second(Best(ctx, metric.Same(f), 1, &BestOptions{Remap: true})),
		"Best: Outputs[0] = -1":                                            second(Best(ctx, metric.Same(f), 1, &BestOptions{Outputs: []int{-1}})),
		"Relaxed: alpha = NaN":                                             second(Relaxed(ctx, metric.Same(f), nan, nil)),
		"Relaxed: Separation = -1":                                         second(Relaxed(ctx, metric.Same(f), 1, &RelaxedOptions{Separation: -1})),
		"Relaxed: Candidates = -1":                                         second(Relaxed(ctx, metric.Same(f), 1, &RelaxedOptions{Candidates: -1})),
		"Relaxed: Prior has size 1, want 4":                                second(Relaxed(ctx, metric.Same(f), 1, &RelaxedOptions{Prior: []float64{1}})),
		"Relaxed: Outputs: empty input":                                    second(Relaxed(ctx, metric.Same(f), 1, &RelaxedOptions{Outputs: []int{}})),
		"Relaxed: Accuracy: Outputs must list every point":                 second(Relaxed(ctx, metric.Same(u), 1, &RelaxedOptions{Outputs: []int{1, 2}, Accuracy: true})),
		"Relaxed: Accuracy: Separation 1e-100 is below the entropic scale": second(Relaxed(ctx, metric.Same(u), 1e-3, &RelaxedOptions{Separation: 1e-100, Accuracy: true})),
		"Mechanism.Release: a Mechanism comes from Standard":               second(new(Mechanism).Release(nil, 0)),
		"standard: audited level 2 exceeds alpha = 1 between points 0 and": &LevelError{MethodStandard, 1, mechanism.Audit{Hi: 2}},
		"standard: alpha = 1 is below what an audit in float64":            &LevelError{MethodStandard, 1, mechanism.Audit{Hi: 2, X: -1}},
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "exponential: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for name, err := range map[string]error{
		"Best": second(Best(ctx, half, 1, nil)), "Relaxed": second(Relaxed(ctx, half, 1, nil)),
	} {
		if !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("%s: half a space: %v", name, err)
		}
	}
	if a := (*Mechanism)(nil).Guarantee().Alpha(); !math.IsInf(a, 1) {
		t.Errorf("nil promises %v", a)
	}
	single, err := Best(ctx, metric.Same(space.Path(1, 1)), 1, nil)
	if err != nil || single.Objective != 0 {
		t.Errorf("one point: %v %v", single, err)
	}
}

// Every constructor ends with its context, and Best tells of all audits.
func TestConstructors_EndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, build := range builders {
		if _, err := build(ctx, space.Path(40, 1), 1, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	told := map[Method]bool{}
	c := testkit.Must(Best(t.Context(), metric.Same(space.Path(4, 1)), 1, &BestOptions{Progress: func(m Method, done, total int) { told[m] = told[m] || done == total }}))
	for _, k := range c.Candidates {
		if told[k.Method] != (k.Err == nil && k.Method != MethodConstant) {
			t.Errorf("%v: told %v", k, told[k.Method])
		}
	}
}
