package exponential

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// NegativeWeightError reports tight weights that are negative at a point.
type NegativeWeightError struct {
	Index  int     // the point
	Weight float64 // the solution there
}

func (e *NegativeWeightError) Error() string {
	return fmt.Sprintf("exponential: tight weights do not exist: w[%d] = %.6g; at larger alpha they do", e.Index, e.Weight)
}

// ErrSingular reports a matrix exp(-alpha*rho) singular to working precision.
var ErrSingular = errors.New("exp(-alpha*rho) is singular to working precision")

const (
	// maxCondition is the largest condition number of K at which the weights are trusted to about six
	// digits. Errors in them cost accuracy or level, which the audit sees, never privacy.
	maxCondition = 1e10
	// zeroWeight is the size, relative to the largest weight, below which a
	// negative weight is the rounding of 0 at that condition number.
	zeroWeight = 1e-9
)

// Tight returns the mechanism P{y|x} = w_y exp(-alpha*rho(x,y)) with weights w that make every row sum to
// 1, so that no normalizer depends on the input and the full rate alpha is alpha-private. On a line it is
// the truncated geometric mechanism (Ghosh, Roughgarden, Sundararajan 2009).
//
// The rate is alpha, or less by what rounding needs. The weights exist on every line and at large alpha;
// where one is negative the error is a [*NegativeWeightError], at very small alpha [ErrSingular]. Of
// points at distance 0 only the first is an output; there are no other Outputs. O(n^3) time and O(n^2) memory.
func Tight(ctx context.Context, f metric.Finite, alpha float64, o *Options) (*Mechanism, error) {
	const op = "exponential: Tight"
	fam, err := newFamily(op, MethodTight, f, alpha, o)
	if err != nil {
		return nil, err
	}
	if fam.net != nil {
		return nil, fmt.Errorf("%s: Outputs: want none, as every point is one", op)
	}
	if fam.net, err = metric.Net(ctx, f, 0, nil); err != nil {
		return nil, err
	}
	return fam.certifyAs(ctx, alpha, func(ctx context.Context, beta float64) (*mechanism.Channel, error) {
		// Weights of another rate would leave normalizers that depend on the input, and
		// the level above alpha however little the rate is lowered.
		if fam.logWeights, err = fam.tightWeights(ctx, beta); err != nil {
			return nil, err
		}
		return fam.channel(ctx, beta)
	})
}

// tightWeights solves K w = 1 on the net at rate beta and returns ln w.
func (fam *family) tightWeights(ctx context.Context, beta float64) ([]float64, error) {
	k := len(fam.net)
	if err := fault.Memory(fam.op, float64(k)*float64(k), 8); err != nil {
		return nil, err
	}

	// exp(-alpha*rho) is positive definite for subsets of L1 and L2, not for every metric.
	kernel, err := dense.Factorize(ctx, k, make([]float64, k*k), func(a []float64) error {
		return parallel.Chunks(ctx, k, 8, fam.audit.Workers, nil, func(_, lo, hi int) {
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				for j, y := range fam.net {
					a[i*k+j] = exact.Exp(-beta * fam.f.Distance(fam.net[i], y))
				}
			}
		})
	})
	if err != nil {
		return nil, err
	}
	if kernel == nil {
		return nil, fmt.Errorf("%s: %w", fam.op, ErrSingular)
	}
	if cond, err := kernel.Cond(ctx); err != nil {
		return nil, err
	} else if !(cond < maxCondition) {
		return nil, fmt.Errorf("%s: %w", fam.op, ErrSingular)
	}
	w := slices.Repeat([]float64{1}, k)
	if err := kernel.Solve(ctx, w); err != nil {
		return nil, err
	}
	if worst := slices.Min(w); worst < -zeroWeight*slices.Max(w) {
		return nil, &NegativeWeightError{fam.net[slices.Index(w, worst)], worst}
	}
	for i, v := range w {
		w[i] = directed.Log(max(0, v))
	}
	return w, nil
}
