package mechanism

import (
	"cmp"
	"context"
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

const (
	atLevelStep = 1e-3 // relative, that ends the search
	atLevelFar  = 60   // doublings of alpha, or halvings, that are tried
)

// AtLevel returns, of the channels that build makes on the points of rho for any alpha > 0, the one of the
// largest alpha whose audited level at o.Delta is at most level, and that alpha, to a relative 1e-3: at a
// positive delta most mechanisms keep a level well below the alpha that they were built for. The audited
// level, which should grow with alpha, and the delta are its guarantee. An alpha is 2^60 times level where
// none is above; an error of build ends the search, and a channel above level at 2^-60 times level is one.
// Some 15 builds and audits.
func AtLevel(ctx context.Context, rho metric.Finite, level float64, build func(ctx context.Context, alpha float64) (*Channel, error), o *AuditOptions) (c *Channel, alpha float64, err error) {
	const op = "mechanism: AtLevel"
	if err := cmp.Or(fault.Empty(op, "rho", fault.Len(rho)), fault.Positive(op, "level", level)); err != nil {
		return nil, 0, err
	}
	if build == nil {
		return nil, 0, fault.Empty(op, "build", 0)
	}
	above := func(a float64) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		d, err := build(ctx, a)
		if err != nil {
			return false, err
		}
		d, audit, err := d.certify(ctx, rho, "", o.auditing(op))
		if err != nil || audit.Hi > level {
			return true, err
		}
		c, alpha = d, a
		return false, nil
	}
	lo, hi := level, level
	for k := 0; c == nil; k++ {
		if up, err := above(lo); err != nil {
			return nil, 0, err
		} else if up {
			lo, hi = lo/2, lo
		}
		if c == nil && k == atLevelFar {
			return nil, 0, fmt.Errorf("%s: at alpha = %v the level is above %v", op, hi, level)
		}
	}
	for k := 0; hi == lo; k++ {
		if k == atLevelFar {
			return c, alpha, nil
		}
		up, err := above(2 * lo)
		if err != nil {
			return nil, 0, err
		}
		hi *= 2
		if !up {
			lo = hi
		}
	}
	if _, _, err := search.Bisect(lo, hi, atLevelStep, above); err != nil {
		return nil, 0, err
	}
	return c, alpha, nil
}
