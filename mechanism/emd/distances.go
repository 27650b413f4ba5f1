package emd

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// distances are what the promises here need to know of a space's. All were
// looked at: metric.Diameter passes over a NaN or a negative distance, which is
// an error here, for no promise would cover its two points.
type distances struct {
	diameter float64
	far      [2]int  // points that far apart
	least    float64 // of two points, +Inf where there is one only
	zero     [2]int  // points at distance 0, where least is 0
	positive float64 // least distance > 0, +Inf where there is none
}

// O(n^2) for n points, O(1) for clusters.
func distancesOf(ctx context.Context, op string, space metric.Finite) (distances, error) {
	e := distances{least: math.Inf(1), positive: math.Inf(1)}
	n := fault.Len(space)
	if err := fault.Empty(op, "space", n); err != nil {
		return e, err
	}
	if c, ok := space.(*metric.Clustered); ok {
		e.diameter, e.far = c.Distance(0, n-1), [2]int{0, n - 1}
		if n > 1 {
			e.least = c.Distance(0, 1)
		}
		e.positive = e.least
		return e, nil
	}
	var row []float64
	for i := range n {
		if err := ctx.Err(); err != nil {
			return e, err
		}
		row = finite.Row(space, i, row)
		for j, d := range row {
			if !(d >= 0 && d < math.Inf(1)) {
				return e, fault.Value(op, fmt.Sprintf("distance of points %d and %d", i, j), d, "a finite number >= 0")
			}
			if i == j {
				continue
			}
			if d > e.diameter {
				e.diameter, e.far = d, [2]int{i, j}
			}
			if d < e.least {
				e.least, e.zero = d, [2]int{i, j}
			}
			if d > 0 {
				e.positive = min(e.positive, d)
			}
		}
	}
	return e, nil
}
