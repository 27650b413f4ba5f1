package emd

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// refusal is an error, the words that it has and, where there is one, the error
// that it is.
type refusal struct {
	err  error
	want string
	is   error
}

func refused(t *testing.T, all []refusal) {
	t.Helper()
	for i, r := range all {
		if r.err == nil || !strings.Contains(r.err.Error(), r.want) || r.is != nil && !errors.Is(r.err, r.is) {
			t.Errorf("%d: %v, want %q", i, r.err, r.want)
		}
	}
}

// unread is a space of that many points whose distances must not be asked for.
type unread int

func (s unread) Len() int                { return int(s) }
func (unread) Distance(_, _ int) float64 { panic("read before the cheap checks") }

// What no constructor accepts, beside the numbers that internal/robust tries
// on all of them.
func TestConstructors_Refuse(t *testing.T) {
	ctx, nan, inf := t.Context(), math.NaN(), math.Inf(1)
	c := testkit.Must(metric.NewClustered(2, 2, .5))
	g := mustGKRR(t, c, 1)
	ch := testkit.Must(g.Channel(ctx))
	own := geometricChannel(t, line(t, 4), 1)
	bare := testkit.Must(mechanism.FromWeights(ctx, 4, 4, []float64{4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4}, nil))
	half := testkit.Must(mechanism.NewGuarantee(1, .5, ""))
	large := testkit.Must(mechanism.NewGuarantee(3, .01, ""))
	near := testkit.Must(pureLevel(t, .1).Within(.95))
	small := testkit.Must(g.Guarantee().Within(.95))
	good := Model{Trust: Central, Users: 2, Items: 3, Diameter: 1}
	open := Model{Trust: Local, Diameter: 1}
	km := Model{Trust: Local, Items: 3, Diameter: 1, Unit: "km"}
	narrow := Model{Trust: Local, Items: 1, Diameter: .9}
	one := testkit.Must(metric.NewClustered(1, 1, 1))
	itemWise := func(c *mechanism.Channel, m Model, o *ItemWiseOptions) error {
		return second(NewItemWise(ctx, c, m, o))
	}
	reduce := func(g Guarantee, s Sampling) error {
		return second(NewReduced[int, int](&promiseOf[int]{g: g}, s))
	}
	frequencies := func(c *mechanism.Channel, s metric.Finite, m Model, o *FrequencyOptions) error {
		return second(NewFrequencies(ctx, c, s, m, o))
	}
	plan := func(m Model, radius float64, p DP, o *PlanOptions) error {
		return second(PlanReduction(ctx, m, radius, p, o))
	}
	bounded := promise(t, good, 1, 0)
	unbounded := promise(t, open, 1, 0)
	discrete := discretePromise(t, good, .1, DP{1, 0})
	sampling := Sampling{Radius: .1, Delta: 1e-6}
	done, cancel := context.WithCancel(ctx)
	cancel()
	project := func(s metric.Finite, g ...float64) error {
		_, _, err := Project(ctx, s, g)
		return err
	}
	refused(t, []refusal{
		{project(c, 1, 0, 0), "emd: Project: g has size 3", nil},
		{project(new(metric.Clustered)), "emd: Project: ", metric.ErrEmpty},
		{project(c, 1, nan, 0, 0), "g[1] = NaN", nil},
		{project(oneOdd{0, 1, nan}, 1, -1, 1), "", nil},
		{third(Shares(done, line(t, 3))), "", context.Canceled},
		{second(PlanReduction(done, open, .1, DP{1, 1e-6}, &PlanOptions{Value: func(p ReducePlan) float64 { return p.Alpha }})), "", context.Canceled},
		{second(NewGKRR(nil, 1)), "emd: NewGKRR: ", metric.ErrEmpty},
		{second(NewGKRR(testkit.Must(metric.NewClustered(1<<20, 1<<9, 1)), 1)), "the limit is", nil},
		{second(NewGKRR(c, 0)), "emd: NewGKRR: alpha0 = 0", nil},
		{second(NewGKRR(c, 5e-324)), "alpha0 = 5e-324", nil},
		{second(NewGKRR(one, 5e-324)), "alpha0 = 5e-324", nil},
		{second(NewGKRR(testkit.Must(testkit.Must(metric.NewClustered(2, 3, .2)).Scaled(1e300, "")), 1e300)), "alpha0 = 1e+300", nil},
		{second(g.Release(nil, -1)), "emd: GKRR.Release: x, want an index", nil},
		{second(g.Release(nil, 4)), "x, want an index in [0, 4)", nil},
		{second(NewHadamard(0, 1)), "emd: NewHadamard: k = 0", nil},
		{second(NewHadamard(1<<30, 1)), "k = 1.073741824e+09", nil},
		{second(NewHadamard(4, nan)), "eps = NaN", nil},
		{second(NewHadamard(4, 5e-324)), "eps = 5e-324", nil},
		{second(testkit.Must(NewHadamard(4, 1)).Release(nil, 4)), "emd: Hadamard.Release: x, want an index", nil},

		{itemWise(nil, good, nil), "emd: NewItemWise: ", metric.ErrEmpty},
		{itemWise(ch.WithGuarantee(mechanism.Guarantee{}), good, nil), "no guarantee", ErrNotPure},
		{itemWise(ch.WithGuarantee(half), good, nil), "emd: NewItemWise: ", ErrNotPure},
		{itemWise(ch.WithGuarantee(small), good, nil), "up to 0.95", ErrNotPure},
		{itemWise(ch, km, nil), "emd: NewItemWise: ", mechanism.ErrUnit},
		{itemWise(own.WithGuarantee(pureLevel(t, .97*own.Guarantee().Alpha())), good, &ItemWiseOptions{Space: line(t, 4)}), "audited", mechanism.ErrClaim},
		{itemWise(identityChannel(t, 4, nil), good, &ItemWiseOptions{Space: c}), "audited", mechanism.ErrClaim},
		{itemWise(ch, open, nil), "emd: NewItemWise: Model.Items = 0", nil},
		{itemWise(ch, Model{Items: 3, Diameter: 1}, nil), "Model.Trust = 0", nil},
		{itemWise(ch, narrow, &ItemWiseOptions{Space: c}), "above the model's diameter 0.9", nil},
		{itemWise(ch, good, &ItemWiseOptions{Space: line(t, 5)}), "Space has size 5, want 4", nil},
		{itemWise(ch, good, &ItemWiseOptions{Delta: 1}), "emd: NewItemWise: Delta = 1", nil},
		{second(ItemWiseBudget(ctx, open, Promise{Alpha: 1}, nil)), "emd: ItemWiseBudget: Model.Items = 0", nil},
		{second(ItemWiseBudget(ctx, good, Promise{Alpha: inf}, nil)), "target.Alpha = +Inf", nil},
		{second(ItemWiseBudget(ctx, good, Promise{Alpha: 1, Delta: -1}, nil)), "target.Delta = -1", nil},

		{second(NewGKRRFrequencies(ctx, nil, good, nil)), "emd: NewGKRRFrequencies: a GKRR that is not from NewGKRR", nil},
		{second(NewGKRRFrequencies(ctx, g, Model{}, nil)), "emd: NewGKRRFrequencies: Model.Trust = 0", nil},
		{second(NewGKRRFrequencies(ctx, g, open, nil)), "Model.Items = 0", nil},
		{second(NewGKRRFrequencies(ctx, g, narrow, nil)), "above the model's diameter 0.9", nil},
		{second(NewGKRRFrequencies(ctx, g, km, nil)), "emd: NewGKRRFrequencies: ", mechanism.ErrUnit},
		{second(NewGKRRFrequencies(ctx, g, good, &GKRRFrequencyOptions{Delta: 1})), "Delta = 1", nil},
		{frequencies(bare, c, good, &FrequencyOptions{Delta: 1e-6}), "emd: NewFrequencies: ", ErrNotPure},
		{frequencies(nil, c, good, nil), "emd: NewFrequencies: ", metric.ErrEmpty},
		{frequencies(ch, nil, good, nil), "emd: NewFrequencies: ", metric.ErrEmpty},
		{frequencies(ch, one, good, nil), "space has size 1, want 4", nil},
		{second(NewLaplaceFrequencies(ctx, unread(4), Model{Trust: Central, Items: 1}, 1)), "Model.Users = 0", nil},
		{frequencies(ch, c, narrow, nil), "above the model's diameter 0.9", nil},
		{frequencies(ch, line(t, 4), narrow, nil), "points 0 and 3 of the space are at distance 1", nil},
		{frequencies(ch, c, good, &FrequencyOptions{MaxCondition: 1.5}), "is above 1.5", nil},
		{second(NewHadamardFrequencies(ctx, c, open, DP{Eps: 1}, nil)), "emd: NewHadamardFrequencies: Model.Items = 0", nil},
		{second(NewHadamardFrequencies(ctx, c, good, DP{}, nil)), "eps = 0", nil},
		{second(NewHadamardFrequencies(ctx, c, good, DP{1, 1}, nil)), "delta = 1", nil},
		{second(NewHadamardFrequencies(ctx, nil, good, DP{Eps: 1}, nil)), "emd: NewHadamardFrequencies: ", metric.ErrEmpty},
		{second(NewHadamardFrequencies(ctx, c, narrow, DP{Eps: 1}, nil)), "above the model's diameter 0.9", nil},
		{second(NewLaplaceFrequencies(ctx, c, km, 1)), "emd: NewLaplaceFrequencies: Model.Trust = 1, want Central", nil},
		{second(NewLaplaceFrequencies(ctx, c, Model{Trust: Shuffled, Users: 1, Items: 1}, 1)), "Model.Trust = 2, want Central", nil},
		{second(NewLaplaceFrequencies(ctx, c, Model{Trust: Central, Users: 1}, 1)), "Model.Items = 0", nil},
		{second(NewLaplaceFrequencies(ctx, c, good, nan)), "eps = NaN", nil},
		{second(NewLaplaceFrequencies(ctx, c, good, 1e-20)), "eps = 1e-20", nil},
		{second(NewLaplaceFrequencies(ctx, nil, good, 1)), "emd: NewLaplaceFrequencies: ", metric.ErrEmpty},

		{second(NewGuarantee(Model{}, pureLevel(t, 1))), "emd: NewGuarantee: Model.Trust = 0", nil},
		{second(NewGuarantee(km, pureLevel(t, 1))), "emd: NewGuarantee: ", mechanism.ErrUnit},
		{second(NewDiscrete(open, 0, DP{1, 0})), "emd: NewDiscrete: radius = 0", nil},
		{second(NewDiscrete(open, nan, DP{1, 0})), "radius = NaN", nil},
		{second(NewDiscrete(open, 1, DP{})), "pair.Eps = 0", nil},
		{second(NewDiscrete(open, 1, DP{nan, 0})), "pair.Eps = NaN", nil},
		{second(NewDiscrete(open, 1, DP{1, 1})), "pair.Delta = 1", nil},
		{second(unbounded.Discrete(-1)), "emd: Guarantee.Discrete: radius = -1", nil},
		{second(open.FromUserLevel(DP{1, 0}, .1)), "emd: Model.FromUserLevel: Model.Items = 0", nil},
		{second(Model{Items: 3, Diameter: 1}.FromUserLevel(DP{1, 0}, .1)), "Model.Trust = 0", nil},
		{second(good.FromUserLevel(DP{-1, 0}, .1)), "p.Eps = -1", nil},
		{second(good.FromUserLevel(DP{inf, 0}, .1)), "p.Eps = +Inf", nil},
		{second(good.FromUserLevel(DP{1, 1}, .1)), "emd: Model.FromUserLevel: p.Delta = 1", nil},
		{second(good.FromUserLevel(DP{1, 0}, 0)), "minDistance = 0", nil},
		{second(good.FromUserLevel(DP{1, 0}, 1.1)), "minDistance = 1.1", nil},
		{second(open.FromItems(pureLevel(t, 1))), "emd: Model.FromItems: Model.Items = 0", nil},
		{second(km.FromItems(pureLevel(t, 1))), "emd: Model.FromItems: ", mechanism.ErrUnit},
		{second(good.FromItems(mechanism.Guarantee{})), "no guarantee promises nothing about 3 items", nil},
		{second(good.FromItems(large)), "promises nothing about 3 items", nil},
		{second(good.FromItems(near)), "promises nothing about 3 items", nil},
		{second(bounded.ToItems(-1)), "emd: Guarantee.ToItems: m = -1", nil},
		{second(bounded.ToItems(4)), "m = 4", nil},
		{second(unbounded.ToItems(0)), "m = 0", nil},
		{second(discrete.ToItems(3)), "emd: Guarantee.ToItems: ", ErrModel},

		{reduce(Guarantee{}, sampling), "emd: NewReduced: ", ErrModel},
		{reduce(unbounded, sampling), "emd: NewReduced: ", ErrModel},
		{reduce(discrete, sampling), "emd: NewReduced: ", ErrModel},
		{reduce(promise(t, good, inf, 0), sampling), "emd: NewReduced: ", ErrModel},
		{reduce(promise(t, good, 0, 0), sampling), "emd: NewReduced: ", ErrModel},
		{reduce(testkit.Must(NewGuarantee(good, near)), sampling), "emd: NewReduced: ", ErrModel},
		{second(NewReduced[int, int](nil, sampling)), "emd: NewReduced: ", metric.ErrEmpty},
		{reduce(bounded, Sampling{Radius: inf, Delta: .1}), "Sampling.Radius = +Inf", nil},
		{reduce(bounded, Sampling{Radius: 1, Delta: 0}), "Sampling.Delta = 0", nil},
		{reduce(bounded, Sampling{Radius: 1, Delta: nan}), "Sampling.Delta = NaN", nil},
		{plan(Model{}, .1, DP{1, 1e-6}, nil), "emd: PlanReduction: Model.Trust = 0", nil},
		{plan(good, .1, DP{1, 1e-6}, nil), "emd: PlanReduction: ", ErrModel},
		{plan(open, 0, DP{1, 1e-6}, nil), "radius = 0", nil},
		{plan(open, .1, DP{nan, .1}, nil), "target.Eps = NaN", nil},
		{plan(open, .1, DP{1, 0}, nil), "target.Delta = 0", nil},
		{plan(open, .1, DP{1, 1}, nil), "target.Delta = 1", nil},
		{plan(open, .1, DP{1, 1e-6}, &PlanOptions{Samples: []int{4, 0}}), "Samples[1] = 0", nil},
		{plan(open, .1, DP{1, 1e-6}, &PlanOptions{Samples: []int{}}), "no plan has a value", nil},
		{plan(open, .1, DP{1, 1e-6}, &PlanOptions{Value: func(ReducePlan) float64 { return nan }}), "no plan has a value", nil},

		{second(ChooseAlpha(nil)), "emd: ChooseAlpha: ", metric.ErrEmpty},
		{second(ChooseAlpha([]Move{{1, 1, 1}, {0, 1, 1}})), "moves.Distance[1] = 0", nil},
		{second(ChooseAlpha([]Move{{1, 1.01, 1}})), "moves.Fraction[0] = 1.01", nil},
		{second(ChooseAlpha([]Move{{1, 1, inf}})), "moves.Eps[0] = +Inf", nil},
		{second(ChooseAlpha([]Move{{1e300, 1, 1e-300}})), "beyond the range of float64", nil},
		{second(bounded.Protects([]Move{{1, nan, 1}})), "emd: Guarantee.Protects: moves.Fraction[0] = NaN", nil},
		{second(bounded.Protects([]Move{{1, 1, 0}, {2.5, .1, 0}})), "moves.Distance[1] = 2.5, want at most the model's diameter 1", nil}, // Guarantee.At would stop there
	})
	if ps, err := bounded.Protects([]Move{{1, 1, nan}}); err != nil || ps[0].Eps != 1 {
		t.Errorf("Protects reads Eps: %v, %v", ps, err)
	}
	if err := itemWise(ch, Model{Trust: Shuffled, Items: math.MaxInt, Users: 3, Diameter: 1}, nil); err == nil && strconv.IntSize == 64 {
		t.Error("too many items")
	}
	var e *ConditionError
	if err := frequencies(ch, c, good, &FrequencyOptions{MaxCondition: 1.5}); !errors.As(err, &e) {
		t.Errorf("condition: %v", err)
	}
}

func TestQueries_Refuse(t *testing.T) {
	ctx, nan, inf := t.Context(), math.NaN(), math.Inf(1)
	d := metric.Euclidean{}
	l3, l2 := Average(additive.Norm{P: 3, Dim: 2}), Average(additive.Norm{P: 2, Dim: 2})
	ball := func(center []float64, radius float64, o Smoothing) error {
		return second(Ball(d, center, radius, o))
	}
	mapped := func(f [][]float64, phi Query[[]float64]) error { return second(LinearMap(f, phi)) }
	model := Model{Trust: Central, Users: 2, Items: 2, Diameter: 1}
	linear := func(change func(q *Query[[]float64], m *Model, target *Promise)) error {
		q, m, target := linearScaled(1, 2, 2), model, Promise{Alpha: 1}
		change(&q, &m, &target)
		return second(NewLinear(ctx, q, m, target, nil))
	}
	same := testkit.Must(metric.NewPoints([]float64{1, 2, 1}, metric.Func[float64](func(x, y float64) float64 { return max(x-y, y-x) })))
	refused(t, []refusal{
		{second(Landmarks[[]float64](d, 2)), "emd: Landmarks: ", metric.ErrEmpty},
		{second(Landmarks(d, 0.5, []float64{1})), "p = 0.5", nil},
		{second(Landmarks(d, 2, []float64{1}, []float64{1, 2})), "at[1]", nil},
		{second(Similarity(nil)), "emd: Similarity: ", metric.ErrEmpty},
		{second(Similarity([]float64{0, 0})), "||c|| = 0", nil},
		{second(Similarity([]float64{1, nan})), "c[1] = NaN", nil},
		{ball([]float64{1}, -1, Smoothing{Width: 1}), "emd: Ball: radius = -1", nil},
		{ball([]float64{inf}, 1, Smoothing{Width: 1}), "center: ", nil},
		{ball([]float64{1}, 1, Smoothing{}), "Width = 0", nil},
		{ball([]float64{1}, 1, Smoothing{Width: 5e-324}), "1/Width = +Inf", nil},
		{ball([]float64{1}, 1, Smoothing{Width: 1, Kernel: 9}), "Kernel = 9", nil},
		{second(Indicator(func(int) bool { return true }, -1)), "emd: Indicator: gap = -1", nil},
		{second(Indicator(func(int) bool { return true }, 0)), "emd: Indicator: ", ErrDiscontinuous},
		{mapped([][]float64{{1, 2}}, l3), "emd: LinearMap: phi.Norm.P = 3, want 1 or 2", nil},
		{mapped([][]float64{{1, 2}, {3}}, l2), "f[1] has size 1, want 2", nil},
		{mapped([][]float64{{1, inf}}, l2), "f[0][1] = +Inf", nil},
		{mapped([][]float64{{0, 0}}, l2), "||f|| = 0", nil},
		{mapped(nil, l2), "emd: LinearMap: ", metric.ErrEmpty},
		{third(Shares(ctx, nil)), "emd: Shares: space has size 0, want at least 2", nil},
		{third(Shares(ctx, testkit.Must(metric.NewClustered(1, 1, 1)))), "space has size 1", nil},
		{third(Shares(ctx, same)), "distance of points 0 and 2 = 0", nil},

		{linear(func(_ *Query[[]float64], _ *Model, p *Promise) { p.Alpha = 0 }), "emd: NewLinear: target.Alpha = 0", nil},
		{linear(func(_ *Query[[]float64], _ *Model, p *Promise) { p.Alpha = 1e-200 }), "1e-100", nil},
		{linear(func(_ *Query[[]float64], _ *Model, p *Promise) { p.Delta = 1 }), "target.Delta = 1", nil},
		{linear(func(_ *Query[[]float64], _ *Model, p *Promise) { p.Delta = nan }), "target.Delta = NaN", nil},
		{linear(func(q *Query[[]float64], _ *Model, p *Promise) { p.Delta, q.Norm.P = .1, 1 }), "Norm.P = 1, want 2", nil},
		{linear(func(_ *Query[[]float64], m *Model, _ *Promise) { m.Trust = 0 }), "Model.Trust = 0", nil},
		{linear(func(_ *Query[[]float64], m *Model, _ *Promise) { m.Trust = Shuffled }), "Model.Trust = 2, want Local or Central", nil},
		{linear(func(_ *Query[[]float64], m *Model, _ *Promise) { m.Users = 0 }), "Model.Users = 0", nil},
		{linear(func(_ *Query[[]float64], m *Model, _ *Promise) { m.Diameter = -1 }), "Model.Diameter = -1", nil},
		{linear(func(q *Query[[]float64], _ *Model, _ *Promise) { q.Func = nil }), `"scaled" has no Func`, nil},
		{linear(func(q *Query[[]float64], _ *Model, _ *Promise) { q.Lipschitz = nan }), "Lipschitz = NaN", nil},
		{linear(func(q *Query[[]float64], _ *Model, _ *Promise) { q.Norm.P = .5 }), "Norm.P = 0.5", nil},
		{linear(func(q *Query[[]float64], _ *Model, _ *Promise) { q.Norm.Dim = 0 }), "Norm.Dim = 0", nil},
		{linear(func(q *Query[[]float64], _ *Model, _ *Promise) { q.Norm.Dim = math.MaxInt }), "GiB", nil},
		{second(NewLinear(ctx, l2, model, Promise{Alpha: 1}, &LinearOptions[[]float64]{Step: 0.3})), "emd: NewLinear: ", nil},
	})
	queries := linearQueries()
	delete(queries, "region") // its distance is the caller's
	for name, q := range queries {
		for _, x := range [][]float64{{1}, {1, 2, 3}, nil} { // not compared in part
			if err := q.eval(x, make([]float64, q.Norm.Dim)); err == nil {
				t.Errorf("%s takes %v", name, x)
			}
		}
	}
}

// Every release refuses data that do not fit the model, which name the user.
func TestReleases_RefuseData(t *testing.T) {
	ctx := t.Context()
	c := testkit.Must(metric.NewClustered(2, 2, .5))
	good, local := Model{Trust: Shuffled, Users: 2, Items: 3, Diameter: 1}, Model{Trust: Local, Items: 3, Diameter: 1}
	w := newItemWise(t, testkit.Must(mustGKRR(t, c, 1).Channel(ctx)), good, nil)
	curated := good
	curated.Trust = Central
	lap := testkit.Must(NewLaplaceFrequencies(ctx, c, curated, 1))
	releases := map[string]func(Users[int]) error{
		"ItemWise.Release":         func(u Users[int]) error { return second(w.Release(nil, u)) },
		"ItemWise.ReleaseShuffled": func(u Users[int]) error { return second(w.ReleaseShuffled(nil, u)) },
		"Laplace.Release":          func(u Users[int]) error { return second(lap.Release(nil, u)) },
	}
	for kind, f := range estimators(t, c, good, 1) {
		releases[kind+".Release"] = func(u Users[int]) error { return second(f.Release(nil, u)) }
		releases[kind+".Collect"] = func(u Users[int]) error { return second(f.Collect(ctx, nil, u)) }
	}
	for _, d := range []struct {
		users [][]int
		want  string
	}{
		{nil, "empty input"},
		{[][]int{{0, 1, 2}}, "1 users, not the model's 2"},
		{[][]int{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}, "more users than the model's 2"},
		{[][]int{{0, 1, 2}, {0, 1}}, "user 1 has not the model's 3 items"},
		{[][]int{{0, 1, 2, 3}, {0, 1, 2}}, "user 0 has not the model's 3 items"},
		{[][]int{{0, 1, 2}, {}}, "user 1 has no items"},
		{[][]int{{0, 1, 2}, {0, 1, 4}}, "user 1[2], want an index"},
		{[][]int{{0, 1, -1}, {0, 1, 2}}, "user 0[2], want an index"},
	} {
		for name, release := range releases {
			if err := release(slices.Values(d.users)); err == nil || !strings.Contains(err.Error(), d.want) {
				t.Errorf("%s: %v, want %s", name, err, d.want)
			}
		}
	}
	f := estimators(t, c, local, 1)["clusters"]
	done, cancel := context.WithCancel(ctx)
	cancel()
	refused(t, []refusal{
		{second(f.Collect(ctx, nil, slices.Values([][]int{}))), "emd: Frequencies.Collect: ", metric.ErrEmpty},
		{second(f.Collect(ctx, nil, slices.Values([][]int{{0, 1, 2}, {0, 1}}))), "user 1 has not the model's", nil},
		{second(f.Collect(ctx, nil, One([]int{0, 1, 4}))), "user 0[2], want an index", nil},
		{second(f.Collect(done, nil, One([]int{0, 1, 2}))), "", context.Canceled},
		{second(f.Release(nil, slices.Values([][]int{{0, 1, 2}, {0, 1, 2}}))), "more users than the model's 1", nil},
		{second(f.Release(nil, nil)), "emd: Frequencies.Release: ", metric.ErrEmpty},
		{second(f.Estimate(&Report{})), "emd: Frequencies.Estimate: ", fault.ErrEmpty},
		{second(f.Estimate(counted([]int64{1}, 1))), "Report has size 1, want 4", nil},
	})
	if !math.IsInf(f.ErrorBound(0), 1) {
		t.Error("bound without items")
	}
	// The bad row of a lazy channel is found when an item uses it.
	bad := testkit.Must(mechanism.NewChannel(ctx, mechanism.Rows{Inputs: 2, Outputs: 2, Fill: func(x int, dst []float64) {
		dst[0], dst[1] = 1, []float64{1, math.NaN()}[x]
	}}, &mechanism.ChannelOptions{Lazy: true}))
	for _, m := range []int{2, 200_000} {
		w = newItemWise(t, bad.WithGuarantee(pureLevel(t, 1)), Model{Trust: Local, Items: m, Diameter: 1}, nil)
		items := make([]int, m)
		if _, err := w.Release(nil, One(items)); err != nil {
			t.Error(err)
		}
		items[0] = 1
		if counts, err := w.Release(nil, One(items)); err == nil || counts != nil {
			t.Errorf("m=%d: NaN weights went through: %v, %v", m, counts, err)
		}
	}
}

func TestLinear_RefuseData(t *testing.T) {
	ctx, nan := t.Context(), math.NaN()
	model, target := Model{Trust: Central, Users: 2, Items: 2, Diameter: 1}, Promise{Alpha: 1}
	q := linearScaled(1, 2, 2)
	l := testkit.Must(NewLinear(ctx, q, model, target, &LinearOptions[[]float64]{
		Contains: func(x []float64) bool { return len(x) != 2 || !(x[0] > 100 && x[0] < 1e300) },
	}))
	alone := testkit.Must(NewLinear(ctx, q, Model{Trust: Local, Diameter: 1}, target, nil))
	x := []float64{1, 2}
	good := [][]float64{x, x}
	first := func(items ...[]float64) error { return second(l.Release(nil, linearUsers(items, good))) }
	// Two users of 2^51 steps and one more: the sum passes 2^52.
	many := testkit.Must(NewLinear(ctx, linearScaled(1, 1, 1), Model{Trust: Central, Users: 3, Diameter: 1}, target, &LinearOptions[[]float64]{Step: 1}))
	refused(t, []refusal{
		{second(l.Release(nil, linearUsers(good, good[:1]))), "user 1 has not the model's 2 items", nil},
		{second(l.Release(nil, linearUsers(good, nil))), "user 1 has no items", nil},
		{second(l.Release(nil, linearUsers(good))), "1 users, not the model's 2", nil},
		{second(l.Release(nil, linearUsers(good, good, good))), "more users", nil},
		{second(l.Release(nil, linearUsers[[]float64]())), "emd: Linear.Release: ", metric.ErrEmpty},
		{second(alone.Release(nil, linearUsers(good, good))), "more users", nil},
		{first(x, []float64{0, nan}), `user 0: item 1: query "scaled": f[1], want a finite number`, nil},
		{first([]float64{math.Inf(-1), 0}, x), `user 0: item 0: query "scaled": f[0], want a finite number`, nil},
		{first(x, []float64{1}), "user 0: item 1: average: x, want size 2", nil},
		{first(x, []float64{101, 0}), "user 0: item 1 is outside the domain", nil},
		{first([]float64{1e308, 0}, []float64{1e308, 0}), "user 0: item 0: coordinate 0 is beyond", nil},
		{second(many.Release(nil, slices.Values(slices.Repeat([][][]float64{{{0x1p51}}}, 3)))), "user 2: the sum over users overflows", nil},
		{second(many.Release(nil, slices.Values(slices.Repeat([][][]float64{{{0x1p61}, {0}}}, 3)))), "user 0: item 0: coordinate 0 is beyond", nil},
	})
	var value *fault.ValueError
	if err := first([]float64{nan, 0}, x); !errors.As(err, &value) || value.Index != 0 || value.Arg != "f" {
		t.Errorf("%v is no ValueError", err)
	}
}
