package exponential

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// Tuned returns the exponential mechanism at the largest rate between alpha/2 and alpha that is found to
// have an audited level of at most alpha; the level does not always grow with the rate. Errors are those
// of [Standard]. O(n^2*k) time and O(n^2 + n*k) memory.
func Tuned(ctx context.Context, f metric.Finite, alpha float64, o *Options) (*Mechanism, error) {
	fam, err := newFamily("exponential: Tuned", MethodTuned, f, alpha, o)
	if err != nil {
		return nil, err
	}
	beta, err := fam.largestRate(ctx)
	if err != nil {
		return nil, err
	}
	return fam.certify(ctx, beta)
}

// largestRate finds a locally largest rate of level at most alpha.
func (fam *family) largestRate(ctx context.Context) (float64, error) {
	level, err := fam.levelByRate(ctx)
	if err != nil {
		return 0, err
	}
	above := func(beta float64) (bool, error) {
		v, err := level(beta)
		return !(v <= fam.alpha), err
	}
	if up, err := above(fam.alpha); err != nil || !up {
		return fam.alpha, err
	}
	beta, _, err := search.Bisect(fam.alpha/2, fam.alpha, tunedStep, above)
	return beta, err
}

// tunedStep ends the bisection, above the rounding of level.
const tunedStep = 0x1p-40

// levelByRate returns the tight level as a function of the rate beta, in plain float64: a guide for the
// bisection, not a proof. It is the largest, over x and x', of (beta*g(x,x') + ln Z(x') - ln Z(x)) /
// rho(x,x'), Z(x) the normalizer of x and g(x,x') the largest rho(x',y) - rho(x,y) over outputs y.
func (fam *family) levelByRate(ctx context.Context) (func(beta float64) (float64, error), error) {
	n, k := fam.f.Len(), fam.outputs()
	if err := fault.Memory(fam.op, float64(n)*float64(n+k), 8); err != nil {
		return nil, err
	}

	dist, bad := make([]float64, n*k), make([]error, n)
	err := parallel.Chunks(ctx, n, 8, fam.audit.Workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			fam.distances(x, dist[x*k:(x+1)*k])
			bad[x] = fam.check(x, dist[x*k:(x+1)*k])
		}
	})
	if err = cmp.Or(cmp.Or(bad...), err); err != nil {
		return nil, err
	}
	rho, err := metric.Densify(ctx, fam.f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fam.op, err)
	}
	// gap[x*n+xp] = max over y of rho(xp,y) - rho(x,y).
	gap := make([]float64, n*n)
	err = parallel.Chunks(ctx, n, 8, fam.audit.Workers, nil, func(_, lo, hi int) {
		for xp := range n {
			if xp%64 == 0 && ctx.Err() != nil {
				return
			}
			b := dist[xp*k : (xp+1)*k]
			for x := lo; x < hi; x++ {
				g := math.Inf(-1)
				for y, d := range dist[x*k : (x+1)*k] {
					if v := b[y] - d; v > g {
						g = v
					}
				}
				gap[x*n+xp] = g
			}
		}
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	lnZ := make([]float64, n)
	return func(beta float64) (float64, error) {
		err := parallel.Chunks(ctx, n, 16, fam.audit.Workers, nil, func(_, lo, hi int) {
			for x := lo; x < hi && ctx.Err() == nil; x++ {
				sum := 0.0
				for _, d := range dist[x*k : (x+1)*k] {
					sum += exact.Exp(-beta * d)
				}
				lnZ[x] = math.Log(sum)
			}
		})
		level := 0.0
		row := make([]float64, n)
		for x := range n {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return 0, err
			}
			row = rho.DistancesFrom(x, row)
			for xp, d := range row {
				if v := (float64(beta*gap[x*n+xp]) + lnZ[xp] - lnZ[x]) / d; v > level {
					level = v
				}
			}
		}
		return level, nil
	}, nil
}
