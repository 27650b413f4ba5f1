package emd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func TestNewReduced_Promise(t *testing.T) {
	model := Model{Trust: Central, Users: 7, Items: 1000, Diameter: 5, Unit: "km"}
	inner := &promiseOf[int]{g: promise(t, model, 2, 1e-7)}
	d := testkit.Must(NewReduced[int, int](inner, Sampling{Radius: .5, Delta: 1e-6}))
	q, _ := sampleMean{1000, .1}.root(fixed(10), 1e-6)
	p := d.Guarantee().At(.5)
	if math.Abs(p.Eps/(2*5*q)-1) > 1e-12 || q >= .15332312 || math.Abs(p.Delta/1.1e-6-1) > 1e-12 || d.Samples() != 1000 {
		t.Errorf("%v", d.Guarantee())
	}
	if m := d.Guarantee().Model(); m.Bounded() || m.Users != 7 || m.Unit != "km" || m.Diameter != 5 {
		t.Errorf("model %v", m)
	}
	// Another radius of the same release; beyond the diameter nothing is spent
	// on sampling.
	g, err := reduced("", inner.g, Sampling{Radius: 1, Delta: 1e-6})
	if err != nil || g.At(1).Eps >= d.Guarantee().At(1).Eps {
		t.Errorf("radius 1: %v, %v; by steps %v", g, err, d.Guarantee().At(1))
	}
	for _, radius := range []float64{5, 50} {
		if g, err = reduced("", inner.g, Sampling{Radius: radius, Delta: 1e-6}); err != nil || g.At(radius) != (DP{10, 1e-7}) {
			t.Errorf("radius %v: %v, %v", radius, g, err)
		}
	}
}

// By brute force on two points at distance 1: the sampled count is binomial,
// the mechanism inside an exponential one on the counts, accounted for at its
// tight level. Whatever two users at distance r hold, the law of the result
// keeps the discrete promise.
func TestReduced_PromiseHoldsExactly(t *testing.T) {
	tightest := 0.0
	for _, s := range []int{1, 5, 40} {
		for _, alpha := range []float64{.5, 4, 30} {
			inner := make([][]float64, s+1)
			for k := range inner {
				row := make([]float64, s+1)
				for y := range row {
					row[y] = math.Exp(-alpha / 2 * math.Abs(float64(k-y)) / float64(s))
				}
				floats.Scale(1/floats.Sum(row), row)
				inner[k] = row
			}
			level := 0.0 // between neighboring counts, and so between all
			for k := range s {
				for y := range inner[k] {
					level = max(level, math.Abs(math.Log(inner[k][y]/inner[k+1][y]))*float64(s))
				}
			}
			for _, radius := range []float64{.02, .2, .7} {
				for _, deltaS := range []float64{1e-9, 1e-3, .2} {
					g, err := reduced("", promise(t, Model{Trust: Local, Items: s, Diameter: 1}, level, 0), Sampling{radius, deltaS})
					testkit.Check(t, err)
					pair := g.At(radius)
					for _, p := range []float64{0, .01, .1, .3, 1 - radius} {
						if p+radius > 1 {
							continue
						}
						laws := [2][]float64{make([]float64, s+1), make([]float64, s+1)}
						for i, q := range []float64{p, p + radius} {
							for k, v := range binomialLaw(s, q) {
								floats.AddScaled(laws[i], v, inner[k])
							}
						}
						for i := range 2 {
							delta := beyond(laws[i], laws[1-i], pair.Eps)
							if delta > pair.Delta+1e-14 {
								t.Errorf("s=%d alpha=%v r=%v p=%v: delta %v at %v", s, level, radius, p, delta, pair)
							}
							if pair.Delta > 0 {
								tightest = max(tightest, delta/pair.Delta)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("largest share of delta used: %.3g", tightest)
}

func TestReduced_Release(t *testing.T) {
	model := Model{Trust: Central, Users: 3, Items: 60_000, Diameter: 1}
	inner := &promiseOf[string]{g: promise(t, model, 1, 0)}
	d := testkit.Must(NewReduced[string, int](inner, Sampling{Radius: .1, Delta: 1e-6}))
	users := [][]string{{"a", "b", "b"}, {"c"}, {"a", "b", "c", "d", "e"}}
	if n, err := d.Release(random.Seeded(1), testkit.Reusing(users...)); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	// Draws are independent, of one user and of two: pairs are uniform, and two
	// thirds of the first user's are b.
	pairs, across := make([]int, 25), make([]int, 15)
	for i, x := range inner.seen[2] {
		across[5*(int(inner.seen[0][i][0])-'a')+int(x[0])-'a']++
		if i%2 == 1 {
			pairs[5*(int(inner.seen[2][i-1][0])-'a')+int(x[0])-'a']++
		}
	}
	testkit.ChiSquare(t, pairs, slices.Repeat([]float64{1. / 25}, 25), 1e-7)
	testkit.ChiSquare(t, across[:10], append(slices.Repeat([]float64{1. / 15}, 5), slices.Repeat([]float64{2. / 15}, 5)...), 1e-7)
	first := inner.seen
	if _, err := d.Release(random.Seeded(1), testkit.Reusing(users...)); err != nil || !slices.EqualFunc(first, inner.seen, slices.Equal[[]string]) {
		t.Errorf("the same seed gives other samples, %v", err)
	}
	for range 2 {
		last := inner.seen
		if _, err := d.Release(nil, testkit.Reusing(users...)); err != nil || slices.EqualFunc(last, inner.seen, slices.Equal[[]string]) {
			t.Errorf("no seed gives the same samples, %v", err)
		}
	}

	for _, bad := range [][][]string{users[:2], {{"a"}, {}, {"b"}}, append(users, users[0])} {
		if n, err := d.Release(nil, testkit.Reusing(bad...)); err == nil || n != 0 {
			t.Errorf("%v: %v, %v", bad, n, err)
		}
	}
	inner.stop = 2
	if _, err := d.Release(nil, testkit.Reusing(users...)); err != errInner {
		t.Errorf("the inner error is lost: %v", err)
	}
}

// drawing is a mechanism that says how many of a user's items are what it draws
// itself.
type drawing struct{ promiseOf[int] }

func (m *drawing) Release(r *rand.Rand, data Users[int]) (int, error) {
	same := 0
	for items := range data {
		for _, x := range items {
			if x == r.IntN(16) {
				same++
			}
		}
	}
	return same, nil
}

// What the mechanism inside draws from a seeded generator is not what chose the
// samples: 625 of 10,000 coincide, with deviation 25.
func TestReduced_SamplesAreIndependentOfTheMechanism(t *testing.T) {
	model := Model{Trust: Local, Items: 10_000, Diameter: 1}
	d := testkit.Must(NewReduced[int, int](&drawing{promiseOf[int]{g: promise(t, model, 1, 0)}}, Sampling{Radius: .1, Delta: 1e-6}))
	same, err := d.Release(random.Seeded(2), One([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}))
	if err != nil || same < 625-6*25 || same > 625+6*25 {
		t.Errorf("%d coincide, %v", same, err)
	}
}

// To the last bit: eps is no less than alpha times the c of arguments rounded
// up, delta no less than the sum.
func TestReduced_PromiseIsRoundedUp(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(10)
	for range 300 {
		model := Model{Trust: Local, Items: 1 << (8 + r.IntN(10)), Diameter: 1 + r.Float64()}
		alpha, delta := 1+r.Float64(), 1e-7*r.Float64()
		o := Sampling{Radius: .01 + .1*r.Float64(), Delta: 1e-7 * r.Float64()}
		g, err := reduced("", promise(t, model, alpha, delta), o)
		testkit.Check(t, err)
		c := sampleMean{float64(model.Items), directed.DivUp(o.Radius, model.Diameter)}
		q, _ := c.root(fixed(directed.MulUp(alpha, model.Diameter)), o.Delta)
		pair := g.At(o.Radius)
		eps := testkit.Ratio(q)
		if eps.Mul(eps, testkit.Ratio(model.Diameter)).Mul(eps, testkit.Ratio(alpha)); testkit.Ratio(pair.Eps).Cmp(eps) < 0 {
			t.Errorf("%+v, %+v, alpha=%v: eps = %v is below alpha*c", model, o, alpha, pair.Eps)
		}
		if sum := testkit.Ratio(delta); testkit.Ratio(pair.Delta).Cmp(sum.Add(sum, testkit.Ratio(o.Delta))) < 0 {
			t.Errorf("%+v, %+v: delta = %v is below the sum", model, o, pair.Delta)
		}
	}
}

// fixed is a level that does not depend on the root.
func fixed(alpha float64) func(float64) float64 { return func(float64) float64 { return alpha } }

// The Chernoff root, and how much looser the paper's is.
func TestSampleMean_KnownAnswers(t *testing.T) {
	for _, tc := range []struct{ s, r, delta, want, paper float64 }{
		{100, .01, 1e-6, .097346139, .438607},
		{1000, .01, 1e-12, .041200682, .107035},
		{1000, .1, 1e-6, .15332311, .282868},
		{1e4, .1, 1e-12, .12301689, .249711},
	} {
		c := sampleMean{tc.s, tc.r}
		got, capped := c.root(fixed(math.Inf(1)), tc.delta)
		if capped || math.Abs(got-tc.want) > 5e-9 {
			t.Errorf("%+v: %v, %v", tc, got, capped)
		}
		if paper := (1+math.Sqrt2)*tc.r + 3/tc.s*math.Log(1/tc.delta); math.Abs(paper/tc.paper-1) > 1e-5 {
			t.Errorf("%+v: the paper's c = %v", tc, paper)
		}
		// The mechanism's level only helps, and the more the lower it is.
		last := got
		for _, a := range []float64{1e6, 100, 5, .1} {
			q, capped := c.root(fixed(a), tc.delta)
			if capped || q > last || q <= tc.r {
				t.Errorf("%+v, level %v: %v after %v", tc, a, q, last)
			}
			last = q
		}
	}
}

// The exponent is a lower bound, to the last bit, and close.
func TestSampleMean_ExponentIsBelowTheExactOne(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(2)
	for range 500 {
		mean := math.Pow(10, -6*r.Float64())
		q := mean + (1-mean)*math.Pow(10, -8*r.Float64())
		if !(q > mean && q < 1) {
			continue
		}
		s, a := math.Pow(10, 9*r.Float64()), math.Pow(10, 4*r.Float64()-2)
		got, want := sampleMean{s, mean}.exponent(q, a), bigExponent(s, mean, q, a)
		if gap, _ := new(big.Float).Sub(want, big.NewFloat(got)).Float64(); !(gap >= 0 && gap <= 1e-12*(1+s)) {
			t.Fatalf("s=%v mean=%v q=%v a=%v: %v is below the exact exponent by %v", s, mean, q, a, got, gap)
		}
	}
}

// bigExponent is s*kl(q||mean) + ln(1+s*kl'(q)/a) in 200 bits.
func bigExponent(s, mean, q, a float64) *big.Float {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	z := func() *big.Float { return new(big.Float).SetPrec(200) }
	one := f(1)
	rest, restMean := z().Sub(one, f(q)), z().Sub(one, f(mean))
	g, h := bigLog(z().Quo(f(q), f(mean))), bigLog(z().Quo(rest, restMean))
	kl := z().Add(z().Mul(f(q), g), z().Mul(rest, h))
	slope := z().Mul(f(s), z().Sub(g, h))
	return z().Add(z().Mul(f(s), kl), bigLog(z().Add(one, z().Quo(slope, f(a)))))
}

// bigLog is ln x by Newton's method on the exponential.
func bigLog(x *big.Float) *big.Float {
	v, _ := x.Float64()
	y := new(big.Float).SetPrec(200).SetFloat64(math.Log(v))
	for range 4 { // y += x e^-y - 1 doubles the digits
		lo, _ := exact.ExpBounds(new(big.Float).SetPrec(200).Neg(y), 200)
		step := new(big.Float).SetPrec(200).Mul(x, lo)
		y.Add(y, step.Sub(step, big.NewFloat(1)))
	}
	return y
}

// The core of the proof by brute force: the mean over the sampling of what the
// level leaves over is within delta_s, with little to spare for large samples.
func TestReduced_SamplingPart(t *testing.T) {
	for _, s := range []int{1, 10, 300, 2000} {
		for _, r := range []float64{.01, .1, .5} {
			law := binomialLaw(s, r) // the extreme law of D*s
			for _, alpha := range []float64{.1, 5, 100, 1e9} {
				for _, delta := range []float64{.1, 1e-6, 1e-12} {
					c, capped := sampleMean{float64(s), r}.root(fixed(alpha), delta)
					got := 0.0
					for k, v := range law {
						if d := float64(k) / float64(s); d > c {
							got += v * -math.Expm1(-alpha*(d-c))
						}
					}
					if got > delta*(1+1e-9) || capped && got > 0 {
						t.Errorf("s=%d r=%v alpha=%v: %v passes %v at c=%v", s, r, alpha, got, delta, c)
					}
				}
			}
		}
	}
}

// A plan's mechanism keeps the target, with less than 1e-9 of eps to spare.
func TestPlanReduction_MeetsTheTarget(t *testing.T) {
	r := random.Seeded(9)
	for range 300 {
		model := Model{Trust: Local, Diameter: math.Pow(10, 4*r.Float64()-2)}
		radius := model.Diameter * math.Pow(10, -5*r.Float64())
		target := DP{math.Pow(10, 4*r.Float64()-2), math.Pow(10, -12*r.Float64()-.1)}
		o := &PlanOptions{Samples: []int{1 << r.IntN(30)}}
		if r.IntN(2) == 0 {
			o.Value = func(p ReducePlan) float64 { return p.Alpha / math.Sqrt(-math.Log(p.Delta)) }
		}
		p := testkit.Must(PlanReduction(t.Context(), model, radius, target, o))
		g, err := reduced("", promise(t, p.Model, p.Alpha, p.Delta), p.Sampling)
		testkit.Check(t, err)
		got := g.At(radius)
		if got.Eps > target.Eps || got.Delta > target.Delta || got.Eps < target.Eps*(1-1e-9) && p.SampleDistance < model.Diameter {
			t.Errorf("%+v gives %v, want %v", p, got, target)
		}
	}
}

func TestPlanReduction_SplitsDelta(t *testing.T) {
	model := Model{Trust: Central, Users: 100, Diameter: 1}
	target := DP{1, 1e-6}
	// Without a value: all delta to the sampling, and the most samples.
	p, err := PlanReduction(t.Context(), model, .05, target, nil)
	if err != nil || p.Model.Items != 1<<16 || p.Delta != 0 || p.Sampling.Delta != target.Delta || p.Value != p.Alpha {
		t.Errorf("%+v, %v", p, err)
	}
	// A mechanism whose level falls with ln(1/delta): the best split is inside,
	// and no split of a grid is better by more than the search may miss.
	value := func(p ReducePlan) float64 { return p.Alpha / math.Sqrt(math.Log(2/p.Delta)) }
	for _, s := range []int{50, 1000} {
		p, err = PlanReduction(t.Context(), model, .05, target, &PlanOptions{Samples: []int{s}, Value: value})
		testkit.Check(t, err)
		share := p.Sampling.Delta / target.Delta
		best := 0.0
		for k := 1; k < 1000; k++ {
			plan := planner{model: Model{Trust: Central, Users: 100, Items: s, Diameter: 1}, radius: .05, target: target, value: value}
			best = max(best, plan.try(target.Delta*float64(k)/1000))
		}
		if !(share > .01 && share < .99) || p.Value < best*(1-1e-4) {
			t.Errorf("s=%d: share %v, value %v, grid %v", s, share, p.Value, best)
		}
	}
}
