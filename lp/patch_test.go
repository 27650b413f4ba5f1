package lp

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// The prices of a program with few of the outputs, lifted to all of them, prove no more
// than the optimum.
func TestLift_BelowTheOptimum(t *testing.T) {
	r := random.Seeded(11)
	close := 0
	for trial := range 20 {
		const n = 7
		b, alpha := metric.Same(space.Uniform(n, r)), 1+9*r.Float64()
		few := r.Perm(n)[:2+trial%4]
		s := testkit.Must(optimal(t.Context(), "test", b, alpha, &Options{Outputs: few, Tolerance: 1e-6}, true))
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		e := &extension{problem: testkit.Must(read(t.Context(), "test", b, alpha, &Options{Outputs: all}))}
		if s.prices == nil {
			t.Fatal("no prices")
		}
		lifted := testkit.Must(e.lift(all, few, s.prices))
		best := testkit.Must(Optimal(t.Context(), b, alpha, &Options{Tolerance: 1e-6}))
		if lifted > best.Objective {
			t.Errorf("trial %d: %v from %d outputs, the optimum is %v", trial, lifted, len(few), best.Objective)
		}
		if lifted > 0.3*best.Objective {
			close++
		}
		// What else is proved may be so under another prior.
		s.DualBound, s.Prior = 0, make([]float64, n)
		s.Prior[0] = 1
		bound, prior := e.proved(s, all, few, 0)
		if bound != max(0, lifted) {
			t.Errorf("trial %d: bound %v, lifted %v", trial, bound, lifted)
		}
		held(t, b, alpha, &Options{Tolerance: 1e-6}, &Solution{DualBound: bound, Prior: prior})
	}
	if close == 0 {
		t.Error("no bound is near the optimum")
	}
}

// Each output that is left out has a kept one that costs more by the slack at most at every
// input, which the bound of a local program subtracts.
func TestUndominated_KeepsWithinTheSlack(t *testing.T) {
	r := random.Seeded(13)
	for _, anchors := range []int{1, 2, 20} { // the first two let the slack grow
		p := testkit.Must(read(t.Context(), "test", metric.Same(space.Uniform(20, r)), 3, &Options{}))
		e := &extension{problem: p, s: p.solution(), anchors: anchors}
		e.s.Objective = 1
		inputs := []int{3, 5, 8}
		for _, asked := range []float64{0, 0.05, 0.2} {
			kept, slack := e.undominated(inputs, asked)
			least := 0.0 // slack that the outputs left out need
			for w := range e.m {
				need := math.Inf(1)
				for _, v := range kept {
					more := 0.0
					for _, u := range inputs {
						more = max(more, e.loss[v*e.n+u]-e.loss[w*e.n+u])
					}
					need = min(need, more)
				}
				least = max(least, need)
			}
			if least > slack || slack < asked || len(kept) > patchOutputs*anchors {
				t.Errorf("%d anchors, slack %v: %d outputs kept, %v needed, %v stated", anchors, asked, len(kept), least, slack)
			}
		}
	}
}

// The slack is a rounded difference of losses, and its bound is below by all of the
// exact one.
func TestBehind_CountsTheRoundingOfSlack(t *testing.T) {
	r := random.Seeded(14)
	for range 400 {
		c, bound := r.Float64(), r.Float64()
		d := c + 0.1*r.Float64()*r.Float64()
		if r.IntN(2) == 0 { // a difference of many digits
			c *= 0x1p-30
		}
		less := wide(0).Sub(wide(d), wide(c))
		want := wide(0).Sub(wide(bound), less)
		got := behind(bound, d-c)
		if v, _ := want.Float64(); wide(got).Cmp(want) > 0 || got < v-0x1p-48 {
			t.Fatalf("%v - (%v - %v): %v", bound, d, c, got)
		}
	}
}

// The bound is about every private channel: what the way through a third point
// allows is rounded up in it.
func TestBudgets_CeilingOfAWayIsRoundedUp(t *testing.T) {
	testkit.Rounding(t)
	for _, step := range []float64{.1, .3, .7, 1.1} {
		f := space.Func(3, func(i, j int) float64 {
			if i+j == 2 {
				return 10 // from end to end
			}
			return step * float64(i+j)
		})
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), .3, nil))
		way := new(big.Float).SetPrec(200).SetFloat64(p.budget.Distance(0, 1))
		way.Add(way, big.NewFloat(p.budget.Distance(1, 2)))
		g := p.merge(0)
		if err := g.impose(); err != nil {
			t.Fatal(err)
		}
		if got := g.prog.Budget.Distance(0, 2); big.NewFloat(got).Cmp(way) < 0 || got > .3*4*step*(1+1e-12) {
			t.Errorf("step %v: %v is not %v", step, got, way)
		}
	}
}

// What is imposed between classes are shortest paths over the least budgets of their
// members, the pairs imply all others, and the ceiling is no less than the budget of
// the first members: with inputs at distance 0, tight clusters, and no metric at all.
func TestImpose_ShortestPathsBetweenClasses(t *testing.T) {
	r := random.Seeded(8)
	for i := range 60 {
		n := 4 + r.IntN(30)
		at := make([]float64, n)
		for u := range at {
			at[u] = float64(r.IntN(6)) + .01*float64(r.IntN(3))
		}
		f := space.Func(n, func(i, j int) float64 { return math.Abs(at[i] - at[j]) })
		if i%2 == 1 {
			f = space.Func(n, func(i, j int) float64 { return math.Floor(8*r.Float64()) / 4 })
		}
		const alpha = .3
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), alpha, nil))
		g := p.merge([]float64{0, .01}[i/2%2])
		if err := g.impose(); err != nil {
			t.Fatal(err)
		}
		k := len(g.first)
		if k == 1 {
			continue
		}
		want := slices.Repeat([]float64{math.Inf(1)}, k*k)
		for i, c := range g.class {
			for j, d := range g.class {
				want[c*k+d] = min(want[c*k+d], alpha*f.Distance(i, j))
			}
		}
		along := slices.Repeat([]float64{math.Inf(1)}, k*k)
		for c, list := range g.prog.Pairs {
			along[c*k+c] = 0
			for _, d := range list {
				along[c*k+int(d)], along[int(d)*k+c] = g.prog.Budget.Distance(c, int(d)), g.prog.Budget.Distance(c, int(d))
			}
		}
		for _, m := range [][]float64{want, along} {
			for z := range k {
				for c := range k {
					for d := range k {
						m[c*k+d] = min(m[c*k+d], m[c*k+z]+m[z*k+d])
					}
				}
			}
		}
		for c := range k {
			for d := range k {
				got, ceiling := g.prog.Budget.Distance(c, d), g.prog.Budget.Distance(c, d)
				if g.prog.Ceiling != nil {
					ceiling = g.prog.Ceiling(c, d)
				}
				if c == d {
					want[c*k+d] = 0
				}
				if e := want[c*k+d]; got < e*(1-1e-12) || got > e*(1+1e-12) || math.Abs(along[c*k+d]-e) > 1e-12*e || ceiling < got {
					t.Fatalf("(%d, %d) of %d: imposed %v, along the pairs %v, ceiling %v, want %v", c, d, k, got, along[c*k+d], ceiling, e)
				}
				exact := wide(0).Mul(wide(alpha), wide(f.Distance(g.first[c], g.first[d])))
				if k < n && wide(ceiling).Cmp(exact) < 0 {
					t.Fatalf("(%d, %d) of %d: ceiling %v, exactly %v", c, d, k, ceiling, exact)
				}
			}
		}
	}
}
