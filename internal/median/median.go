// Package median finds the point that a mechanism should release which ignores
// its input.
package median

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Of returns the point with the least mean distance to the others under the
// prior (nil: uniform), the first of equals. O(n^2). The error is that of ctx,
// or for the prior that of [mechanism.Losses.Mean].
func Of(ctx context.Context, f metric.Finite, prior []float64) (int, error) {
	least, at := math.Inf(1), 0
	var row mechanism.Losses
	for x := range f.Len() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		row = finite.Row(f, x, row)
		mean, err := row.Mean(prior)
		if err != nil {
			return 0, err
		}
		if mean < least {
			least, at = mean, x
		}
	}
	return at, nil
}
