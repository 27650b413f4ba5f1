package ipm

import (
	"context"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/direct"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
)

// program is the problem of n points with one metric for privacy, times alpha,
// and loss.
func program(n int, alpha float64, d func(u, v int) float64) *Problem {
	p := &Problem{Inputs: n, Outputs: n}
	budget := finite.Square{N: n}
	for u := range n {
		p.Class = append(p.Class, u)
		for v := range n {
			e := 0.0
			if u != v {
				e = d(u, v)
			}
			p.Loss = append(p.Loss, e)
			budget.D = append(budget.D, alpha*e)
		}
	}
	p.Budget = budget
	p.Pairs = testkit.Must(direct.Pairs(context.Background(), budget, 0))
	return p
}

func simplex(u, v int) float64 { return 1 }

// square is the problem of n random points of the unit square.
func square(n int, alpha float64) *Problem {
	r := random.Seeded(3)
	x, y := make([]float64, n), make([]float64, n)
	for u := range n {
		x[u], y[u] = r.Float64(), r.Float64()
	}
	return program(n, alpha, func(u, v int) float64 { return math.Hypot(x[u]-x[v], y[u]-y[v]) })
}

// grid is the l1 grid of k x k points.
func grid(k int, alpha float64) *Problem { return program(k*k, alpha, space.Grid(k).Distance) }

// randomTree has n nodes and edges of random lengths.
func randomTree(n int, alpha float64) *Problem {
	return program(n, alpha, space.Tree(n, .1, random.Seeded(5)).Distance)
}

// few keeps k outputs of p.
func few(p *Problem, k int) *Problem {
	q := *p
	q.Outputs, q.Loss = k, nil
	for i := range k {
		w := i * p.Outputs / k
		q.Loss = append(q.Loss, p.Loss[w*p.losses():(w+1)*p.losses()]...)
	}
	return &q
}

// skewed sets a prior.
func skewed(p *Problem) *Problem {
	q := *p
	q.Prior = make([]float64, p.losses())
	for i := range q.Prior {
		q.Prior[i] = float64(1+i%5) / float64(3*p.losses())
	}
	return &q
}

// twice adds to p a second loss row for every third input.
func twice(p *Problem) *Problem {
	q := *p
	q.Loss, q.Class = nil, append([]int(nil), p.Class...)
	for u := 0; u < p.Inputs; u += 3 {
		q.Class = append(q.Class, u)
	}
	for w := range p.Outputs {
		loss := p.Loss[w*p.losses() : (w+1)*p.losses()]
		q.Loss = append(q.Loss, loss...)
		for _, u := range q.Class[p.losses():] {
			q.Loss = append(q.Loss, loss[u]/2+1)
		}
	}
	return &q
}

// planFor is a plan for an engine, chosen or not.
func planFor(p *Problem, kind Kind) *Plan {
	ctx := context.Background()
	l := &Plan{Kind: kind, p: p, r: testkit.Must(newPairs(ctx, p)), structure: denseBlocks{}}
	switch kind {
	case Sparse:
		order, _ := eliminationOrder(l.r, math.MaxInt)
		l.structure = sharedPattern{newPattern(l.r, order)}
	case ByInput:
		l.structure = byInputs{testkit.Must(inputPlan(ctx, p, l.r, math.Inf(1)))}
	case Lazy:
		l = testkit.Must(Lazily(ctx, p))
	}
	return l
}

// started is a solver at its start, moved by some steps.
func started(t testing.TB, l *Plan, steps int) *solver {
	t.Helper()
	s := newSolver(context.Background(), l, Settings{Workers: 1})
	testkit.Check(t, s.start())
	for range steps {
		testkit.Check(t, s.engine.factor())
		testkit.Check(t, s.step())
	}
	return s
}
