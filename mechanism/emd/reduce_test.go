package emd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

// klOf is the divergence of Bernoulli laws, as its definition says.
func klOf(q, r float64) float64 {
	return q*math.Log(q/r) + (1-q)*math.Log((1-q)/(1-r))
}

// MATH.md section 4: the Chernoff root, and how much looser the paper's is.
func TestChernoff_KnownAnswers(t *testing.T) {
	for _, tc := range []struct{ s, r, delta, want, paper float64 }{
		{100, .01, 1e-6, .097346139, .438607},
		{1000, .01, 1e-12, .041200682, .107035},
		{1000, .1, 1e-6, .15332311, .282868},
		{1e4, .1, 1e-12, .12301689, .249711},
	} {
		c := chernoff{tc.s, tc.r}
		got, capped := c.root(math.Inf(1), false, tc.delta)
		if capped || math.Abs(got-tc.want) > 5e-9 {
			t.Errorf("%+v: %v, %v", tc, got, capped)
		}
		if paper := (1+math.Sqrt2)*tc.r + 3/tc.s*math.Log(1/tc.delta); math.Abs(paper/tc.paper-1) > 1e-5 {
			t.Errorf("%+v: the paper's c = %v", tc, paper)
		}
		// The mechanism's level only helps, and the more the lower it is.
		last := got
		for _, a := range []float64{1e6, 100, 5, .1} {
			q, capped := c.root(a, false, tc.delta)
			if capped || q > last || q <= tc.r {
				t.Errorf("%+v, level %v: %v after %v", tc, a, q, last)
			}
			last = q
		}
	}
}

// The exponent is a lower bound, and close.
func TestChernoff_ExponentIsRoundedDown(t *testing.T) {
	r := rng.Seeded(1)
	for range 20_000 {
		mean := math.Pow(10, -6*r.Float64())
		q := mean + (1-mean)*math.Pow(10, -8*r.Float64())
		if !(q > mean && q < 1) {
			continue
		}
		s, a := math.Pow(10, 9*r.Float64()), math.Pow(10, 4*r.Float64()-2)
		c := chernoff{s, mean}
		slope := math.Log(q * (1 - mean) / (mean * (1 - q)))
		want := s*klOf(q, mean) + math.Log1p(s*slope/a)
		got := c.exponent(q, a, false)
		// klOf and slope cancel: their own errors are a few ulps of 1.
		tol := 1e-14*want + s*1e-15*(1+math.Abs(math.Log(mean))) + s/a*2e-15/(1+s*slope/a)
		if got > want+tol || got < want-tol {
			t.Fatalf("s=%v mean=%v q=%v a=%v: %v, want %v", s, mean, q, a, got, want)
		}
		if b := c.exponent(q, a*q, true); b > got*(1+1e-12)+1e-12 || b < got*(1-1e-12)-1e-12 {
			t.Fatalf("budget: %v, level: %v", b, got)
		}
	}
}

// promiseOf is a stand-in for a mechanism: it promises, and records what it reads.
type promiseOf[P any] struct {
	g    Guarantee
	seen [][]P
	stop int // users to read; 0: all
}

func (m *promiseOf[P]) Guarantee() Guarantee { return m.g }

var errInner = errors.New("inner")

func (m *promiseOf[P]) Release(_ *rand.Rand, data Users[P]) (int, error) {
	m.seen = nil
	for items := range data {
		m.seen = append(m.seen, slices.Clone(items))
		if len(m.seen) == m.stop {
			return 0, errInner
		}
	}
	return len(m.seen), nil
}

func promise(t testing.TB, m Model, alpha, delta float64) Guarantee {
	t.Helper()
	level, err := mechanism.NewGuarantee(alpha, delta, m.Unit)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGuarantee(m, level)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// binomial is the law of s items of two points, one of them of probability p.
func binomialLaw(s int, p float64) []float64 {
	law := []float64{1}
	for range s {
		next := make([]float64, len(law)+1)
		for k, v := range law {
			next[k] += v * (1 - p)
			next[k+1] += v * p
		}
		law = next
	}
	return law
}

// By brute force on two points at distance 1: the sampled count is binomial, the
// mechanism inside an exponential one on the counts, accounted for at its tight
// level. Whatever two users at distance r hold, the law of
// the result keeps the discrete promise.
func TestReduced_PromiseHoldsExactly(t *testing.T) {
	tightest := 0.0
	for _, s := range []int{1, 5, 40} {
		for _, alpha := range []float64{.5, 4, 30} {
			inner := make([][]float64, s+1)
			for k := range inner {
				row, sum := make([]float64, s+1), 0.0
				for y := range row {
					row[y] = math.Exp(-alpha / 2 * math.Abs(float64(k-y)) / float64(s))
					sum += row[y]
				}
				for y := range row {
					row[y] /= sum
				}
				inner[k] = row
			}
			level := 0.0 // between neighbouring counts, and so between all
			for k := range s {
				for y := range inner[k] {
					level = max(level, math.Abs(math.Log(inner[k][y]/inner[k+1][y]))*float64(s))
				}
			}
			for _, radius := range []float64{.02, .2, .7} {
				for _, deltaS := range []float64{1e-9, 1e-3, .2} {
					g, _, err := reduced("", promise(t, Model{Trust: Local, Items: s}, level, 0), ReduceOptions{radius, deltaS})
					if err != nil {
						t.Fatal(err)
					}
					pair := g.At(radius)
					for _, p := range []float64{0, .01, .1, .3, 1 - radius} {
						if p+radius > 1 {
							continue
						}
						laws := [2][]float64{make([]float64, s+1), make([]float64, s+1)}
						for i, q := range []float64{p, p + radius} {
							for k, v := range binomialLaw(s, q) {
								for y, w := range inner[k] {
									laws[i][y] += v * w
								}
							}
						}
						for i := range 2 {
							delta := 0.0
							for y := range laws[i] {
								delta += max(0, laws[i][y]-math.Exp(pair.Eps)*laws[1-i][y])
							}
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

// The core of the proof by brute force: the mean over the sampling of what the
// level leaves over is within delta_s, with little to spare for large samples.
func TestReduced_SamplingPart(t *testing.T) {
	for _, s := range []int{1, 10, 300, 2000} {
		for _, r := range []float64{.01, .1, .5} {
			law := binomialLaw(s, r) // the extreme law of D*s
			for _, alpha := range []float64{.1, 5, 100, 1e9} {
				for _, delta := range []float64{.1, 1e-6, 1e-12} {
					c, capped := chernoff{float64(s), r}.root(alpha, false, delta)
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

func TestNewReduced_Promise(t *testing.T) {
	model := Model{Trust: Central, Users: 7, Items: 1000, Diameter: 5, Unit: "km"}
	inner := &promiseOf[int]{g: promise(t, model, 2, 1e-7)}
	d, err := NewReduced[int, int](inner, ReduceOptions{Radius: .5, DeltaSampling: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	q, _ := chernoff{1000, .1}.root(10, false, 1e-6)
	p := d.Guarantee().At(.5)
	if math.Abs(d.Reach()/(5*q)-1) > 1e-12 || d.Reach() >= 5*.15332312 {
		t.Errorf("reach %v, want %v", d.Reach(), 5*q)
	}
	if math.Abs(p.Eps/(2*d.Reach())-1) > 1e-12 || math.Abs(p.Delta/1.1e-6-1) > 1e-12 || d.Samples() != 1000 {
		t.Errorf("%v", d.Guarantee())
	}
	if m := d.Guarantee().Model(); m.Bounded() || m.Users != 7 || m.Unit != "km" || m.Diameter != 5 {
		t.Errorf("model %v", m)
	}
	// Another radius of the same release; beyond the diameter nothing is spent on sampling.
	g, err := d.GuaranteeFor(ReduceOptions{Radius: 1, DeltaSampling: 1e-6})
	if err != nil || g.At(1).Eps >= d.Guarantee().At(1).Eps {
		t.Errorf("radius 1: %v, %v; by steps %v", g, err, d.Guarantee().At(1))
	}
	for _, radius := range []float64{5, 50} {
		if g, err = d.GuaranteeFor(ReduceOptions{Radius: radius, DeltaSampling: 1e-6}); err != nil || g.At(radius) != (Pair{10, 1e-7}) {
			t.Errorf("radius %v: %v, %v", radius, g, err)
		}
	}
}

func TestReduced_Release(t *testing.T) {
	model := Model{Trust: Central, Users: 3, Items: 60_000}
	inner := &promiseOf[string]{g: promise(t, model, 1, 0)}
	d, err := NewReduced[string, int](inner, ReduceOptions{Radius: .1, DeltaSampling: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	users := [][]string{{"a", "b", "b"}, {"c"}, {"a", "b", "c", "d", "e"}}
	if n, err := d.Release(rng.Seeded(1), linearUsers(users...)); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	count := map[string]int{}
	for _, x := range inner.seen[0] {
		count[x]++
	}
	testkit.ChiSquare(t, []int{count["a"], count["b"]}, []float64{1. / 3, 2. / 3}, 1e-7)
	clear(count)
	for _, x := range inner.seen[2] {
		count[x]++
	}
	testkit.ChiSquare(t, []int{count["a"], count["b"], count["c"], count["d"], count["e"]}, []float64{.2, .2, .2, .2, .2}, 1e-7)
	first := inner.seen
	if _, err := d.Release(rng.Seeded(1), linearUsers(users...)); err != nil || !slices.EqualFunc(first, inner.seen, slices.Equal[[]string]) {
		t.Errorf("the same seed gives other samples, %v", err)
	}
	if _, err := d.Release(nil, linearUsers(users...)); err != nil || slices.EqualFunc(first, inner.seen, slices.Equal[[]string]) {
		t.Errorf("no seed gives the same samples, %v", err)
	}

	for name, bad := range map[string][][]string{"too few": users[:2], "empty": {{"a"}, {}, {"b"}}, "too many": append(users, users[0])} {
		if n, err := d.Release(nil, linearUsers(bad...)); err == nil || n != 0 {
			t.Errorf("%s: %v, %v", name, n, err)
		}
	}
	inner.stop = 2
	if _, err := d.Release(nil, linearUsers(users...)); err != errInner {
		t.Errorf("the inner error is lost: %v", err)
	}
}

func TestNewReduced_BadInput(t *testing.T) {
	bounded := Model{Trust: Local, Items: 10}
	discrete, err := NewDiscrete(bounded, .1, Pair{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	level, err := pureLevel(t, 1).Within(.5)
	if err != nil {
		t.Fatal(err)
	}
	near, err := NewGuarantee(bounded, level)
	if err != nil {
		t.Fatal(err)
	}
	good := ReduceOptions{Radius: .1, DeltaSampling: 1e-6}
	for name, g := range map[string]Guarantee{
		"nothing":   {},
		"unbounded": promise(t, Model{Trust: Local}, 1, 0),
		"discrete":  discrete,
		"infinite":  promise(t, bounded, math.Inf(1), 0),
		"zero":      promise(t, bounded, 0, 0),
		"near":      near,
	} {
		if _, err := NewReduced[int, int](&promiseOf[int]{g: g}, good); !errors.Is(err, ErrModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewReduced[int, int](nil, good); !errors.Is(err, fault.ErrEmpty) {
		t.Errorf("nil: %v", err)
	}
	inner := &promiseOf[int]{g: promise(t, bounded, 1, 0)}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := NewReduced[int, int](inner, ReduceOptions{Radius: bad, DeltaSampling: .1})
		wantValueError(t, fmt.Sprint(bad), err, "Radius")
		_, err = NewReduced[int, int](inner, ReduceOptions{Radius: 1, DeltaSampling: bad})
		wantValueError(t, fmt.Sprint(bad), err, "DeltaSampling")
	}
}

// A plan's mechanism keeps the target, with less than 1e-9 of eps to spare.
func TestPlanReduction_MeetsTheTarget(t *testing.T) {
	r := rng.Seeded(9)
	for range 300 {
		model := Model{Trust: Local, Diameter: math.Pow(10, 4*r.Float64()-2)}
		radius := model.Diameter * math.Pow(10, -5*r.Float64())
		target := Pair{math.Pow(10, 4*r.Float64()-2), math.Pow(10, -12*r.Float64()-.1)}
		o := &PlanOptions{Samples: []int{1 << r.IntN(30)}}
		if r.IntN(2) == 0 {
			o.Value = func(p ReducePlan) float64 { return p.Alpha / math.Sqrt(-math.Log(p.Delta)) }
		}
		p, err := PlanReduction(model, radius, target, o)
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := reduced("", promise(t, p.Model, p.Alpha, p.Delta), p.Options)
		if err != nil {
			t.Fatal(err)
		}
		got := g.At(radius)
		if got.Eps > target.Eps || got.Delta > target.Delta || got.Eps < target.Eps*(1-1e-9) && p.Reach < model.Diameter {
			t.Errorf("%+v gives %v, want %v", p, got, target)
		}
	}
}

func TestPlanReduction_SplitsDelta(t *testing.T) {
	model := Model{Trust: Central, Users: 100}
	target := Pair{1, 1e-6}
	// Without a value: all delta to the sampling, and the most samples.
	p, err := PlanReduction(model, .05, target, nil)
	if err != nil || p.Model.Items != 1<<16 || p.Delta != 0 || p.Options.DeltaSampling != target.Delta || p.Value != p.Alpha {
		t.Errorf("%+v, %v", p, err)
	}
	// A mechanism whose level falls with ln(1/delta): the best split is inside, and no
	// split of a grid is better by more than the search may miss.
	value := func(p ReducePlan) float64 { return p.Alpha / math.Sqrt(math.Log(2/p.Delta)) }
	for _, s := range []int{50, 1000} {
		p, err = PlanReduction(model, .05, target, &PlanOptions{Samples: []int{s}, Value: value})
		if err != nil {
			t.Fatal(err)
		}
		share := p.Options.DeltaSampling / target.Delta
		best := 0.0
		for k := 1; k < 1000; k++ {
			plan := planner{model: Model{Trust: Central, Users: 100, Items: s, Diameter: 1}, radius: .05, target: target, value: value}
			best = max(best, plan.try(target.Delta*float64(k)/1000))
		}
		if !(share > .01 && share < .99) || p.Value < best*(1-1e-4) {
			t.Errorf("s=%d: share %v, value %v, grid %v", s, share, p.Value, best)
		}
	}
	// Item-wise release: more samples make the user's items weigh less each.
	item := func(p ReducePlan) float64 {
		a, err := ItemWiseBudget(p.Model, p.Alpha, &ItemWiseOptions{Delta: p.Delta})
		if err != nil {
			return math.Inf(-1)
		}
		return a.Value
	}
	p, err = PlanReduction(model, .05, target, &PlanOptions{Samples: []int{64}, Value: item})
	if err != nil || p.Delta == 0 || p.Value <= p.Alpha/64 {
		t.Errorf("item-wise: %+v, %v", p, err)
	}
}

func TestPlanReduction_BadInput(t *testing.T) {
	model := Model{Trust: Local}
	ok := Pair{1, 1e-6}
	plan := func(m Model, radius float64, p Pair, o *PlanOptions) error {
		_, err := PlanReduction(m, radius, p, o)
		return err
	}
	wantValueError(t, "model", plan(Model{}, .1, ok, nil), "Model.Trust")
	wantValueError(t, "radius", plan(model, 0, ok, nil), "radius")
	wantValueError(t, "eps", plan(model, .1, Pair{0, .1}, nil), "target.Eps")
	wantValueError(t, "eps", plan(model, .1, Pair{math.NaN(), .1}, nil), "target.Eps")
	wantValueError(t, "delta", plan(model, .1, Pair{1, 0}, nil), "target.Delta")
	wantValueError(t, "delta", plan(model, .1, Pair{1, 1}, nil), "target.Delta")
	wantValueError(t, "samples", plan(model, .1, ok, &PlanOptions{Samples: []int{4, 0}}), "Samples")
	if err := plan(Model{Trust: Local, Items: 4}, .1, ok, nil); !errors.Is(err, ErrModel) {
		t.Errorf("bounded: %v", err)
	}
	if err := plan(model, .1, ok, &PlanOptions{Value: func(ReducePlan) float64 { return math.NaN() }}); err == nil {
		t.Error("no usable plan: no error")
	}
	if err := plan(model, .1, ok, &PlanOptions{Samples: []int{}}); err == nil {
		t.Error("no samples: no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := plan(model, .1, ok, &PlanOptions{Context: ctx, Value: func(p ReducePlan) float64 { return p.Alpha }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
