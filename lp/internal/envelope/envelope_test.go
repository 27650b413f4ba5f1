package envelope

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
)

// level is the largest |ln x[u,w]/x[v,w]|, as a share of the pair's budget.
func level(c *Channel) (worst float64) {
	for u := range c.Inputs {
		for v, b := range finite.Row(c.Budget, u, nil)[:u] {
			for w, q := range c.row(u) {
				worst = max(worst, math.Abs(math.Log(q/c.row(v)[w]))/b)
			}
		}
	}
	return worst
}

// Rows that were private before they were divided, and rows that never were, become so.
func TestRepair_MakesPrivate(t *testing.T) {
	const n, m = 60, 7
	r, f := random.Seeded(3), space.Halton(n)
	for _, alpha := range []float64{.5, 5, 50} {
		var budget, divided, rough, sparse []float64
		logs := make([]float64, n)
		for u := range n {
			for v := range n {
				budget = append(budget, alpha*f.Distance(u, v))
			}
			sum := 0.0
			for w := range m {
				q := math.Exp(-(1 - Margin) * alpha * f.Distance(u, w))
				sum += q
				divided = append(divided, q)
				rough = append(rough, (1+.3*r.Float64())*q)
				if f.Distance(u, w) > .3 && w != u%m {
					q = 0
				}
				sparse = append(sparse, q)
			}
			logs[u] = math.Log(sum)
			for w := range m {
				divided[u*m+w] /= sum
				rough[u*m+w] /= sum
			}
		}
		for name, c := range map[string]*Channel{
			"divided": {Inputs: n, Outputs: m, X: divided, Budget: finite.Square{N: n, D: budget}, Log: logs},
			"rough":   {Inputs: n, Outputs: m, X: rough, Budget: finite.Square{N: n, D: budget}},
			"sparse":  {Inputs: n, Outputs: m, X: sparse, Budget: finite.Square{N: n, D: budget}},
		} {
			before := level(c)
			private := testkit.Must(c.Repair(t.Context()))
			if got := level(c); before <= 1 || !private || !(got <= 1) {
				t.Errorf("alpha %v, %s: level %v of it before, %v after, private %v", alpha, name, before, got, private)
			}
		}
	}
}

// What is reported to be private is, also where points of a line are much nearer than others.
func TestRepair_NearPairs(t *testing.T) {
	const n, m, rounds = 100, 5, 12
	reported := 0
	for seed := range uint64(rounds) {
		r := random.Seeded(seed)
		alpha, rough := math.Exp(4*r.Float64()), math.Exp(-12*r.Float64())
		at, c := make([]float64, n), &Channel{Inputs: n, Outputs: m}
		for u := range at {
			if at[u] = r.Float64(); u%3 == 2 {
				at[u] = at[u-1] + 1e-3*r.Float64()
			}
			for w := range m {
				c.X = append(c.X, math.Exp(-alpha*math.Abs(at[u]-float64(w)/m))*(1+rough*r.Float64()))
			}
			floats.Scale(1/floats.Sum(c.row(u)), c.row(u))
		}
		budget := make([]float64, 0, n*n)
		for _, x := range at {
			for _, y := range at {
				budget = append(budget, alpha*math.Abs(x-y))
			}
		}
		c.Budget = finite.Square{N: n, D: budget}
		if testkit.Must(c.Repair(t.Context())) {
			reported++
			if got := level(c); !(got <= 1) {
				t.Errorf("seed %d, alpha %v: level %v of it", seed, alpha, got)
			}
		}
	}
	if reported < rounds/3 {
		t.Errorf("%d of %d are reported to be private", reported, rounds)
	}
}
