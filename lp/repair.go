package lp

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/ipm"
)

// The mixture tried first has a relative margin of firstMargin; an audit that
// still finds a level above alpha multiplies it by 8. After mostRepairs
// attempts nearly all is uniform, and the constant channel is better.
const (
	firstMargin = 0x1p-46
	mostRepairs = 16
)

// repair turns the columns of the kernel into a channel whose audited level is
// at most alpha, or returns nil. The rows, which sum to 1 up to rounding, are
// mixed with the uniform distribution u, which is 0-private: where x > exp(e) x' by some
// excess,
//
//	(1-theta) x + theta u <= exp(e) ((1-theta) x' + theta u)
//
// needs theta/(1-theta) >= excess / (u (exp(e) - 1)).
func (g *merged) repair(x []float64) (*released, error) {
	k, m := g.prog.Inputs, g.m
	weight := make([]float64, g.n*m)
	margin := 0.0
	for range mostRepairs {
		theta := 0.0
		if margin > 0 {
			var err error
			if theta, err = mixture(g.late, k, m, x, g.prog.Budget, margin); err != nil {
				return nil, err
			}
		}
		for i, c := range g.class {
			for w := range m {
				weight[i*m+w] = float64((1-theta)*x[w*k+c]) + theta/float64(m)
			}
		}
		r, err := g.release(weight)
		if err != nil {
			return nil, err
		}
		if r.audit.Hi <= g.alpha {
			return r, nil
		}
		margin = max(8*margin, firstMargin)
	}
	return nil, nil
}

// mixture is the least theta that makes every constraint hold with the margin.
func mixture(ctx context.Context, k, m int, x, budget []float64, margin float64) (float64, error) {
	most := 0.0
	for u := range k {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for v := range k {
			if u == v {
				continue
			}
			e := min(budget[u*k+v], ipm.MaxBudget)
			factor, room := math.Exp(e), math.Expm1(e)/float64(m)
			for w := range m {
				have := x[w*k+u]
				if excess := have - float64(factor*x[w*k+v]) + float64(margin*have); excess > most*room {
					most = excess / room
				}
			}
		}
	}
	return most / (1 + most), nil
}
