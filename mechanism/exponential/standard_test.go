package exponential

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// One point at distance 1 from K clustered ones: the factor 1/2 is tight.
func TestStandard_FactorTwoIsTight(t *testing.T) {
	// The cluster's K points at mutual distance 0 are one row each; K+1 outputs, weights e^-1/2 or 1.
	f := space.Func(11, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 0
	})
	m := testkit.Must(Standard(t.Context(), f, 2, nil))
	if !near(m.Audited.Hi, 1.79567, 1e-5) {
		t.Errorf("level %v, want 1.79567", m.Audited.Hi)
	}
	// K = 10^6 through the weights: two rows tell the whole story.
	k := 1e6
	two := testkit.Must(Weighted(t.Context(), space.Path(2, 1), 2, []float64{1, k}, nil))
	if !near(two.Audited.Hi, 1.999998, 1e-6) {
		t.Errorf("level %v, want 1.999998", two.Audited.Hi)
	}
}

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
