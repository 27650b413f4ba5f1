package metric

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
)

// gridStretch is more than 1/cos(pi/8) = 1.08239.., by 7e-6 for the roundings of centers and sums.
const gridStretch = 1.0824

// NewGrid returns a metric of the plane with levels by place, and the centers of its cells:
// shortest paths in square cells of side step, which cover the rectangle from lo to hi row by row.
// A weight says how much distance counts in a cell, given its center: where it is a quarter, a
// mechanism that is alpha-private for the metric is alpha/4-private. Use both as Bimetric{graph,
// centers}. For another point take the nearest center ([Locator]), whose distances are then what is
// promised.
//
// Two centers are at most w times their Euclidean distance apart, w the largest weight in the
// rectangle of cells that they span, and no farther than any way from center to center adds up to,
// each step with its weight. So privacy for the metric is privacy for lengths times weights, up to
// cells. The metric is less by up to 8 %, as paths go in eight directions, and beside cells of less
// weight.
//
// Weights must be public, as the density of towns: small weights around one's own home disclose it.
//
// Weights and step are in [1e-100, 1e100], step at least 2^-30 of all coordinates; the errors are a
// [*ValueError] and, for n(n-1)/2 distances of n cells, a [*MemoryError]. O(n^2 log n), on every
// core.
func NewGrid(ctx context.Context, lo, hi [2]float64, step float64, weight func(center [2]float64) float64) (*Graph, *Points[[2]float64], error) {
	const op = "metric: NewGrid"
	if weight == nil {
		return nil, nil, fmt.Errorf("%s: weight is nil: %w", op, fault.ErrEmpty)
	}
	size := func(v float64) bool { return v >= 1e-100 && v <= 1e100 }
	if !size(step) {
		return nil, nil, fault.Value(op, "step", step, "a number in [1e-100, 1e100]")
	}
	var sides [2]float64 // in cells
	for i := range sides {
		// Then centers err by less than 2^-20 of a step.
		if most := step * (1 << 30); !(math.Abs(lo[i]) <= most) || !(hi[i] > lo[i] && hi[i] <= most) {
			return nil, nil, &ValueError{Op: op, Arg: "hi", Index: i, Value: hi[i], Want: fmt.Sprintf("a number above lo[%d] = %v, both at most 2^30 steps in size", i, lo[i])}
		}
		sides[i] = math.Ceil((hi[i] - lo[i]) / step)
	}
	n := float64(sides[0] * sides[1])
	if err := fault.Memory(op, n*(n-1)/2, 8); err != nil {
		return nil, nil, err
	}
	cols, rows := int(sides[0]), int(sides[1])
	centers, weights := make([][2]float64, cols*rows), make([]float64, cols*rows)
	for i := range centers {
		c := [2]float64{lo[0] + float64((float64(i%cols)+0.5)*step), lo[1] + float64((float64(i/cols)+0.5)*step)}
		centers[i], weights[i] = c, weight(c)
		if !size(weights[i]) {
			return nil, nil, &ValueError{Op: op, Arg: "weights of cells", Index: i, Value: weights[i], Want: "a number in [1e-100, 1e100]"}
		}
	}
	// Between centers (a, b) steps apart, a >= b, there is a path of b diagonal and a-b straight
	// edges within their rectangle, of length a + (sqrt 2 - 1) b <= hypot(a, b)/cos(pi/8). Each
	// edge counts the smaller weight of its ends, so that the path is at most w times that.
	var edges []Edge
	for i := range centers {
		for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} {
			if x, y := i%cols+d[0], i/cols+d[1]; x >= 0 && x < cols && y < rows {
				j := y*cols + x
				edges = append(edges, Edge{i, j, step * math.Hypot(float64(d[0]), float64(d[1])) * min(weights[i], weights[j]) / gridStretch})
			}
		}
	}
	g, err := NewGraphEdges(ctx, len(centers), edges)
	if err != nil {
		return nil, nil, fault.Within(op, err)
	}
	p, err := NewPoints(centers, Plane{})
	return g, p, err
}
