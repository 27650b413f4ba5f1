package emd

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/wasserstein"
	"math/big"
)

// hockeyStick is the least delta at level eps.
func hockeyStick(p, q map[string]float64, eps float64) float64 {
	delta := 0.0
	for key, v := range p {
		delta += max(0, v-math.Exp(eps)*q[key])
	}
	return delta
}

// multisets lists all multisets of m points of n.
func multisets(n, m int) [][]int {
	if m == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, s := range multisets(n, m-1) {
		for x := range n {
			if len(s) == 0 || x >= s[len(s)-1] {
				all = append(all, append(slices.Clone(s), x))
			}
		}
	}
	return all
}

// By brute force: the exact law of the multiset at all pairs of users, with all
// that the other users may hold.
func TestItemWise_PromiseHoldsExactly(t *testing.T) {
	space := line(t, 3)
	for _, tc := range []struct {
		model Model
		beta  float64
		o     ItemWiseOptions
	}{
		{Model{Trust: Local, Items: 1, Diameter: 1}, 1, ItemWiseOptions{Delta: .01}},
		{Model{Trust: Local, Items: 3, Diameter: 1}, .5, ItemWiseOptions{Delta: .03}},
		{Model{Trust: Local, Items: 4, Diameter: 1}, 1.5, ItemWiseOptions{Delta: .1}},
		{Model{Trust: Local, Items: 4, Diameter: 1}, 1.5, ItemWiseOptions{}},
		{Model{Trust: Central, Users: 2, Items: 2, Diameter: 1}, 1, ItemWiseOptions{Delta: .05, Space: space}},
		{Model{Trust: Central, Users: 5, Items: 1, Diameter: 1}, .8, ItemWiseOptions{Delta: .02, Clones: accountant.MetricRandomizer}},
	} {
		c := geometricChannel(t, space, tc.beta)
		w := newItemWise(t, c, tc.model, &tc.o)
		others := multisets(3, tc.model.Items*(max(1, tc.model.Users)-1))
		users := multisets(3, tc.model.Items)
		worst := math.Inf(-1)
		for _, rest := range others {
			laws := make([]map[string]float64, len(users))
			for i, u := range users {
				laws[i] = multisetLaw(c, append(slices.Clone(u), rest...))
			}
			for i, u := range users {
				for j, v := range users {
					d, err := wasserstein.DistanceEM(space, u, v)
					if err != nil {
						t.Fatal(err)
					}
					p := w.Guarantee().At(d)
					worst = max(worst, hockeyStick(laws[i], laws[j], p.Eps)-p.Delta)
				}
			}
		}
		if worst > 1e-14 {
			t.Errorf("%v: %v: delta passed by %v", tc.model, w.Guarantee(), worst)
		}
	}
}

func TestItemWise_PromiseIsTheAccountants(t *testing.T) {
	space := line(t, 5)
	c := geometricChannel(t, space, .3)
	alpha0 := c.Guarantee().Alpha()
	m := Model{Trust: Central, Users: 100, Items: 10, Diameter: 1}
	w := newItemWise(t, c, m, &ItemWiseOptions{Delta: 1e-6})
	want, err := accountant.Shuffle{Records: 1000, Items: 10, Diameter: 1}.Level(t.Context(), accountant.LevelAt{Alpha0: alpha0, Delta: 1e-6})
	if err != nil || w.Guarantee().Alpha() != want.Alpha || w.Bound() != want.Bound || w.Guarantee().Delta() != 1e-6 {
		t.Errorf("%v by the %v, want %v, %v", w.Guarantee(), w.Bound(), want, err)
	}
	if w = newItemWise(t, c, m, nil); w.Guarantee().Delta() != 0 || w.Bound() != accountant.PureComposition || math.Abs(w.Guarantee().Alpha()/(10*alpha0)-1) > 1e-15 {
		t.Errorf("without delta: %v by the %v", w.Guarantee(), w.Bound())
	}
	// A looser claim is tightened by an audit, and least distances help.
	loose := c.WithGuarantee(pureLevel(t, 2*alpha0))
	a := newItemWise(t, loose, m, &ItemWiseOptions{Delta: 1e-6}).Guarantee().Alpha()
	b := newItemWise(t, loose, m, &ItemWiseOptions{Delta: 1e-6, Space: space}).Guarantee().Alpha()
	if !(b < a) || b > want.Alpha {
		t.Errorf("claimed %v, audited %v, tight %v", a, b, want.Alpha)
	}
	m.Items, m.Users = 3, 300
	a = newItemWise(t, c, m, &ItemWiseOptions{Delta: 1e-6, Clones: accountant.MetricRandomizer, Space: space}).Guarantee().Alpha()
	want, err = accountant.Shuffle{Records: 900, Items: 3, Clones: accountant.MetricRandomizer, MinDistance: .25, Diameter: 1}.Level(t.Context(), accountant.LevelAt{Alpha0: alpha0, Delta: 1e-6})
	if err != nil || a != want.Alpha {
		t.Errorf("with the least distance: %v, want %v, %v", a, want, err)
	}
	// Levels out of the accountant's range still compose.
	if g := newItemWise(t, c.WithGuarantee(pureLevel(t, 900)), m, &ItemWiseOptions{Delta: 1e-6}).Guarantee(); g.Alpha() != 2700 || g.Delta() != 0 {
		t.Errorf("level 900: %v", g)
	}
	if g := newItemWise(t, c.WithGuarantee(pureLevel(t, 0)), m, &ItemWiseOptions{Delta: 1e-6}).Guarantee(); g.Alpha() != 0 || g.Delta() != 0 {
		t.Errorf("level 0: %v", g)
	}
}

func TestItemWiseBudget_IsKept(t *testing.T) {
	space := line(t, 4)
	for _, m := range []Model{
		{Trust: Local, Items: 20, Diameter: 1},
		{Trust: Central, Users: 1000, Items: 20, Diameter: 1},
		{Trust: Central, Users: 7, Items: 3, Diameter: 4},
	} {
		for _, o := range []*ItemWiseOptions{nil, {Delta: 1e-9}, {Delta: 1e-4, Space: space}} {
			b, err := ItemWiseBudget(m, 5, o)
			if err != nil {
				t.Fatal(err)
			}
			if b.Alpha0 < 5/float64(m.Items)*(1-1e-12) {
				t.Errorf("%v, %+v: %v below pure composition", m, o, b)
			}
			// The budget itself, not an audited level below it.
			var without ItemWiseOptions
			if o != nil {
				without = *o
				without.Space = nil
			}
			b, err = ItemWiseBudget(m, 5, &without)
			if err != nil {
				t.Fatal(err)
			}
			c := geometricChannel(t, space, .1).WithGuarantee(pureLevel(t, b.Alpha0))
			g := newItemWise(t, c, m, &without).Guarantee()
			if g.Alpha() > 5*(1+2e-9) || g.Alpha() < 5*(1-1e-6) || g.Delta() > without.Delta {
				t.Errorf("%v, %+v: budget %v gives %v", m, without, b, g)
			}
		}
	}
}

// In the Local trust nobody else's items hide a user's, whatever Model.Users says.
func TestItemWise_LocalHidesAmongItsOwn(t *testing.T) {
	c := geometricChannel(t, line(t, 3), .3)
	o := &ItemWiseOptions{Delta: 1e-6}
	one := newItemWise(t, c, Model{Trust: Local, Items: 50, Diameter: 1}, o).Guarantee()
	if many := newItemWise(t, c, Model{Trust: Local, Items: 50, Users: 1000, Diameter: 1}, o).Guarantee(); many != one {
		t.Errorf("%v, with a number of users %v", one, many)
	}
	budget := func(m Model) accountant.Budget {
		b, err := ItemWiseBudget(m, 5, o)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if a, b := budget(Model{Trust: Local, Items: 50, Diameter: 1}), budget(Model{Trust: Local, Items: 50, Users: 1000, Diameter: 1}); a != b {
		t.Errorf("budget %v, with a number of users %v", a, b)
	}
}

// The level accounted for is the upper end of the audit where the claim is below it.
func TestItemWise_AccountsForTheWholeAudit(t *testing.T) {
	space := line(t, 4)
	c := geometricChannel(t, space, 1)
	a, err := c.Audit(space, nil)
	if err != nil || !(a.Lo < a.Hi) {
		t.Fatal(a, err)
	}
	w := newItemWise(t, c.WithGuarantee(pureLevel(t, a.Lo)), Model{Trust: Local, Items: 1, Diameter: 1}, &ItemWiseOptions{Space: space})
	if w.Guarantee().Alpha() != a.Hi {
		t.Errorf("claimed %v, audited %v: %v", a.Lo, a, w.Guarantee())
	}
}

// Pure composition and its budget, to the last bit.
func TestItemWise_PureLevelIsRoundedOutward(t *testing.T) {
	c := geometricChannel(t, line(t, 3), .1)
	r := rng.Seeded(8)
	for range 300 {
		m := Model{Trust: Local, Items: 1 + r.IntN(1000), Diameter: 1}
		alpha := r.Float64()
		items := new(big.Rat).SetInt64(int64(m.Items))
		g := newItemWise(t, c.WithGuarantee(pureLevel(t, alpha)), m, nil).Guarantee()
		if want := ratio(t, alpha); ratio(t, g.Alpha()).Cmp(want.Mul(want, items)) < 0 {
			t.Errorf("%d items of level %v: %v", m.Items, alpha, g)
		}
		b, err := ItemWiseBudget(m, alpha, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := ratio(t, b.Alpha0); got.Mul(got, items).Cmp(ratio(t, alpha)) > 0 {
			t.Errorf("%d items at %v: budget %v", m.Items, alpha, b)
		}
	}
}
