package ipm

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/direct"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// program is the problem of n points with one metric for privacy, times alpha,
// and loss.
func program(n int, alpha float64, d func(u, v int) float64) *Problem {
	p := &Problem{Inputs: n, Outputs: n}
	for u := range n {
		p.Class = append(p.Class, u)
		for v := range n {
			e := 0.0
			if u != v {
				e = d(u, v)
			}
			p.Loss = append(p.Loss, e)
			p.Budget = append(p.Budget, alpha*e)
		}
	}
	p.Pairs = testkit.Must(direct.Pairs(context.Background(), n, p.Budget, 0))
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

// solve prepares, and solves within ctx.
func solve(ctx context.Context, p *Problem, o Settings) (*Result, error) {
	l, err := Prepare(context.Background(), p)
	if err != nil {
		return nil, err
	}
	return l.Solve(ctx, o), nil
}

// pairsOf are the pairs that p imposes.
func pairsOf(p *Problem) *pairs { return testkit.Must(newPairs(context.Background(), p)) }
