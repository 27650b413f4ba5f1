package mechanism

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// byLoss is a budget of that limit between inputs up to a distance of 2.
func byLoss(t testing.TB, alpha, delta float64, o BudgetOptions) *Budget {
	o.ByLoss = true
	return testkit.Must(NewBudget(promise(alpha, delta, 2, "km"), &o))
}

// The counts of the documentation, and what as many releases have together, exactly where they
// are randomized response: it is within the limit.
func TestBudget_ByLossAffordsManyAndKeepsTheLimit(t *testing.T) {
	for _, c := range []struct {
		alpha, delta, cost float64
		want               int
	}{{2.5, 1e-6, .05, 79}, {2.5, 1e-6, .005, 7394}, {2.5, 1e-6, 1, 1}, {.1, 1e-9, .001, 0}, {40, 1e-3, 2, 0}} {
		b := byLoss(t, c.alpha, c.delta, BudgetOptions{})
		g := promise(c.cost, 0, 0, "km")
		n := spendAll(t, b, g)
		if c.want != 0 && n != c.want {
			t.Errorf("%+v: %d releases", c, n)
		}
		if n == 0 {
			continue
		}
		all := testkit.Must(NewComposition(Repeated{fixed{g}, int64(n)}))
		for _, distance := range []float64{2, 1, .3, .01} {
			if a := testkit.Must(all.AuditAt(t.Context(), distance, c.delta)); a.Hi > c.alpha {
				t.Errorf("%+v: %d releases at %v: %v", c, n, distance, a)
			}
		}
		left, spent := testkit.Must(b.Left()), testkit.Must(b.Spent())
		if !(left.Alpha() < c.cost) || spent.Alpha() > c.alpha*(1+1e-12) || spent.Reach() != 2 || spent.Delta() != c.delta/2 {
			t.Errorf("%+v: spent %v, %v", c, spent, left)
		}
		testkit.Check(t, b.Spend(left.Guarantee))
		if again := testkit.Must(b.Left()); again.Alpha() > 1e-3*left.Alpha() {
			t.Errorf("%+v: %v after all of it", c, again)
		}
	}
}

// fixed is a mechanism of which the level is known.
type fixed struct{ g Guarantee }

func (f fixed) Guarantee() Guarantee { return f.g }

// A cost is the divergence of randomized response, rounded up and by little, and a part of the
// distance costs at most that part at a higher order.
func TestLossFilter_CostsAreDivergences(t *testing.T) {
	r := random.Seeded(61)
	wide := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	divergence := func(order, u float64) *big.Float {
		// ln((e^((1+order) u) + e^(-order u))/(1 + e^u))/order
		exp := func(c, u float64) *big.Float {
			e, _ := exact.ExpBounds(wide(0).Mul(wide(c), wide(u)), 260)
			return new(big.Float).SetPrec(300).Set(e)
		}
		sum := exp(1, u)
		top := wide(0).Mul(exp(order, u), sum)
		top.Add(top, wide(0).Quo(wide(1), exp(order, u)))
		top.Quo(top, sum.Add(sum, wide(1)))
		return top.Quo(log300(top), wide(order))
	}
	for range 400 {
		f := lossFilter{Order: math.Exp(3*r.NormFloat64() + 1), Reach: 1}
		u := math.Exp(3*r.NormFloat64() - 2)
		if f.Order*u > 500 {
			continue
		}
		got, want := f.cost(u), divergence(f.Order, u)
		if v, _ := want.Float64(); wide(got).Cmp(want) < 0 || got > v*(1+1e-9)+0x1p-47*(1+1/f.Order) {
			t.Errorf("order %v, level %v: %v, want %v", f.Order, u, got, want)
		}
		part := r.Float64()
		far := lossFilter{Order: (1+f.Order)/part - 1, Reach: part}
		if near, all := far.cost(u), got; near > part*all*(1+1e-9)+0x1p-46*(1+1/f.Order) {
			t.Errorf("order %v, level %v, %v of the distance: %v of %v", f.Order, u, part, near, all)
		}
		if tiny := f.cost([]float64{5e-324, 1e-200, 1e-163}[r.IntN(3)]); tiny == 0 {
			t.Errorf("order %v: a release is free", f.Order)
		}
		if back := f.level(got); math.Abs(back-u) > 1e-6*u+1e-8 {
			t.Errorf("order %v: level %v of cost %v, want %v", f.Order, back, got, u)
		}
	}
}

func TestBudget_ByLossIsKept(t *testing.T) {
	store := newMemory()
	o := BudgetOptions{Store: store, Name: "ann"}
	b := byLoss(t, 2.5, 1e-6, o)
	for range 40 {
		testkit.Check(t, b.Spend(promise(.05, 0, 0, "km")))
	}
	again := byLoss(t, 2.5, 1e-6, o)
	if a, c := testkit.Must(b.Left()), testkit.Must(again.Left()); a != c {
		t.Errorf("%v, kept %v", a, c)
	}
	// Another limit keeps the order.
	if less := testkit.Must(byLoss(t, 1, 1e-6, o).Left()); less.Alpha() != 0 {
		t.Errorf("of a lower limit %v", less)
	}
	if more := spendAll(t, byLoss(t, 3, 1e-6, o), promise(.05, 0, 0, "km")); more != 68 {
		t.Errorf("%d more at a higher limit", more)
	}
	// Deltas take their half.
	d := byLoss(t, 2.5, 1e-6, BudgetOptions{})
	if n := spendAll(t, d, promise(.001, 1e-7, 0, "km")); n != 5 && n != 4 {
		t.Errorf("%d releases of delta 1e-7", n)
	}
}
