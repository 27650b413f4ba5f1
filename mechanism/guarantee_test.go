package mechanism

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func TestGuarantee_Laws(t *testing.T) {
	var none Guarantee
	g, h := promise(0.1, 1e-6, 0, "km"), promise(0.2, 0, 0, "km")
	sum, err := g.Plus(h)
	if err != nil || sum.Alpha() < 0.30000000000000004 || sum.Alpha() > 0.3+1e-15 || sum.Delta() != 1e-6 || sum.Unit() != "km" {
		t.Error(sum, err)
	}
	if _, err := g.Plus(promise(0.2, 0, 0, "miles")); !errors.Is(err, ErrUnit) {
		t.Errorf("km + miles: %v", err)
	}
	if s, err := g.Plus(none); err != nil || !math.IsInf(s.Alpha(), 1) || none.String() != "no guarantee" {
		t.Errorf("with nothing: %v %v", s, err)
	}
	if eps, delta := g.At(3); eps < 0.3 || eps > 0.3+1e-15 || delta != 1e-6 {
		t.Error(eps, delta)
	}
	near := testkit.Must(g.Within(5))
	if eps, _ := near.At(5); eps < 0.5 || eps > 0.51 || near.Reach() != 5 || !math.IsInf(g.Reach(), 1) {
		t.Errorf("within 5: %v %v", near, eps)
	}
	far, s := testkit.Must(near.Within(9)), testkit.Must(h.Plus(near))
	if far.Reach() != 5 || s.Reach() != 5 {
		t.Errorf("%v, and the sum %v", far, s)
	}
	// Nothing is promised where there is no guarantee, no distance, or beyond the reach.
	of := func(eps, _ float64) float64 { return eps }
	infinite := promise(math.Inf(1), 0, 0, "")
	for i, eps := range []float64{g.Times(-1).Alpha(), none.Times(0).Alpha(), none.Times(3).Alpha(), infinite.Times(2).Alpha(), none.Alpha(), of(none.At(0)), of(g.At(-1)), of(g.At(-5e-324)), of(g.At(math.NaN())), of(near.At(5.001)), of(near.Group(2, 6)), of(g.Group(-1, 1))} {
		if !math.IsInf(eps, 1) {
			t.Errorf("case %d: %v", i, eps)
		}
	}
	if times := testkit.Must(near.Within(3)).Times(2); times.Unit() != "km" || times.Reach() != 3 || infinite.Times(0).Alpha() != 0 || promise(0, 0.4, 0, "").Times(3).Delta() != 1 {
		t.Errorf("twice: %v", times)
	}
	// Group privacy by direct summation: delta sum_{i<k} e^(i eps).
	want := 0.0
	for i := range 4 {
		want += 1e-6 * math.Exp(0.2*float64(i))
	}
	if eps, delta := g.Group(4, 2); math.Abs(eps-0.8) > 1e-15 || delta < want || delta > want*(1+1e-12) {
		t.Errorf("group: %v %v, want 0.8 %v", eps, delta, want)
	}
	if eps, delta := h.Group(5, 1); delta != 0 || math.Abs(eps-1) > 1e-15 {
		t.Error(eps, delta)
	}
	if _, delta := g.Group(100, 100); delta != 1 {
		t.Errorf("delta beyond 1: %v", delta)
	}
	if eps, delta := g.Group(0, 1); eps != 0 || delta != 0 {
		t.Error(eps, delta)
	}
}

// Levels, deltas and groups are above the exact ones, by an ulp or two.
func TestGuarantee_RoundsUp(t *testing.T) {
	number := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	above := func(name string, got float64, want *big.Rat) {
		t.Helper()
		if number(got).Cmp(want) < 0 || number(got*(1-1e-15)).Cmp(want) > 0 {
			t.Errorf("%s: %v is not just above the exact number", name, got)
		}
	}
	r := random.Seeded(12)
	for range 200 {
		var g [2]Guarantee
		for i := range g {
			g[i] = promise(r.ExpFloat64(), r.Float64()/4, 0, "")
		}
		d, k := r.ExpFloat64(), 1+r.IntN(100)
		sum := testkit.Must(g[0].Plus(g[1]))
		above("sum", sum.Alpha(), new(big.Rat).Add(number(g[0].Alpha()), number(g[1].Alpha())))
		above("sum of delta", sum.Delta(), new(big.Rat).Add(number(g[0].Delta()), number(g[1].Delta())))
		eps, _ := g[0].At(d)
		want := new(big.Rat).Mul(number(g[0].Alpha()), number(d))
		above("At", eps, want)
		eps, _ = g[0].Group(k, d)
		above("Group", eps, want.Mul(want, number(float64(k))))
		above("Times", g[0].Times(k).Alpha(), want.Mul(number(g[0].Alpha()), number(float64(k))))
		above("delta of Times", g[0].Times(3).Delta(), want.Mul(number(g[0].Delta()), number(3)))
	}
	// At eps = 0 deltas add, and where e^eps overflows nothing is left.
	for alpha, want := range map[float64]float64{0: 4e-6, 1e308: 1} {
		g := testkit.Must(NewGuarantee(alpha, 1e-6, ""))
		if _, delta := g.Group(4, 1); delta != want {
			t.Errorf("four steps at alpha %v: delta %v, want %v", alpha, delta, want)
		}
	}
}

// Where e^eps-1 has few digits or none, delta is above the exact sum and close to it.
func TestGroup_TinyLevelsRoundUp(t *testing.T) {
	const delta = 1e-6
	for _, alpha := range []float64{5e-324, 1e-323, 2e-322, 1e-310, 0x1p-1022, 1e-300, 1e-100, 1e-30, 1e-17, 1e-16, 1e-9, 1e-4} {
		for _, k := range []int{1, 2, 3, 10, 1000} {
			g := testkit.Must(NewGuarantee(alpha, delta, ""))
			eps, got := g.Group(k, 1)
			// delta times the sum of e^(i alpha), i < k, to 2,300 bits.
			ratio, _ := exact.ExpBounds(big.NewFloat(alpha), 2300)
			term, want := new(big.Float).SetPrec(2300).SetInt64(1), new(big.Float).SetPrec(2300)
			for range k {
				want.Add(want, term)
				term.Mul(term, ratio)
			}
			want.Mul(want, big.NewFloat(delta))
			level := new(big.Float).SetPrec(2300).Mul(big.NewFloat(alpha), big.NewFloat(float64(k)))
			above, _ := want.Float64()
			if big.NewFloat(got).Cmp(want) < 0 || got > above*(1+1e-14) || big.NewFloat(eps).Cmp(level) < 0 {
				t.Errorf("%d steps at alpha %v: (%v, %v), exact delta %.17g", k, alpha, eps, got, want)
			}
		}
	}
	if got := promise(1, 0, 0, "").Times(math.MaxInt); got.Alpha() < math.MaxInt {
		t.Error(got)
	}
	// float64(1<<53+1) is 1<<53.
	g := testkit.Must(NewGuarantee(1, 0, ""))
	if k := int64(1<<53 + 1); int64(int(k)) == k {
		if eps, _ := g.Group(int(k), 1); eps < 1<<53+2 {
			t.Errorf("2^53+1 steps: %v", eps)
		}
	}
	zero := testkit.Must(NewGuarantee(0, 0, ""))
	if eps, _ := zero.At(math.Inf(1)); !math.IsInf(eps, 1) {
		t.Errorf("alpha 0 at an infinite distance: %v", eps)
	}
}

// What a guarantee prints is no better than what it is, and rounded no more than it has to be.
func TestGuarantee_StringRoundsOutward(t *testing.T) {
	for _, c := range []struct {
		alpha, delta, reach float64
		want                string
	}{
		{1, 0, 0, "1-private per km"},
		{.1, 0, 0, "0.1-private per km"},
		{math.Nextafter(1, 2), 0, 0, "1.00001-private per km"},
		{0.30000000000000004, 0, 0, "0.300001-private per km"},
		{math.Log(3), 0, 0, "1.09862-private per km"}, // 1.0986122...
		{math.Ln2, 0, 0, "0.693148-private per km"},   // .69314718...
		{9.9999991, 0, 0, "10-private per km"},
		{99999.91, 0, 0, "100000-private per km"},
		{999999.1, 0, 0, "1e+06-private per km"},
		{1e-300, 0, 0, "1e-300-private per km"},
		{5e-324, 0, 0, "5e-324-private per km"},
		{1.0000001e-5, 0, 0, "1.00001e-05-private per km"},
		{0, 0, 0, "0-private per km"},
		{1, 1.001e-6, 0, "(1 per km, 1.01e-06)-private"},
		{1, .9991, 0, "(1 per km, 1)-private"},
		{1, 1e-6, 20, "(1 per km, 1e-06)-private up to 20 km"},
		{1, 0, 19.9999999, "1-private per km up to 19.9999 km"},
		{1, 0, math.Log(3), "1-private per km up to 1.09861 km"},
	} {
		if g := promise(c.alpha, c.delta, c.reach, "km"); g.String() != c.want {
			t.Errorf("%v, %v, %v: %q, want %q", c.alpha, c.delta, c.reach, g, c.want)
		}
	}
	for _, v := range []float64{math.Inf(1), math.NaN()} {
		if got, want := outward(v, 6, false), fmt.Sprint(v); got != want {
			t.Errorf("%v prints as %s", v, got)
		}
	}
	r := random.Seeded(13)
	for range 100_000 {
		v := math.Float64frombits(r.Uint64() >> 1)
		if !(v <= math.MaxFloat64) {
			continue
		}
		digits := 3 + r.IntN(7)
		hi, err := strconv.ParseFloat(outward(v, digits, true), 64)
		lo, err2 := strconv.ParseFloat(outward(v, digits, false), 64)
		if err != nil && !math.IsInf(hi, 1) || err2 != nil || lo > v || hi < v || hi-lo > v*math.Pow10(1-digits)*(1+1e-6)+1e-322 && !math.IsInf(hi, 1) {
			t.Fatalf("%v to %d digits: %v %v, %v %v", v, digits, lo, err2, hi, err)
		}
	}
}

// coin tells two points at distance 1 apart: the point with the weight 1, the other with e^(-rate).
func coin(rate float64) (*Channel, error) {
	return FromLogWeights(context.Background(), 2, 2, []float64{0, -rate, -rate, 0}, nil)
}

// Randomized response, in closed form: p - e^level (1-p) = delta for the probability p of
// the truth, and rate = ln(p/(1-p)).
func TestAtLevel_RandomizedResponse(t *testing.T) {
	pair := testkit.Must(metric.NewPoints([]float64{0, 1}, metric.Numbers[float64]{}))
	for _, c := range []struct{ level, delta, times float64 }{{1, 0, 1}, {1, .01, .5}, {.1, .1, .5}, {5, 1e-3, .5}, {1, .2, 64}, {.7, 0, 1 << 10}} {
		got, alpha, err := AtLevel(t.Context(), pair, c.level, func(_ context.Context, alpha float64) (*Channel, error) { return coin(alpha * c.times) },
			&AuditOptions{Delta: c.delta})
		if err != nil {
			t.Fatal(err)
		}
		p := (math.Exp(c.level) + c.delta) / (1 + math.Exp(c.level))
		want := math.Log(p/(1-p)) / c.times
		if g := got.Guarantee(); !(alpha <= want && alpha > want*(1-2e-3)) || g.Alpha() > c.level || g.Alpha() < .99*c.level || g.Delta() != c.delta {
			t.Errorf("%+v: alpha %v, %v, want %v", c, alpha, g, want)
		}
	}
}

func TestAtLevel_Ends(t *testing.T) {
	pair := testkit.Must(metric.NewPoints([]float64{0, 1}, metric.Numbers[float64]{}))
	steps := 0
	constant := func(rate float64) func(context.Context, float64) (*Channel, error) {
		return func(context.Context, float64) (*Channel, error) { steps++; return coin(rate) }
	}
	if c, alpha, err := AtLevel(t.Context(), pair, 2, constant(1), nil); err != nil || alpha != 0x1p61 || c.Guarantee().Alpha() > 1.001 || steps > 70 {
		t.Errorf("a level that stays below: %v, %v, %v, %d steps", c, alpha, err, steps)
	}
	// Level 1 needs an alpha of 2^-60, which is the last one that is tried.
	last := func(_ context.Context, alpha float64) (*Channel, error) { return coin(alpha * 0x1p60 * (1 - 1e-6)) }
	if c, alpha, err := AtLevel(t.Context(), pair, 1, last, nil); err != nil || c.Guarantee().Alpha() > 1 || math.Abs(alpha*0x1p60-1) > 2e-3 {
		t.Errorf("the last alpha: %v, %v, %v", c, alpha, err)
	}
	failing := errors.New("no such mechanism")
	build := func(c *Channel, err error) func(context.Context, float64) (*Channel, error) {
		return func(context.Context, float64) (*Channel, error) { return c, err }
	}
	of := func(level float64, build func(context.Context, float64) (*Channel, error)) error {
		_, _, err := AtLevel(t.Context(), pair, level, build, nil)
		return err
	}
	refuse(t, []refused{
		{of(1, nil), "AtLevel: build: empty"},
		{of(.5, constant(1)), "AtLevel: "}, // at every alpha the level is above
		{of(1, build(nil, nil)), "AtLevel: "},
		{of(1, build(FromWeights(t.Context(), 1, 1, []float64{1}, nil))), "AtLevel: rho has size 2, want 1"},
	})
	if err := of(1, build(nil, failing)); !errors.Is(err, failing) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := AtLevel(ended, pair, 1, constant(1), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
