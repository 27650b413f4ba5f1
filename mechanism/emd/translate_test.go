package emd

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/wasserstein"
)

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

func TestFromItems_ThereAndBack(t *testing.T) {
	model := Model{Trust: Central, Users: 3, Items: 5, Diameter: 2, Unit: "km"}
	item := testkit.Must(mechanism.NewGuarantee(.3, 0, "km"))
	g, err := model.FromItems(item)
	if err != nil || math.Abs(g.Alpha()-1.5) > 1e-15 || g.Delta() != 0 {
		t.Fatal(g, err)
	}
	back, err := g.ToItems(0)
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
	if back, err = short.ToItems(0); err != nil || back.Reach() != 5 {
		t.Error(back, err)
	}
	// delta grows by the group rule: m = 5 changes of eps0 = .6 each.
	slack := testkit.Must(mechanism.NewGuarantee(.3, 1e-6, "km"))
	if g, err = model.FromItems(slack); err != nil || math.Abs(g.Delta()/(1e-6*math.Expm1(3)/math.Expm1(.6))-1) > 1e-12 {
		t.Error(g, err)
	}
	// All of it is still there for one item.
	if back, err = g.ToItems(0); err != nil || back.Delta() != g.Delta() {
		t.Error(back, err)
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
		user, err := model.FromUserLevel(DP{alpha, 1e-6}, d)
		if err != nil || user.Delta() != 1e-6 {
			t.Fatal(user, err)
		}
		above("FromUserLevel", user.Alpha(), new(big.Rat).Quo(times(number(alpha), m), number(d)))
		items := testkit.Must(model.FromItems(pureLevel(t, alpha)))
		above("FromItems", items.Alpha(), times(number(alpha), m))
		level := testkit.Must(pureLevel(t, alpha).Within(d))
		if g, err = NewGuarantee(model, level); err != nil {
			t.Fatal(err)
		}
		back := testkit.Must(g.ToItems(0))
		above("ToItems", back.Alpha(), item)
		if reach := times(number(d), m); number(back.Reach()).Cmp(reach) > 0 || number(back.Reach()*(1+1e-15)).Cmp(reach) < 0 {
			t.Fatalf("ToItems: reach %v of %v", back.Reach(), d)
		}
	}
}
