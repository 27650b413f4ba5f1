package irc24

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
)

func TestExhibits_Hold(t *testing.T) {
	exhibittest.Hold(t, Exhibits, []string{"IRC24/thm4.4", "IRC24/reduction"}, "irc24-linear.png", "irc24-gaussian.png", "irc24-frequency.png")
}

// The known roots, and the lemma's c, of four cases.
func TestSampling_KnownAnswers(t *testing.T) {
	for p, want := range map[sampling][2]float64{
		{100, 0.01, 1e-6}:    {0.097346139, 0.438607},
		{1000, 0.01, 1e-12}:  {0.041200682, 0.107035},
		{1000, 0.1, 1e-6}:    {0.15332311, 0.282868},
		{10_000, 0.1, 1e-12}: {0.12301689, 0.249711},
	} {
		if got := p.chernoff(); math.Abs(got-want[0]) > 1e-8 {
			t.Errorf("%+v: root %v, want %v", p, got, want[0])
		}
		if got := p.lemma(3 / float64(p.s)); math.Abs(got-want[1]) > 1e-6 {
			t.Errorf("%+v: lemma %v, want %v", p, got, want[1])
		}
	}
}

// The tail of three draws: more than half of them, and more than all.
func TestSampling_Tail(t *testing.T) {
	p := sampling{s: 3, r: 0.25}
	if got, want := p.tail(0.5), (3*3+1)/64.; math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := p.tail(1); got != 0 {
		t.Errorf("%v beyond all", got)
	}
}

// An item of randomized response moves by (90 e^-2 + 0.9 e^-0.2)/Z on average.
func TestMovedBy_ClosedForm(t *testing.T) {
	got := movedBy(rand.New(rand.NewPCG(1, 2)), 2, 40_000)
	near, far := 9*math.Exp(-0.2), 90*math.Exp(-2)
	// A mean of 40,000 numbers in [0,1] is off by .015 with probability below 1e-7.
	if want := (far + 0.1*near) / (1 + near + far); math.Abs(got-want) > 0.015 {
		t.Errorf("%v, want %v", got, want)
	}
}

// The example of Section 4, 1e5 users of 1,000 items each, and one user alone.
func TestTheorem44_KnownAnswers(t *testing.T) {
	near := func(what string, got, want, tol float64) {
		t.Helper()
		if math.Abs(got/want-1) > tol {
			t.Errorf("%s = %.13g, want %.13g", what, got, want)
		}
	}
	near("alpha0 of a thousand records", theorem44{1000, 1000}.budget(25, 1e-12), 0.0249678264, 1e-8)
	central := theorem44{1e8, 1000}
	near("alpha0 of 1e8 records", central.budget(25, 1e-12), 2.4838697213, 1e-8)
	x := math.Log(1e-20)
	near("sup h/w", 1000*central.factor(2, x), 16.031836746898, 1e-11)
	near("h", 1000*math.Log1p(math.Tanh(0.5)*central.factor(2, x)), 7.381278040488, 1e-11)
	near("h", 1000*math.Log1p(math.Tanh(0.003)*theorem44{1000, 1000}.factor(0.02, x)), 5.659574121582, 1e-11)
	// The level is that of a delta_int whose delta is the one asked for.
	for _, delta := range []float64{1e-3, 1e-9, 1e-30} {
		k, e := central.level(2, math.Log(delta))/1000, math.Exp(2)/1e8
		root := (k - 8*e) / (8 * math.Sqrt(e))
		near("ln delta", central.logDelta(2, math.Log(4*1000)-root*root), math.Log(delta), 1e-6)
	}
}

// At delta_int, not at delta.
func TestTheorem44_ConditionIsWhereItSays(t *testing.T) {
	for _, c := range []theorem44{{1e4, 1}, {1e4, 1000}, {1e8, 1}, {1e8, 1000}} {
		for _, x := range []float64{-5, -70} {
			edge := math.Log(c.n / (16 * (math.Log(2*c.m) - x)))
			if !c.holds(edge*(1-1e-9), x) || c.holds(edge*(1+1e-9), x) {
				t.Errorf("%+v, ln delta_int = %g: not at %g", c, x, edge)
			}
		}
	}
	c := theorem44{1e8, 1000}
	if x := math.Log(1e-12); !c.holds(11, x) || !math.IsInf(c.level(11, x), 1) {
		t.Errorf("level %g, where delta_int is too small", c.level(11, x))
	}
}
