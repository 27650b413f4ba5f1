package emd

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/wasserstein"
)

// Different multisets of m items are at least minDistance/m apart, some
// exactly, so that the level cannot be lower.
func TestFromUserLevel_LeastDistance(t *testing.T) {
	space := line(t, 4)
	for m := 1; m <= 4; m++ {
		least := math.Inf(1)
		all := multisets(4, m)
		for i, u := range all {
			for _, v := range all[:i] {
				d := testkit.Must(wasserstein.DistanceEM(t.Context(), space, u, v))
				least = min(least, d)
			}
		}
		g := testkit.Must(FromUserLevel(Model{Trust: Local, Items: m, Diameter: 1}, DP{.7, 1e-3}, 1./3))
		if p := g.At(least); math.Abs(p.Eps-.7) > 1e-14 || p.Eps < .7*(1-1e-15) || p.Delta != 1e-3 {
			t.Errorf("m=%d: %v at the least distance %v", m, p, least)
		}
		if loss := g.UserLevel().Eps / .7; math.Abs(loss-float64(m)*3) > 1e-12 {
			t.Errorf("m=%d: loss %v, want %v", m, loss, 3*m)
		}
	}
}

func TestFromItems_ThereAndBack(t *testing.T) {
	model := Model{Trust: Central, Users: 3, Items: 5, Diameter: 2, Unit: "km"}
	item := testkit.Must(mechanism.NewGuarantee(.3, 0, "km"))
	g, err := FromItems(model, item)
	if err != nil || math.Abs(g.Alpha()-1.5) > 1e-15 || g.Delta() != 0 {
		t.Fatal(g, err)
	}
	back, err := ToItems(g, 0)
	if err != nil || math.Abs(back.Alpha()-.3) > 1e-15 || back.Unit() != "km" || back.Delta() != 0 {
		t.Error(back, err)
	}
	// The ordinary item level is the one at the diameter.
	eps, _ := back.At(2)
	if p, err := g.ItemLevel(0); err != nil || math.Abs(p.Eps-eps) > 1e-15 {
		t.Error(p, eps, err)
	}
	// A promise up to d_EM = 1 covers items up to 5 apart, or all.
	near := testkit.Must(item.Within(1))
	short := testkit.Must(NewGuarantee(model, near))
	if back, err = ToItems(short, 0); err != nil || back.Reach() != 5 {
		t.Error(back, err)
	}
	// delta grows by the group rule: m = 5 changes of eps0 = .6 each.
	slack := testkit.Must(mechanism.NewGuarantee(.3, 1e-6, "km"))
	if g, err = FromItems(model, slack); err != nil || math.Abs(g.Delta()/(1e-6*math.Expm1(3)/math.Expm1(.6))-1) > 1e-12 {
		t.Error(g, err)
	}
	// All of it is still there for one item.
	if back, err = ToItems(g, 0); err != nil || back.Delta() != g.Delta() {
		t.Error(back, err)
	}
}

// By brute force: the items of one user, released in order through a channel.
func TestFromItems_PromiseHoldsExactly(t *testing.T) {
	space := line(t, 3)
	c := geometricChannel(t, space, 2)
	g := testkit.Must(FromItems(Model{Trust: Local, Items: 3, Diameter: 1}, c.Guarantee()))
	tight := 0.0
	for _, u := range multisets(3, 3) {
		for _, v := range multisets(3, 3) {
			d := testkit.Must(wasserstein.DistanceEM(t.Context(), space, u, v))
			p, q := multisetLaw(c, u), multisetLaw(c, v)
			for key := range p {
				loss := math.Log(p[key] / q[key])
				if loss > g.At(d).Eps+1e-12 {
					t.Errorf("%v, %v: loss %v, promised %v", u, v, loss, g.At(d))
				}
				if d > 0 {
					tight = max(tight, loss/g.At(d).Eps)
				}
			}
		}
	}
	if tight < .999 {
		t.Errorf("only %v of the level is used", tight)
	}
}

// Simulated users: d_EM passes the bound with a frequency below beta. (The
// bound is far from tight: none of the 2,000 pairs should pass it, and all stay
// within half of it where the points are few.)
func TestTypicalUsers_Simulated(t *testing.T) {
	const points = 6
	space := line(t, points)
	r := random.Seeded(2)
	for _, m := range []int{5, 50, 400} {
		// Two laws at W1 = .2: the mass moves up by one point.
		p := []float64{.3, .3, .2, .1, .1, 0}
		q := []float64{0, .3, .3, .2, .1, .1}
		dist := 0.0
		for i, a := 0, 0.0; i < points-1; i++ {
			a += p[i] - q[i]
			dist += math.Abs(a) / (points - 1)
		}
		g := promise(t, Model{Trust: Local, Items: m, Diameter: 1}, 2, 1e-6)
		typical := testkit.Must(TypicalUsers(g, Population{Distance: dist, Points: points, Beta: .05}))
		if typical.DP != g.At(typical.Distance) {
			t.Errorf("pair %v", typical)
		}
		draw := func(w []float64) (items []int) {
			usersOf(r.Uint64(), w, 1, m)(func(drawn []int) bool { items = drawn; return true })
			return items
		}
		passed, mean, same := 0, 0.0, 0.0
		const trials = 500
		for range trials {
			a := draw(p)
			d := testkit.Must(wasserstein.DistanceEM(t.Context(), space, a, draw(q)))
			if d > typical.Distance {
				passed++
			}
			mean += d / trials
			same += testkit.Must(wasserstein.DistanceEM(t.Context(), space, a, draw(p))) / trials
		}
		spread := math.Sqrt((points - 1) / (2 * float64(m)))
		if passed > 25 || same > spread || mean > dist+spread {
			t.Errorf("m=%d: %d of %d pass %v; means %v and %v, bounds %v and %v", m, passed, trials, typical.Distance, mean, same, dist+spread, spread)
		}
	}
}

func TestTypicalUsers_ClosedForm(t *testing.T) {
	g := promise(t, Model{Trust: Local, Diameter: 10}, .5, 1e-6)
	p := Population{Distance: .3, Items: 10_000, Points: 9, Beta: 1e-3}
	want := .3 + 10*math.Sqrt(8./20_000) + 10*math.Sqrt(math.Log(1e3)/10_000)
	got, err := TypicalUsers(g, p)
	if err != nil || got.Distance < want || got.Distance > want*(1+1e-14) || math.Abs(got.Eps-.5*want) > 1e-14 || got.Delta != 1e-6 {
		t.Errorf("%+v, %v, want distance %v", got, err, want)
	}
	p.Spread = .01
	if got, err = TypicalUsers(g, p); err != nil || math.Abs(got.Distance-(.31+10*math.Sqrt(math.Log(1e3)/10_000))) > 1e-14 {
		t.Errorf("with a spread: %+v, %v", got, err)
	}
	p.Items = 1
	if got, err = TypicalUsers(g, p); err != nil || got.Distance != 10 || got.DP != g.UserLevel() {
		t.Errorf("one item: %+v, %v", got, err)
	}
}

// Two users of hidden laws on two points, their items released through a
// channel: by brute force, what tells the laws apart.
func TestHiddenItems_PromiseHoldsExactly(t *testing.T) {
	space := line(t, 2)
	c := geometricChannel(t, space, 2)
	for _, m := range []int{1, 6, 40} {
		g := testkit.Must(FromItems(Model{Trust: Local, Items: m, Diameter: 1}, c.Guarantee()))
		for _, beta := range []float64{.3, 1e-3} {
			for _, p := range [][2]float64{{0, .1}, {.4, .6}, {.2, 1}} {
				h := testkit.Must(HiddenItems(g, Population{Distance: p[1] - p[0], Beta: beta}))
				var laws [2][]float64
				for i := range laws {
					laws[i] = binomialLaw(m, p[i]*c.Prob(1, 1)+(1-p[i])*c.Prob(0, 1))
				}
				for i := range laws {
					if delta := beyond(laws[i], laws[1-i], h.Eps); delta > h.Delta+1e-12 {
						t.Errorf("m=%d, beta=%v, %v: delta %v, promised %+v", m, beta, p, delta, h)
					}
				}
				if h.Eps > g.UserLevel().Eps {
					t.Errorf("%+v is worse than the user level", h)
				}
			}
		}
	}
	// The world samples in place of the mechanism: the promise is that of
	// Reduced.
	g := promise(t, Model{Trust: Local, Items: 500, Diameter: 1}, 3, 1e-9)
	d := testkit.Must(NewReduced[int, int](&promiseOf[int]{g: g}, Sampling{Radius: .2, Delta: 1e-6}))
	if h, err := HiddenItems(g, Population{Distance: .2, Beta: 1e-6}); err != nil || h != (Typical{d.Guarantee().At(.2), d.SampleDistance()}) {
		t.Errorf("%+v, %v, want %v within %v", h, err, d.Guarantee(), d.SampleDistance())
	}
	open := promise(t, Model{Trust: Local, Diameter: 1}, 3, 1e-9)
	if h, err := HiddenItems(open, Population{Distance: .2, Beta: 1e-6, Items: 500}); err != nil || h != (Typical{d.Guarantee().At(.2), d.SampleDistance()}) {
		t.Errorf("500 items of an unbounded model: %+v, %v", h, err)
	}
}

// Every level is above the exact one, and every reach below, by some ulps at
// most.
func TestTranslate_RoundsOutward(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(8)
	number := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	above := func(name string, got float64, want *big.Rat) {
		t.Helper()
		if number(got).Cmp(want) < 0 || number(got*(1-1e-15)).Cmp(want) > 0 {
			f, _ := want.Float64()
			t.Fatalf("%s: %v, exactly %v", name, got, f)
		}
	}
	times := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	for range 1000 {
		model := Model{Trust: Local, Items: 1 + r.IntN(1000), Diameter: math.Exp(4 * r.NormFloat64())}
		alpha, m := math.Exp(4*r.NormFloat64()), number(float64(model.Items))
		item := new(big.Rat).Quo(number(alpha), m)
		g := promise(t, model, alpha, 1e-6)
		d := r.Float64() * model.Diameter
		above("At", g.At(d).Eps, times(number(alpha), number(d)))
		p := testkit.Must(g.ItemLevel(0))
		above("ItemLevel", p.Eps, times(item, number(model.Diameter)))
		user, err := FromUserLevel(model, DP{alpha, 1e-6}, d)
		if err != nil || user.Delta() != 1e-6 {
			t.Fatal(user, err)
		}
		above("FromUserLevel", user.Alpha(), new(big.Rat).Quo(times(number(alpha), m), number(d)))
		items := testkit.Must(FromItems(model, pureLevel(t, alpha)))
		above("FromItems", items.Alpha(), times(number(alpha), m))
		level := testkit.Must(pureLevel(t, alpha).Within(d))
		if g, err = NewGuarantee(model, level); err != nil {
			t.Fatal(err)
		}
		back := testkit.Must(ToItems(g, 0))
		above("ToItems", back.Alpha(), item)
		if reach := times(number(d), m); number(back.Reach()).Cmp(reach) > 0 || number(back.Reach()*(1+1e-15)).Cmp(reach) < 0 {
			t.Fatalf("ToItems: reach %v of %v", back.Reach(), d)
		}
	}
}

// The distance of typical users is above the formula, at beta = 1/2.
func TestTypicalUsers_RoundsUp(t *testing.T) {
	testkit.Rounding(t)
	const prec = 200
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	ln2, _, err := big.ParseFloat("0.69314718055994530941723212145817656807550013436025525412068", 10, prec, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	r := random.Seeded(9)
	for range 2000 {
		x := r.Float64()
		square := new(big.Rat).SetFloat64(sqrtUp(x))
		if square.Mul(square, square).Cmp(new(big.Rat).SetFloat64(x)) < 0 {
			t.Fatalf("the root of %v is above %v", x, sqrtUp(x))
		}
		p := Population{Distance: r.Float64(), Items: 100 + r.IntN(1000), Points: 2 + r.IntN(10), Beta: .5}
		diam := 10 + r.Float64()
		got := testkit.Must(TypicalUsers(promise(t, Model{Trust: Local, Diameter: diam}, 1, 0), p))
		root := func(num, den *big.Float) *big.Float {
			q := new(big.Float).SetPrec(prec).Quo(num, den)
			return q.Mul(q.Sqrt(q), number(diam))
		}
		want := number(p.Distance)
		want.Add(want, root(number(float64(p.Points-1)), number(float64(2*p.Items))))
		want.Add(want, root(ln2, number(float64(p.Items))))
		if number(got.Distance).Cmp(want) < 0 || number(got.Distance*(1-1e-14)).Cmp(want) > 0 {
			t.Fatalf("%+v: %v, exactly %v", p, got.Distance, want)
		}
	}
}
