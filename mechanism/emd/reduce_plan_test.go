package emd

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
)

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
		g, _, err := reduced("", promise(t, p.Model, p.Alpha, p.Delta), p.Sampling)
		if err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Fatal(err)
		}
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
	// Item-wise release: more samples make the user's items weigh less each.
	item := func(p ReducePlan) float64 {
		a, err := accountant.Shuffle{Records: 100 * int64(p.Model.Items), Items: int64(p.Model.Items), Diameter: 1}.Budget(t.Context(), p.Promise)
		if err != nil {
			return math.Inf(-1)
		}
		return a.Value
	}
	p, err = PlanReduction(t.Context(), model, .05, target, &PlanOptions{Samples: []int{64}, Value: item})
	if err != nil || p.Delta == 0 || p.Value <= p.Alpha/64 {
		t.Errorf("item-wise: %+v, %v", p, err)
	}
}
