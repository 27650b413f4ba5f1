package emd

import (
	"context"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// What no constructor accepts, beside the numbers that internal/robust tries
// on all of them.
func TestConstructors_Refuse(t *testing.T) {
	ctx, nan := t.Context(), math.NaN()
	large := testkit.Must(mechanism.NewGuarantee(3, .01, ""))
	near := testkit.Must(pureLevel(t, .1).Within(.95))
	good := Model{Trust: Central, Users: 2, Items: 3, Diameter: 1}
	open := Model{Trust: Local, Diameter: 1}
	km := Model{Trust: Local, Items: 3, Diameter: 1, Unit: "km"}
	reduce := func(g Guarantee, s Sampling) error {
		return testkit.Err(NewReduced[int, int](&promiseOf[int]{g: g}, s))
	}
	plan := func(m Model, radius float64, p DP, o *PlanOptions) error {
		return testkit.Err(PlanReduction(ctx, m, radius, p, o))
	}
	bounded := promise(t, good, 1, 0)
	unbounded := promise(t, open, 1, 0)
	discrete := discretePromise(t, good, .1, DP{1, 0})
	sampling := Sampling{Radius: .1, Delta: 1e-6}
	done, cancel := context.WithCancel(ctx)
	cancel()
	testkit.Refused(t, [][3]any{
		{testkit.Err(PlanReduction(done, open, .1, DP{1, 1e-6}, &PlanOptions{Value: func(p ReducePlan) float64 { return p.Alpha }})), "", context.Canceled},
		{testkit.Err(NewGuarantee(km, pureLevel(t, 1))), "emd: NewGuarantee: ", mechanism.ErrUnit},
		{testkit.Err(NewDiscrete(open, 0, DP{1, 0})), "emd: NewDiscrete: radius = 0", nil},
		{testkit.Err(NewDiscrete(open, 1, DP{})), "pair.Eps = 0", nil},
		{testkit.Err(NewDiscrete(open, 1, DP{1, 1})), "pair.Delta = 1", nil},
		{testkit.Err(unbounded.Discrete(-1)), "emd: Guarantee.Discrete: radius = -1", nil},
		{testkit.Err(open.FromUserLevel(DP{1, 0}, .1)), "emd: Model.FromUserLevel: Model.Items = 0", nil},
		{testkit.Err(good.FromUserLevel(DP{-1, 0}, .1)), "p.Eps = -1", nil},
		{testkit.Err(good.FromUserLevel(DP{}, .1)), "p.Eps = 0", nil},
		{testkit.Err(good.FromUserLevel(DP{1, 1}, .1)), "emd: Model.FromUserLevel: p.Delta = 1", nil},
		{testkit.Err(good.FromUserLevel(DP{1, 0}, 1.1)), "minDistance = 1.1", nil},
		{testkit.Err(open.FromItems(pureLevel(t, 1))), "emd: Model.FromItems: Model.Items = 0", nil},
		{testkit.Err(km.FromItems(pureLevel(t, 1))), "emd: Model.FromItems: ", mechanism.ErrUnit},
		{testkit.Err(good.FromItems(mechanism.Guarantee{})), "no guarantee promises nothing about 3 items", nil},
		{testkit.Err(good.FromItems(large)), "promises nothing about 3 items", nil},
		{reduce(Guarantee{}, sampling), "emd: NewReduced: ", ErrModel},
		{reduce(unbounded, sampling), "emd: NewReduced: ", ErrModel},
		{reduce(discrete, sampling), "emd: NewReduced: ", ErrModel},
		{reduce(promise(t, good, 0, 0), sampling), "emd: NewReduced: ", ErrModel},
		{reduce(testkit.Must(NewGuarantee(good, near)), sampling), "emd: NewReduced: ", ErrModel},
		{testkit.Err(NewReduced[int, int](nil, sampling)), "emd: NewReduced: ", metric.ErrEmpty},
		{reduce(bounded, Sampling{Radius: 1, Delta: 0}), "Sampling.Delta = 0", nil},
		{plan(good, .1, DP{1, 1e-6}, nil), "emd: PlanReduction: ", ErrModel},
		{plan(open, 0, DP{1, 1e-6}, nil), "radius = 0", nil},
		{plan(open, .1, DP{1, 0}, nil), "target.Delta = 0", nil},
		{plan(open, .1, DP{1, 1e-6}, &PlanOptions{Samples: []int{4, 0}}), "Samples[1] = 0", nil},
		{plan(open, .1, DP{1, 1e-6}, &PlanOptions{Samples: []int{}}), "no plan has a value", nil},
		{plan(open, .1, DP{1, 1e-6}, &PlanOptions{Value: func(ReducePlan) float64 { return nan }}), "no plan has a value", nil},
		{testkit.Err(ChooseAlpha(nil)), "emd: ChooseAlpha: ", metric.ErrEmpty},
		{testkit.Err(ChooseAlpha([]Move{{1, 1, 1}, {0, 1, 1}})), "moves.Distance[1] = 0", nil},
		{testkit.Err(ChooseAlpha([]Move{{1, 1.01, 1}})), "moves.Fraction[0] = 1.01", nil},
		{testkit.Err(ChooseAlpha([]Move{{1e300, 1, 1e-300}})), "beyond the range of float64", nil},
		{testkit.Err(bounded.Protects([]Move{{1, nan, 1}})), "emd: Guarantee.Protects: moves.Fraction[0] = NaN", nil},
		{testkit.Err(bounded.Protects([]Move{{1, 1, 0}, {2.5, .1, 0}})), "moves.Distance[1] = 2.5, want at most the model's diameter 1", nil}, // Guarantee.At would stop there
	})
	if ps, err := bounded.Protects([]Move{{1, 1, nan}}); err != nil || ps[0].Eps != 1 {
		t.Errorf("Protects reads Eps: %v, %v", ps, err)
	}
}

// What no constructor made promises nothing, releases nothing and tells no
// numbers, but names the constructor: zero values and nil pointers.
func TestMechanisms_ZeroValuesRefuse(t *testing.T) {
	testkit.Unmade[Reduced[int, []int64]](t, "NewReduced")
	if p := (Guarantee{}).UserLevel(); !math.IsInf(p.Eps, 1) {
		t.Errorf("the zero Guarantee promises %v", p)
	}
}
