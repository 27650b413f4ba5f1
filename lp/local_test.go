package lp

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// Whatever a local relaxation leaves out, the bound that its completed prices prove holds: it is
// not above the optimum, nor above what is lost under the prior that comes with it.
func TestComplete_ProvesABound(t *testing.T) {
	r := random.Seeded(50)
	for i := range testkit.Sweep(20, 100) {
		n, m := 8+r.IntN(16), 3+r.IntN(3)
		points := make([][]float64, n)
		for u := range points {
			points[u] = []float64{6 * r.Float64(), 3 * r.Float64()}
		}
		f, alpha := space.Euclidean(points), []float64{1, 2, 4}[i%3]
		o := &Options{Outputs: r.Perm(n)[:m], Tolerance: 1e-4}
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), alpha, o))
		g := p.merge(0)
		testkit.Check(t, g.impose())
		s := &Solution{}
		s.keep(testkit.Must(p.constant(t.Context())))
		s.DualBound = .05 * s.Objective
		most := []float64{.01, .1, .5}[r.IntN(3)] * math.Ldexp(s.Objective, -g.exp)
		left := 0
		if g.prog.Support, _ = g.support(most); g.prog.Support == nil {
			continue
		}
		for _, list := range g.prog.Support {
			left += n - len(list)
		}
		g.plan = testkit.Must(ipm.Prepare(t.Context(), &g.prog))
		res := g.plan.Solve(t.Context(), ipm.Settings{Tolerance: 1e-4})
		value := res.Lower
		testkit.Check(t, g.complete(res))
		s.raise(g, res)
		name := fmt.Sprintf("space %d: n=%d, m=%d, alpha=%v, %d left out, value %v", i, n, m, alpha, left, value)
		best := testkit.Must(Optimal(t.Context(), metric.Same(f), alpha, o))
		if s.DualBound > best.Objective {
			t.Errorf("%s: bound %v, optimum %v", name, s.DualBound, best.Objective)
		}
		held(t, metric.Same(f), alpha, o, s)
	}
}

// Known answers: input 2 has .6 more than its price, of which 1 takes all at a factor of 4, so that
// 3 lacks what it did.
func TestComplete_PaysForWhatItGives(t *testing.T) {
	far, loss := []float64{0, 1, 4, 2}, 10.0
	f := space.Formula(4, func(i, j int) float64 {
		switch {
		case i*j == 0:
			return 5
		case i*j == 2:
			return math.Log(4)
		case i*j == 6:
			return math.Log(2)
		}
		return 2
	})
	p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), 1, &Options{Outputs: []int{0, 1}, Loss: func(x, y int) float64 {
		if y == 0 {
			return far[x]
		}
		return loss
	}}))
	g := p.merge(0)
	testkit.Check(t, g.impose())
	g.prog.Support = [][]int32{{0}, {0, 1, 2, 3}}
	res := &ipm.Result{Z: []float64{.1, .2, .5, .2}}
	for _, y := range []float64{0, .5, 1.4, .6} {
		res.Y = append(res.Y, math.Ldexp(y, -g.exp))
	}
	testkit.Check(t, g.complete(res))
	for u, want := range []float64{0, .35, 1.4, .4} {
		if got := math.Ldexp(res.Y[u], g.exp); !(got <= want && got > want-1e-9) {
			t.Errorf("price %d: %v, want %v", u, got, want)
		}
	}
	if got := math.Ldexp(res.Lower, g.exp); !(got <= 2.15 && got > 2.15-1e-9) {
		t.Errorf("bound %v, want 2.15", got)
	}
}
