package query

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
)

func TestQueries_Refuse(t *testing.T) {
	ctx, inf := t.Context(), math.Inf(1)
	d := metric.Euclidean{}
	l3, l2 := Average(additive.Norm{P: 3, Dim: 2}), Average(additive.Norm{P: 2, Dim: 2})
	ball := func(center []float64, radius float64, o Smoothing) error {
		return testkit.Err(Ball(d, center, radius, o))
	}
	mapped := func(f [][]float64, phi Query[[]float64]) error { return testkit.Err(LinearMap(f, phi)) }
	model := emd.Model{Trust: emd.Central, Users: 2, Items: 2, Diameter: 1}
	linear := func(change func(q *Query[[]float64], m *emd.Model, target *emd.Promise)) error {
		q, m, target := linearScaled(1, 2, 2), model, emd.Promise{Alpha: 1}
		change(&q, &m, &target)
		return testkit.Err(NewLinear(ctx, q, m, target, nil))
	}
	same := testkit.Must(metric.NewPoints([]float64{1, 2, 1}, metric.Func[float64](func(x, y float64) float64 { return max(x-y, y-x) })))
	done, cancel := context.WithCancel(ctx)
	cancel()
	testkit.Refused(t, [][3]any{
		{testkit.Err(Landmarks[[]float64](d, 2)), "query: Landmarks: ", metric.ErrEmpty},
		{testkit.Err(Landmarks(d, 0.5, []float64{1})), "p = 0.5", nil},
		{testkit.Err(Landmarks(d, 2, []float64{1}, []float64{1, 2})), "at[1]", nil},
		{testkit.Err(Similarity(nil)), "query: Similarity: ", metric.ErrEmpty},
		{testkit.Err(Similarity([]float64{0, 0})), "||c|| = 0", nil},
		{ball([]float64{1}, -1, Smoothing{Width: 1}), "query: Ball: radius = -1", nil},
		{ball([]float64{inf}, 1, Smoothing{Width: 1}), "center: ", nil},
		{ball([]float64{1}, 1, Smoothing{Width: 5e-324}), "1/Width = +Inf", nil},
		{mapped([][]float64{{1, 2}}, l3), "query: LinearMap: phi.Norm.P = 3, want 1 or 2", nil},
		{mapped([][]float64{{1, 2}, {3}}, l2), "f[1] has size 1, want 2", nil},
		{mapped([][]float64{{0, 0}}, l2), "||f|| = 0", nil},
		{mapped(nil, l2), "query: LinearMap: ", metric.ErrEmpty},
		{testkit.Err2(Shares(done, testkit.Must(metric.NewClustered(2, 2, 1)))), "", context.Canceled},
		{testkit.Err2(Shares(ctx, nil)), "query: Shares: space has size 0, want at least 2", nil},
		{testkit.Err2(Shares(ctx, testkit.Must(metric.NewClustered(1, 1, 1)))), "space has size 1", nil},
		{testkit.Err2(Shares(ctx, same)), "distance of points 0 and 2 = 0", nil},

		{linear(func(_ *Query[[]float64], _ *emd.Model, p *emd.Promise) { p.Alpha = 1e-200 }), "1e-100", nil},
		{linear(func(q *Query[[]float64], _ *emd.Model, p *emd.Promise) { p.Delta, q.Norm.P = .1, 1 }), "Norm.P = 1, want 2", nil},
		{linear(func(_ *Query[[]float64], m *emd.Model, _ *emd.Promise) { m.Trust = emd.Shuffled }), "Model.Trust = 2, want Local or Central", nil},
		{linear(func(q *Query[[]float64], _ *emd.Model, _ *emd.Promise) { q.Func = nil }), `"scaled" has no Func`, nil},
		{linear(func(q *Query[[]float64], _ *emd.Model, _ *emd.Promise) { q.Norm.P = .5 }), "Norm.P = 0.5", nil},
		{linear(func(q *Query[[]float64], _ *emd.Model, _ *emd.Promise) { q.Norm.Dim = 0 }), "Norm.Dim = 0", nil},
		{linear(func(q *Query[[]float64], _ *emd.Model, _ *emd.Promise) { q.Norm.Dim = math.MaxInt }), "GiB", nil},
		{testkit.Err(NewLinear(ctx, l2, model, emd.Promise{Alpha: 1}, &LinearOptions[[]float64]{Step: 0.3})), "query: NewLinear: ", nil},
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

func TestLinear_RefuseData(t *testing.T) {
	ctx, nan := t.Context(), math.NaN()
	model, target := emd.Model{Trust: emd.Central, Users: 2, Items: 2, Diameter: 1}, emd.Promise{Alpha: 1}
	q := linearScaled(1, 2, 2)
	l := testkit.Must(NewLinear(ctx, q, model, target, nil))
	alone := testkit.Must(NewLinear(ctx, q, emd.Model{Trust: emd.Local, Diameter: 1}, target, nil))
	x := []float64{1, 2}
	good := [][]float64{x, x}
	first := func(items ...[]float64) error { return testkit.Err(l.Release(nil, testkit.Reusing(items, good))) }
	// Two users of 2^51 steps and one more: the sum passes 2^52.
	many := testkit.Must(NewLinear(ctx, linearScaled(1, 1, 1), emd.Model{Trust: emd.Central, Users: 3, Diameter: 1}, target, &LinearOptions[[]float64]{Step: 1}))
	testkit.Refused(t, [][3]any{
		{testkit.Err(l.Release(nil, testkit.Reusing(good, good[:1]))), "user 1 has not the model's 2 items", nil},
		{testkit.Err(l.Release(nil, testkit.Reusing(good, good, good))), "more users", nil},
		{testkit.Err(alone.Release(nil, testkit.Reusing(good, good))), "more users", nil},
		{first(x, []float64{0, nan}), `user 0: item 1: query "scaled": f[1], want a finite number`, nil},
		{first(x, []float64{1}), "user 0: item 1: average: x, want size 2", nil},
		{first([]float64{1e308, 0}, []float64{1e308, 0}), "user 0: item 0: coordinate 0 is beyond", nil},
		{testkit.Err(many.Release(nil, slices.Values(slices.Repeat([][][]float64{{{0x1p51}}}, 3)))), "user 2: the sum over users overflows", nil},
		{testkit.Err(many.Release(nil, slices.Values(slices.Repeat([][][]float64{{{0x1p61}, {0}}}, 3)))), "user 0: item 0: coordinate 0 is beyond", nil},
	})
	var value *fault.ValueError
	if err := first([]float64{nan, 0}, x); !errors.As(err, &value) || value.Index != 0 || value.Arg != "f" {
		t.Errorf("%v is no ValueError", err)
	}
}

// What no constructor made promises nothing, releases nothing and tells no
// numbers, but names the constructor: zero values and nil pointers.
func TestMechanisms_ZeroValuesRefuse(t *testing.T) {
	testkit.Unmade[Linear[[]float64]](t, "NewLinear")
}
