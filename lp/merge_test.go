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
		way := new(big.Float).SetPrec(200).SetFloat64(p.budget[1])
		way.Add(way, big.NewFloat(p.budget[3+2]))
		g := p.merge(0)
		if err := g.impose(); err != nil {
			t.Fatal(err)
		}
		if got := g.prog.Budget[2]; big.NewFloat(got).Cmp(way) < 0 || got > .3*4*step*(1+1e-12) {
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
				along[c*k+int(d)], along[int(d)*k+c] = g.prog.Budget[c*k+int(d)], g.prog.Budget[c*k+int(d)]
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
				got, ceiling := g.prog.Budget[c*k+d], g.prog.Budget[c*k+d]
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
