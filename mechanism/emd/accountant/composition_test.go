package accountant

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// bg is the context of questions without a deadline.
var bg = context.Background()

func TestCompose_KnownAnswers(t *testing.T) {
	for _, c := range []struct{ delta, item float64 }{{1e-12, 0.004838732781}, {1e-6, 0.007495100134}} {
		got, err := ComposeBudget(bg, 1000, 1, c.delta)
		if err != nil || math.Abs(got/c.item-1) > 1e-9 {
			t.Errorf("delta %g: item %.12g, want %.12g, %v", c.delta, got, c.item, err)
		}
		level, err := Composition{1000, got}.Level(bg, c.delta)
		if err != nil || math.Abs(level-1) > 1e-10 {
			t.Errorf("delta %g: level %.12g, %v", c.delta, level, err)
		}
	}
}

// bigCompose is the divergence of the laws of randomized response, in 300 bits.
func bigCompose(m int64, item, eps float64) *big.Float {
	f := wide
	exp := func(x *big.Float) *big.Float { v, _ := exact.ExpBounds(x, 200); return v }
	e := exp(f(-item)) // weight of a wrong answer, of a right one 1
	total, norm, power := f(0), f(0), f(1)
	for wrong := range m + 1 {
		w := f(0).SetInt(new(big.Int).Binomial(m, wrong))
		w.Mul(w, power)
		norm.Add(norm, w)
		x := f(float64(m - 2*wrong))
		if x.Mul(x, f(item)).Sub(f(eps), x); x.Sign() < 0 {
			total.Add(total, w.Mul(w, f(0).Sub(f(1), exp(x))))
		}
		power.Mul(power, e)
	}
	return total.Quo(total, norm)
}

// Nor is it above by more than its doc says, but where hardly anything is left.
func TestCompositionDelta_IsNotBelowTheDivergence(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(31)
	for range 200 {
		c := Composition{1 + r.Int64N(60), math.Exp(10*r.Float64() - 7)}
		eps := max(0, 1.1*r.Float64()-.1) * c.Item * float64(c.Count)
		limit := 1 + 1e-9
		if r.IntN(2) == 0 { // next to the sum, where Eps-loss loses its digits
			eps, limit = c.Item*float64(c.Count)*(1-math.Pow(10, -12*r.Float64())), math.Inf(1)
		}
		got := testkit.Must(c.Delta(bg, eps))
		want := bigCompose(c.Count, c.Item, eps)
		over, _ := new(big.Float).Quo(big.NewFloat(got), want).Float64()
		if big.NewFloat(got).Cmp(want) < 0 || over > limit {
			t.Errorf("%+v at %v: %v of the divergence", c, eps, over)
		}
	}
}

// The rest of the sum, up to 2^-40 of it, is added: here it is most of that,
// and the slack for roundings half as much.
func TestCompositionDelta_CountsTheRest(t *testing.T) {
	for c, eps := range map[Composition]float64{
		{96, 6.654119659625958}: 261.0018265728456,
		{145, 6.5}:              300,
		{145, 5.9}:              20,
	} {
		want := bigCompose(c.Count, c.Item, eps)
		near, _ := want.Float64()
		over, _ := new(big.Float).Quo(wide(near), want).Float64()
		if got, _ := c.logDelta(bg, eps); got < math.Log(near)-math.Log(over) {
			t.Errorf("%+v: ln delta %.17g, is %.17g", c, got, math.Log(near))
		}
	}
}

// The probability of a wrong answer is no larger than it is, and smaller by
// roundings only, each of which goes the right way.
func TestComposition_WrongIsRoundedDown(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(33)
	for range 2000 {
		item := math.Exp(9*r.Float64() - 7)
		q := wide(Composition{Item: item}.wrong())
		odds := func(e *big.Float) *big.Float { return e.Add(e, wide(1)).Mul(e, q) } // q(1+e)
		lo, hi := exact.ExpBounds(wide(item), 200)
		if odds(hi).Cmp(wide(1)) > 0 || odds(wide(directed.ExpUp(item))).Cmp(wide(1)) > 0 || odds(lo).Cmp(wide(1-0x1p-49)) < 0 {
			t.Errorf("item %v: %v", item, q)
		}
	}
}

// Levels and budgets are the ends of their brackets at which delta is kept.
func TestCompose_AnswersKeepDelta(t *testing.T) {
	r := random.Seeded(32)
	for range 100 {
		c, slack := Composition{2 + r.Int64N(1000), 0.01 + r.Float64()}, math.Pow(10, -1-11*r.Float64())
		eps := testkit.Must(c.Level(bg, slack))
		delta, err := c.Delta(bg, eps)
		if err != nil || delta > slack {
			t.Errorf("%+v: level %v of %v has delta %v, %v", c, eps, slack, delta, err)
		}
		eps = 0.1 + r.Float64()
		item := testkit.Must(ComposeBudget(bg, c.Count, eps, slack))
		if delta, err = (Composition{c.Count, item}).Delta(bg, eps); err != nil || delta > slack {
			t.Errorf("%+v: budget %v of (%v, %v) has delta %v, %v", c, item, eps, slack, delta, err)
		}
		items := new(big.Rat).SetInt64(c.Count)
		if item, err = ComposeBudget(bg, c.Count, eps, 0); err != nil || items.Mul(items, testkit.Ratio(item)).Cmp(testkit.Ratio(eps)) > 0 {
			t.Errorf("%+v: budget %v of %v, %v", c, item, eps, err)
		}
		items.SetInt64(c.Count)
		if eps, err = c.Level(bg, 0); err != nil || items.Mul(items, testkit.Ratio(c.Item)).Cmp(testkit.Ratio(eps)) > 0 {
			t.Errorf("%+v: level %v, %v", c, eps, err)
		}
	}
}
