package lp

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/parallel"
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
	margin := 0.0
	for range mostRepairs {
		theta := 0.0
		if margin > 0 {
			var err error
			if theta, err = g.mixture(x, margin); err != nil {
				return nil, err
			}
		}
		r, err := g.mixed(x, theta)
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

// mixed releases the columns x, mixed with a share of the uniform distribution.
func (g *merged) mixed(x []float64, theta float64) (*released, error) {
	weight := make([]float64, g.n*g.m)
	for i, c := range g.class {
		for w := range g.m {
			weight[i*g.m+w] = float64((1-theta)*x[w*g.prog.Inputs+c]) + theta/float64(g.m)
		}
	}
	return g.release(weight)
}

func (g *merged) eachOutput(f func(w int)) error {
	return parallel.Chunks(g.late, g.m, 1, g.o.Workers, nil, func(w, _, _ int) { f(w) })
}

// mixture is the least theta that makes the constraints of the program's pairs hold with the margin.
// They imply all others, except by columns with few of the inputs: the audit tells.
func (g *merged) mixture(x []float64, margin float64) (float64, error) {
	k, most := g.prog.Inputs, make([]float64, g.m)
	factor, room := make([][]float64, k), make([][]float64, k)
	for u, list := range g.prog.Pairs {
		for _, v := range list {
			e := min(g.prog.Budget.Distance(u, int(v)), ipm.MaxBudget)
			factor[u] = append(factor[u], math.Exp(e))
			room[u] = append(room[u], math.Expm1(e)/float64(g.m))
		}
	}
	err := g.eachOutput(func(w int) {
		x := x[w*k : (w+1)*k]
		for u, list := range g.prog.Pairs {
			for i, v := range list {
				more, less := x[u], x[v]
				if less > more {
					more, less = less, more
				}
				if excess := more - float64(factor[u][i]*less) + float64(margin*more); excess > most[w]*room[u][i] {
					most[w] = excess / room[u][i]
				}
			}
		}
	})
	odds := slices.Max(most)
	return odds / (1 + odds), err
}
