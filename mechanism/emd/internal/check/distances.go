package check

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// Distances are extremes of the distances of a space. A NaN or a negative distance, which
// metric.Diameter passes over, is an error here: no promise would cover its two points.
type Distances struct {
	Diameter float64
	Far      [2]int  // points that far apart
	Least    float64 // of two points, +Inf where there is one only
	Zero     [2]int  // points at distance 0, where least is 0
	Positive float64 // least distance > 0, +Inf where there is none
}

// DistancesOf takes O(n^2) for n points, O(1) for clusters.
func DistancesOf(ctx context.Context, op string, space metric.Finite) (Distances, error) {
	e := Distances{Least: math.Inf(1), Positive: math.Inf(1)}
	n := fault.Len(space)
	if err := fault.Empty(op, "space", n); err != nil {
		return e, err
	}
	if c, ok := space.(*metric.Clustered); ok {
		e.Diameter, e.Far = c.Distance(0, n-1), [2]int{0, n - 1}
		if n > 1 {
			e.Least = c.Distance(0, 1)
		}
		e.Positive = e.Least
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
			if d > e.Diameter {
				e.Diameter, e.Far = d, [2]int{i, j}
			}
			if d < e.Least {
				e.Least, e.Zero = d, [2]int{i, j}
			}
			if d > 0 {
				e.Positive = min(e.Positive, d)
			}
		}
	}
	return e, nil
}

// TooNarrow reports items i and j at a distance d above the diameter of a model.
func TooNarrow(op string, d float64, i, j int, diameter float64) error {
	return fmt.Errorf("%s: points %d and %d of the space are at distance %v, above the model's diameter %v", op, i, j, d, diameter)
}
