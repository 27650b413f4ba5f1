package emd

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func discretePromise(t testing.TB, m Model, radius float64, p DP) Guarantee {
	return testkit.Must(NewDiscrete(m, radius, p))
}

func TestGuarantee_PerUnit(t *testing.T) {
	m := Model{Trust: Central, Users: 10, Items: 4, Diameter: 2, Unit: "km"}
	g := promise(t, m, 3, 1e-6)
	if g.Model() != m || g.Radius() != 0 || g.Alpha() != 3 || g.Delta() != 1e-6 {
		t.Errorf("%+v", g)
	}
	for d, want := range map[float64]DP{0: {0, 1e-6}, .5: {1.5, 1e-6}, 2: {6, 1e-6}} {
		if got := g.At(d); got != want {
			t.Errorf("at %v: %v, want %v", d, got, want)
		}
	}
	if got := g.UserLevel(); got != (DP{6, 1e-6}) {
		t.Errorf("user level %v", got)
	}
	if got, err := g.ItemLevel(0); err != nil || got != (DP{1.5, 1e-6}) {
		t.Errorf("item level %v, %v", got, err)
	}
	_, err := g.ItemLevel(8)
	wantValueError(t, "8 items of 4", err, "m")
	open := promise(t, Model{Trust: Local, Diameter: 1}, 1, 0)
	if got, err := open.ItemLevel(8); err != nil || got != (DP{.125, 0}) {
		t.Errorf("item level of 8 items %v, %v", got, err)
	}
	_, err = open.ItemLevel(0)
	wantValueError(t, "unbounded", err, "m")
	if strconv.IntSize == 64 { // 32 bits hold no number that is too large
		_, err = open.ItemLevel(math.MaxInt)
		wantValueError(t, "no float64", err, "m")
	}
}

// k steps of a chain whose every step is tight: P_i gives all its mass of delta
// beyond e^eps times that of P_(i+1). The multiplier (e^(k eps)-1)/(e^eps-1) is
// attained, so that no smaller one can be right.
func TestGuarantee_GroupPrivacyIsTight(t *testing.T) {
	const eps, delta = .4, .01
	g := discretePromise(t, Model{Trust: Local, Diameter: 1}, .25, DP{eps, delta})
	s := 0.0 // P_k(S), from the far end of the chain
	for k := 1; k <= 4; k++ {
		s = math.Exp(eps)*s + delta // P(S) = e^eps P'(S) + delta
		p := g.At(.25 * float64(k))
		if math.Abs(p.Eps-eps*float64(k)) > 1e-15 || p.Delta < s*(1-1e-15) || p.Delta > s*(1+1e-13) {
			t.Errorf("%d steps: %v, attained delta %v", k, p, s)
		}
		if q := g.At(.25*float64(k) - .01); q != p {
			t.Errorf("within the step: %v, want %v", q, p)
		}
	}
	// Three radii of 0.1 fall short of the next distance above 0.3 by less than
	// the rounding of their quotient.
	d := math.Nextafter(.3, 1)
	if p := discretePromise(t, Model{Trust: Local, Diameter: 1}, .1, DP{eps, 0}).At(d); p.Eps < 4*eps || d/.1 > 3+1e-15 {
		t.Errorf("just beyond three steps: %v", p)
	}
	if p := discretePromise(t, Model{Trust: Local, Diameter: 1}, .25, DP{0, delta}).At(1); p.Eps != 0 || math.Abs(p.Delta-4*delta) > 1e-15 {
		t.Errorf("eps = 0: %v", p)
	}
}

// Group privacy by brute force: random laws on a chain; whatever pair the
// neighbors keep exactly, those k steps apart keep the promise of it.
func TestGuarantee_GroupPrivacyHoldsExactly(t *testing.T) {
	r := random.Seeded(4)
	const n, outputs, radius = 6, 4, .2
	for range 2000 {
		laws := make([][]float64, n)
		spread := 3 * r.Float64()
		for i := range laws {
			laws[i] = make([]float64, outputs)
			for y := range laws[i] {
				laws[i][y] = math.Exp(spread * r.NormFloat64())
				if i > 0 { // a step from the law before
					laws[i][y] = laws[i-1][y] * math.Exp(.5*r.NormFloat64())
				}
			}
			floats.Scale(1/floats.Sum(laws[i]), laws[i])
		}
		stick := func(i, j int, eps float64) float64 { return beyond(laws[i], laws[j], eps) }
		eps, delta := r.Float64(), 0.0
		for i := 1; i < n; i++ {
			delta = max(delta, stick(i, i-1, eps), stick(i-1, i, eps))
		}
		g := discretePromise(t, Model{Trust: Local, Diameter: 1}, radius, DP{eps, delta})
		for i := range n {
			for j := range n {
				if i == j {
					continue
				}
				d := radius * math.Abs(float64(i-j))
				if p := g.At(d); stick(i, j, p.Eps) > p.Delta+1e-15 {
					t.Fatalf("%d steps: delta %v at %v", i-j, stick(i, j, p.Eps), p)
				}
			}
		}
	}
}

// Between bounded users there may be nobody in the middle: a discrete promise
// ends at its radius.
func TestGuarantee_DiscreteOfBoundedUsersEnds(t *testing.T) {
	g := discretePromise(t, Model{Trust: Local, Items: 4, Diameter: 1}, .3, DP{1, 1e-6})
	if p := g.At(.3); p != (DP{1, 1e-6}) {
		t.Errorf("at the radius: %v", p)
	}
	if p := g.At(.31); !math.IsInf(p.Eps, 1) {
		t.Errorf("beyond it: %v", p)
	}
	if !math.IsInf(g.Alpha(), 1) || !math.IsInf(g.UserLevel().Eps, 1) {
		t.Error("a discrete promise has no level per unit")
	}
	if p, err := g.ItemLevel(4); err != nil || p.Eps != 1 {
		t.Errorf("an item of 4: %v, %v", p, err)
	}
	for _, radius := range []float64{1e-12, 1e-30, 5e-324} { // more steps than an int counts
		far := discretePromise(t, Model{Trust: Local, Diameter: 1}, radius, DP{1, 1e-6})
		if p := far.At(1); !math.IsInf(p.Eps, 1) && p.Eps < 1e11 || p.Delta != 1 {
			t.Errorf("steps of %v: %v", radius, p)
		}
	}
}

func TestGuarantee_Composition(t *testing.T) {
	m := Model{Trust: Central, Users: 5, Diameter: 1}
	a, b := promise(t, m, 1, 1e-6), promise(t, m, 2, 0)
	sum, err := a.Plus(b)
	if err != nil || sum.Alpha() != 3 || sum.Delta() != 1e-6 || sum.Model() != a.Model() {
		t.Errorf("%v, %v", sum, err)
	}
	// A promise per unit joins a discrete one after it was weakened.
	d := discretePromise(t, m, .1, DP{.5, 1e-7})
	if _, err = a.Plus(d); !errors.Is(err, ErrModel) {
		t.Errorf("per unit and discrete: %v", err)
	}
	weak, err := a.Discrete(.1)
	if err != nil || weak.Radius() != .1 || weak.At(.1) != (DP{.1, 1e-6}) {
		t.Fatal(weak, err)
	}
	if sum, err = d.Plus(weak); err != nil || sum.Radius() != .1 || math.Abs(sum.At(.1).Eps-.6) > 1e-15 || math.Abs(sum.At(.1).Delta-1.1e-6) > 1e-20 {
		t.Errorf("%v, %v", sum, err)
	}
	smaller, err := d.Discrete(.05)
	if err != nil || smaller.At(.05) != d.At(.1) {
		t.Errorf("%v, %v", smaller, err)
	}
	larger, err := d.Discrete(.3)
	if err != nil || larger.At(.3) != d.At(.3) {
		t.Errorf("%v, %v", larger, err)
	}
	for name, other := range map[string]Guarantee{
		"local":            promise(t, Model{Trust: Local, Diameter: 1}, 1, 0),
		"other users":      promise(t, Model{Trust: Central, Users: 6, Diameter: 1}, 1, 0),
		"bounded":          promise(t, Model{Trust: Central, Users: 5, Items: 2, Diameter: 1}, 1, 0),
		"other diameter":   promise(t, Model{Trust: Central, Users: 5, Diameter: 2}, 1, 0),
		"other unit":       promise(t, Model{Trust: Central, Users: 5, Unit: "km", Diameter: 1}, 1, 0),
		"no guarantee":     {},
		"a discrete one":   d,
		"yet another step": discretePromise(t, m, .2, DP{.5, 0}),
	} {
		if g, err := a.Plus(other); !errors.Is(err, ErrModel) || g != (Guarantee{}) {
			t.Errorf("%s: %v, %v", name, g, err)
		}
		if name != "a discrete one" {
			if _, err := d.Plus(other); !errors.Is(err, ErrModel) {
				t.Errorf("discrete and %s: %v", name, err)
			}
		}
	}
}

func TestGuarantee_AtNoDistance(t *testing.T) {
	model := Model{Trust: Local, Diameter: 1}
	for _, g := range []Guarantee{promise(t, model, 1, 1e-6), discretePromise(t, model, .3, DP{1, 1e-6})} {
		for _, d := range []float64{-1, -5e-324, math.NaN()} {
			if p := g.At(d); !math.IsInf(p.Eps, 1) {
				t.Errorf("%v at %v: %v", g, d, p)
			}
		}
	}
}
