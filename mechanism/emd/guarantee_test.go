package emd

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/wasserstein"
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
	discrete := discretePromise(t, m, .2, DP{.5, 0})
	for _, other := range map[string]Guarantee{
		"local": promise(t, Model{Trust: Local, Diameter: 1}, 1, 0), "users": promise(t, Model{Trust: Central, Users: 6, Diameter: 1}, 1, 0),
		"bounded": promise(t, Model{Trust: Central, Users: 5, Items: 2, Diameter: 1}, 1, 0), "diameter": promise(t, Model{Trust: Central, Users: 5, Diameter: 2}, 1, 0),
		"unit": promise(t, Model{Trust: Central, Users: 5, Unit: "km", Diameter: 1}, 1, 0), "no guarantee": {}, "another step": discrete,
	} {
		testkit.Refused(t, [][3]any{{testkit.Err(a.Plus(other)), "", ErrModel}, {testkit.Err(d.Plus(other)), "", ErrModel}})
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

// Different multisets of m items are at least minDistance/m apart, some
// exactly, so that the level cannot be lower.
func TestFromUserLevel_LeastDistance(t *testing.T) {
	space := space.Formula(4, func(i, j int) float64 { return math.Abs(float64(i-j)) / 3 })
	for m := 1; m <= 4; m++ {
		least := math.Inf(1)
		all := testkit.Multisets(4, m)
		for i, u := range all {
			for _, v := range all[:i] {
				d := testkit.Must(wasserstein.DistanceEM(t.Context(), space, u, v))
				least = min(least, d)
			}
		}
		g := testkit.Must(Model{Trust: Local, Items: m, Diameter: 1}.FromUserLevel(DP{.7, 1e-3}, 1./3))
		if p := g.At(least); math.Abs(p.Eps-.7) > 1e-14 || p.Eps < .7*(1-1e-15) || p.Delta != 1e-3 {
			t.Errorf("m=%d: %v at the least distance %v", m, p, least)
		}
		if loss := g.UserLevel().Eps / .7; math.Abs(loss-float64(m)*3) > 1e-12 {
			t.Errorf("m=%d: loss %v, want %v", m, loss, 3*m)
		}
	}
}

func TestFromItems_Group(t *testing.T) {
	model := Model{Trust: Central, Users: 3, Items: 5, Diameter: 2, Unit: "km"}
	g, err := model.FromItems(testkit.Must(mechanism.NewGuarantee(.3, 0, "km")))
	if err != nil || math.Abs(g.Alpha()-1.5) > 1e-15 || g.Delta() != 0 {
		t.Error(g, err)
	}
	// delta grows by the group rule: m = 5 changes of eps0 = .6 each.
	slack := testkit.Must(mechanism.NewGuarantee(.3, 1e-6, "km"))
	if g, err = model.FromItems(slack); err != nil || math.Abs(g.Delta()/(1e-6*math.Expm1(3)/math.Expm1(.6))-1) > 1e-12 {
		t.Error(g, err)
	}
}

// Every level is above the exact one, by some ulps at most.
func TestTranslate_RoundsOutward(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(8)
	above := func(name string, got float64, want *big.Rat) {
		t.Helper()
		if testkit.Ratio(got).Cmp(want) < 0 || testkit.Ratio(got*(1-1e-15)).Cmp(want) > 0 {
			f, _ := want.Float64()
			t.Fatalf("%s: %v, exactly %v", name, got, f)
		}
	}
	times := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	for range 1000 {
		model := Model{Trust: Local, Items: 1 + r.IntN(1000), Diameter: math.Exp(4 * r.NormFloat64())}
		alpha, m := math.Exp(4*r.NormFloat64()), testkit.Ratio(float64(model.Items))
		g := promise(t, model, alpha, 1e-6)
		d := r.Float64() * model.Diameter
		above("At", g.At(d).Eps, times(testkit.Ratio(alpha), testkit.Ratio(d)))
		user, err := model.FromUserLevel(DP{alpha, 1e-6}, d)
		if err != nil || user.Delta() != 1e-6 {
			t.Fatal(user, err)
		}
		above("FromUserLevel", user.Alpha(), new(big.Rat).Quo(times(testkit.Ratio(alpha), m), testkit.Ratio(d)))
		items := testkit.Must(model.FromItems(pureLevel(t, alpha)))
		above("FromItems", items.Alpha(), times(testkit.Ratio(alpha), m))
	}
}

// What was chosen keeps every row, and one of them with nothing to spare.
func TestPromises_ReverseOfChooseAlpha(t *testing.T) {
	r := random.Seeded(1)
	for range 2000 {
		rows := make([]Move, 1+r.IntN(5))
		for i := range rows {
			rows[i] = Move{math.Pow(10, 6*r.Float64()-3), 1 - r.Float64(), math.Pow(10, 3*r.Float64()-2)}
		}
		alpha := testkit.Must(ChooseAlpha(rows))
		ps := testkit.Must(promise(t, Model{Trust: Local, Unit: "km", Diameter: 1e4}, alpha, 1e-9).Protects(rows))
		tight := false
		for i, p := range ps {
			if p.Eps > rows[i].Eps || p.Delta != 1e-9 || p.Unit != "km" || p.Factor < math.Exp(p.Eps) {
				t.Fatalf("%+v: promise %+v", rows[i], p)
			}
			tight = tight || p.Eps >= rows[i].Eps*(1-1e-14)
			exact := new(big.Rat).SetFloat64(alpha)
			for _, v := range []float64{rows[i].Fraction, rows[i].Distance} {
				exact.Mul(exact, new(big.Rat).SetFloat64(v))
			}
			if exact.Cmp(new(big.Rat).SetFloat64(p.Eps)) > 0 || exact.Cmp(new(big.Rat).SetFloat64(rows[i].Eps)) > 0 {
				t.Fatalf("%+v: alpha %v, promise %+v: the exact level is higher", rows[i], alpha, p)
			}
		}
		if !tight {
			t.Fatalf("rows %+v: alpha %v keeps all with room to spare", rows, alpha)
		}
	}
}

func TestPromise_Words(t *testing.T) {
	for _, tc := range []struct {
		g    Guarantee
		row  Move
		want string
	}{
		{promise(t, Model{Trust: Local, Diameter: 1}, 25, 0), Move{.08, 1. / 3, 0}, "moving a third of a user's items by 0.08 on average makes no result more than 1.95 times as likely"},
		{promise(t, Model{Trust: Local, Unit: "km", Diameter: 1}, 25, 1e-6), Move{.08, 1. / 30, 0}, "moving one in 30 of a user's items by 0.08 km on average makes no result more than 1.069 times as likely, up to a probability of 1e-06"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 1, 1.001e-6), Move{.5, 1, 0}, "moving all of a user's items by 0.5 on average makes no result more than 1.65 times as likely, up to a probability of 1.01e-06"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 1, 0), Move{.5, 1, 0}, "moving all of a user's items by 0.5 on average makes no result more than 1.65 times as likely"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 1, 0), Move{.001, .15, 0}, "moving 15 % of a user's items by 0.001 on average makes no result more than 1.00016 times as likely"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 20, 0), Move{1, .5, 0}, "moving half of a user's items by 1 on average makes no result more than 22027 times as likely"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 20, 0), Move{1, 1, 0}, "moving all of a user's items by 1 on average makes no result more than 4.88e+08 times as likely"},
		{promise(t, Model{Trust: Local, Diameter: 1}, 0, 0), Move{1, 1, 0}, "moving all of a user's items by 1 on average makes no result more than 1.00 times as likely"},
		{discretePromise(t, Model{Trust: Local, Diameter: 1}, .25, DP{.1, .3}), Move{1, 1, 0}, "moving all of a user's items by 1 on average is not protected"},
		{Guarantee{}, Move{1, 1, 0}, "moving all of a user's items by 1 on average is not protected"},
	} {
		ps, err := tc.g.Protects([]Move{tc.row})
		if err != nil || ps[0].String() != tc.want {
			t.Errorf("%v, %v,\nwant %v", ps[0], err, tc.want)
		}
	}
}

// One that was made by hand may hold any numbers.
func TestPromise_AnyFraction(t *testing.T) {
	for _, f := range []float64{-1, -.2, 0, 2, 5e-324, math.NaN(), math.Inf(-1)} {
		if s := (Protection{Move: Move{Fraction: f}, Factor: 2}).String(); !strings.Contains(s, "%") {
			t.Errorf("%v: %s", f, s)
		}
	}
}

func TestFactorWords_RoundUp(t *testing.T) {
	for f, want := range map[float64]string{
		1: "1.00", 1.003: "1.0030", 1.00301: "1.0031", 1.0999: "1.100", 1.1: "1.11", 9.991: "10.00", 10: "10.0", 99.01: "99.1",
		100.5: "101", 1234: "1234", 1e6: "1e+06", 1.0149e9: "1.02e+09", 9.99e99: "9.99e+99",
	} {
		if got := factorWords(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	r := random.Seeded(2)
	for range 10_000 {
		f := math.Exp(50 * r.NormFloat64())
		got, err := strconv.ParseFloat(digitsUp(f), 64)
		if err != nil || got < f || got > f*1.01 {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
}
