package frequency

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/wasserstein"
)

// The joint law of the counts of two items of different inputs, by enumeration.
// Chi-square at level 1e-7.
func TestItemWise_LawOfTheMultiset(t *testing.T) {
	space := line(t, 3)
	c := geometricChannel(t, space, 2)
	w := newItemWise(t, c, emd.Model{Trust: emd.Local, Items: 2, Diameter: 1}, nil)
	r := random.Seeded(1)
	seen := map[string]int{}
	for range 100_000 {
		seen[fmt.Sprint(testkit.Must(w.Release(r, emd.One([]int{2, 0}))))]++
	}
	var count []int
	var p []float64
	for key, q := range multisetLaw(c, []int{2, 0}) {
		count, p = append(count, seen[key]), append(p, q)
	}
	testkit.ChiSquare(t, count, p, 1e-7)
}

// Many draws, in many chunks, with and without a table: the counts of each
// output. Chi-square at level 1e-7.
func TestItemWise_LawOfManyDraws(t *testing.T) {
	space := line(t, 7)
	c := geometricChannel(t, space, 3)
	const n = 300_000
	items := slices.Repeat([]int{5}, n)
	w := newItemWise(t, c, emd.Model{Trust: emd.Local, Items: n, Diameter: 1}, nil)
	for _, r := range []*rand.Rand{nil, random.Seeded(7)} {
		got := testkit.Must(w.Release(r, emd.One(items)))
		obs := make([]int, len(got))
		for y, k := range got {
			obs[y] = int(k)
		}
		testkit.ChiSquare(t, obs, c.Row(5, nil), 1e-7)
	}
}

// A noiseless channel gives the data's own counts, whichever way they are
// tallied and drawn.
func TestItemWise_CountsEveryItemOnce(t *testing.T) {
	r := random.Seeded(5)
	for _, n := range []int{1, 3, 40, 3000} {
		c := identityChannel(t, n, &mechanism.ChannelOptions{Lazy: true})
		for _, m := range []int{1, 2, 25} {
			w := newItemWise(t, c, emd.Model{Trust: emd.Shuffled, Users: 4, Items: m, Diameter: 1}, nil)
			want := make([]int64, n)
			users := make([][]int, 4)
			for i := range users {
				for range m {
					x := r.IntN(min(n, 1+r.IntN(n)))
					users[i] = append(users[i], x)
					want[x]++
				}
			}
			got, err := w.Release(nil, testkit.Reusing(users...))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("n=%d m=%d: %v, %v, want %v", n, m, got, err, want)
			}
		}
	}
}

// Labels of the channel's outputs leave the counts alone.
func TestItemWise_CountsWithoutLabels(t *testing.T) {
	c := testkit.Must(identityChannel(t, 3, nil).Relabel([]int{10, 20, 30}))
	w := newItemWise(t, c, emd.Model{Trust: emd.Local, Items: 3, Diameter: 1}, nil)
	if counts, err := w.Release(nil, emd.One([]int{2, 2, 0})); err != nil || !slices.Equal(counts, []int64{1, 0, 2}) || w.Channel().Output(2) != 2 {
		t.Errorf("labels moved the counts: %v, %v", counts, err)
	}
}

// By brute force: the exact law of the multiset at all pairs of users, with all
// that the other users may hold.
func TestItemWise_PromiseHoldsExactly(t *testing.T) {
	space := line(t, 3)
	for _, tc := range []struct {
		model emd.Model
		beta  float64
		o     ItemWiseOptions
	}{
		{emd.Model{Trust: emd.Local, Items: 1, Diameter: 1}, 1, ItemWiseOptions{Delta: .01}},
		{emd.Model{Trust: emd.Local, Items: 3, Diameter: 1}, .5, ItemWiseOptions{Delta: .03}},
		{emd.Model{Trust: emd.Local, Items: 4, Diameter: 1}, 1.5, ItemWiseOptions{Delta: .1}},
		{emd.Model{Trust: emd.Local, Items: 4, Diameter: 1}, 1.5, ItemWiseOptions{}},
		{emd.Model{Trust: emd.Shuffled, Users: 2, Items: 2, Diameter: 1}, 1, ItemWiseOptions{Delta: .05, Space: space}},
		{emd.Model{Trust: emd.Central, Users: 3, Items: 2, Diameter: 1}, .7, ItemWiseOptions{Delta: .02, Space: space}},
		{emd.Model{Trust: emd.Shuffled, Users: 5, Items: 1, Diameter: 1}, .8, ItemWiseOptions{Delta: .02, Clones: accountant.MetricRandomizer}},
	} {
		c := geometricChannel(t, space, tc.beta)
		w := newItemWise(t, c, tc.model, &tc.o)
		others := testkit.Multisets(3, tc.model.Items*(max(1, tc.model.Users)-1))
		users := testkit.Multisets(3, tc.model.Items)
		worst := math.Inf(-1)
		for _, rest := range others {
			laws := make([]map[string]float64, len(users))
			for i, u := range users {
				laws[i] = multisetLaw(c, append(slices.Clone(u), rest...))
			}
			for i, u := range users {
				for j, v := range users {
					d := testkit.Must(wasserstein.DistanceEM(t.Context(), space, u, v))
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
	m := emd.Model{Trust: emd.Shuffled, Users: 100, Items: 10, Diameter: 1}
	w := newItemWise(t, c, m, &ItemWiseOptions{Delta: 1e-6})
	want, err := accountant.Shuffle{Records: 1000, Items: 10, Alpha0: alpha0, Diameter: 1}.Level(t.Context(), 1e-6)
	if err != nil || w.Guarantee().Alpha() != want.Value || w.Theorem() != want.Theorem || w.Guarantee().Delta() != 1e-6 {
		t.Errorf("%v by the %v, want %v, %v", w.Guarantee(), w.Theorem(), want, err)
	}
	if w = newItemWise(t, c, m, nil); w.Guarantee().Delta() != 0 || w.Theorem() != accountant.PureComposition || math.Abs(w.Guarantee().Alpha()/(10*alpha0)-1) > 1e-15 {
		t.Errorf("without delta: %v by the %v", w.Guarantee(), w.Theorem())
	}
	// A looser claim is tightened by an audit, and least distances help.
	loose := c.WithGuarantee(pureLevel(t, 2*alpha0))
	a := newItemWise(t, loose, m, &ItemWiseOptions{Delta: 1e-6}).Guarantee().Alpha()
	b := newItemWise(t, loose, m, &ItemWiseOptions{Delta: 1e-6, Space: space}).Guarantee().Alpha()
	if !(b < a) || b > want.Value {
		t.Errorf("claimed %v, audited %v, tight %v", a, b, want.Value)
	}
	// Of few inputs the probabilities themselves are looked at, of many the least distance.
	m.Items, m.Users = 3, 300
	own := newItemWise(t, c, m, &ItemWiseOptions{Delta: 1e-6, Space: space})
	s := accountant.Shuffle{Records: 900, Items: 3, Randomizer: testkit.Must(accountant.NewRandomizer(t.Context(), c, space))}
	if want = testkit.Must(s.Level(t.Context(), 1e-6)); own.Guarantee().Alpha() != want.Value || own.Theorem() != want.Theorem || want.Theorem != accountant.Blanket {
		t.Errorf("of its own probabilities: %v by the %v, want %v", own.Guarantee(), own.Theorem(), want)
	}
	many := line(t, maxOwn+1)
	c = geometricChannel(t, many, .3)
	alpha0 = c.Guarantee().Alpha()
	a = newItemWise(t, c, m, &ItemWiseOptions{Delta: 1e-6, Clones: accountant.MetricRandomizer, Space: many}).Guarantee().Alpha()
	want, err = accountant.Shuffle{Records: 900, Items: 3, Alpha0: alpha0, Clones: accountant.MetricRandomizer, MinDistance: 1. / maxOwn, Diameter: 1}.Level(t.Context(), 1e-6)
	if err != nil || math.Abs(a/want.Value-1) > 1e-6 {
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
	for _, m := range []emd.Model{
		{Trust: emd.Local, Items: 20, Diameter: 1},
		{Trust: emd.Shuffled, Users: 1000, Items: 20, Diameter: 1},
		{Trust: emd.Shuffled, Users: 7, Items: 3, Diameter: 4},
	} {
		for _, o := range []*ItemWiseOptions{nil, {Delta: 1e-9}, {Delta: 1e-4, Space: space}} {
			if o == nil {
				o = &ItemWiseOptions{}
			}
			b := testkit.Must(ItemWiseBudget(t.Context(), m, emd.Promise{Alpha: 5, Delta: o.Delta}, &BudgetOptions{Space: o.Space}))
			if b.Value < 5/float64(m.Items)*(1-1e-12) {
				t.Errorf("%v, %+v: %v below pure composition", m, o, b)
			}
			// The budget itself, not an audited level below it.
			without := *o
			without.Space = nil
			b = testkit.Must(ItemWiseBudget(t.Context(), m, emd.Promise{Alpha: 5, Delta: o.Delta}, nil))
			c := geometricChannel(t, space, .1).WithGuarantee(pureLevel(t, b.Value))
			g := newItemWise(t, c, m, &without).Guarantee()
			if g.Alpha() > 5*(1+2e-9) || g.Alpha() < 5*(1-1e-6) || g.Delta() > without.Delta {
				t.Errorf("%v, %+v: budget %v gives %v", m, without, b, g)
			}
		}
	}
}

// The level accounted for is the upper end of the audit where the claim is
// below it.
func TestItemWise_AccountsForTheWholeAudit(t *testing.T) {
	space := line(t, 4)
	c := geometricChannel(t, space, 1)
	a, err := c.Audit(t.Context(), space, nil)
	if err != nil || !(a.Lo < a.Hi) {
		t.Fatal(a, err)
	}
	w := newItemWise(t, c.WithGuarantee(pureLevel(t, a.Lo)), emd.Model{Trust: emd.Local, Items: 1, Diameter: 1}, &ItemWiseOptions{Space: space})
	if w.Guarantee().Alpha() != a.Hi {
		t.Errorf("claimed %v, audited %v: %v", a.Lo, a, w.Guarantee())
	}
}

// Pure composition and its budget, to the last bit.
func TestItemWise_PureLevelIsRoundedOutward(t *testing.T) {
	testkit.Rounding(t)
	c := geometricChannel(t, line(t, 3), .1)
	r := random.Seeded(8)
	for range 300 {
		m := emd.Model{Trust: emd.Local, Items: 1 + r.IntN(1000), Diameter: 1}
		alpha := r.Float64()
		items := new(big.Rat).SetInt64(int64(m.Items))
		g := newItemWise(t, c.WithGuarantee(pureLevel(t, alpha)), m, nil).Guarantee()
		if want := testkit.Ratio(alpha); testkit.Ratio(g.Alpha()).Cmp(want.Mul(want, items)) < 0 {
			t.Errorf("%d items of level %v: %v", m.Items, alpha, g)
		}
		b := testkit.Must(ItemWiseBudget(t.Context(), m, emd.Promise{Alpha: alpha}, nil))
		if got := testkit.Ratio(b.Value); got.Mul(got, items).Cmp(testkit.Ratio(alpha)) > 0 {
			t.Errorf("%d items at %v: budget %v", m.Items, alpha, b)
		}
	}
}

// By brute force: the items of one user, released in order through a channel.
func TestFromItems_PromiseHoldsExactly(t *testing.T) {
	space := line(t, 3)
	c := geometricChannel(t, space, 2)
	g := testkit.Must(emd.Model{Trust: emd.Local, Items: 3, Diameter: 1}.FromItems(c.Guarantee()))
	tight := 0.0
	for _, u := range testkit.Multisets(3, 3) {
		for _, v := range testkit.Multisets(3, 3) {
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
