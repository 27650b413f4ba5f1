package anywhere

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
)

// TriangulatedLevel returns the level, per unit of the Euclidean distance and rounded up, of a
// channel between points of the plane that is interpolated in triangles, with barycentric
// coordinates, and the triangle and the output that attain it. It holds for pairs of points whose
// segment lies in the triangles: they should cover a convex region, edge to edge.
//
// A triangle without area, or an output of probability 0 at one or two of its points, has level
// +Inf; probabilities below 1e-308 count as 0, areas and others below 1e-270 too. An index outside
// the points is a [*metric.ValueError]. O(triangles*outputs).
func TriangulatedLevel(ctx context.Context, points [][2]float64, triangles [][3]int, c *mechanism.Channel) (level float64, triangle, output int, err error) {
	// At x in the triangle of points i, output y has the probability sum of lambda_i(x) M[i,y],
	// lambda the barycentric coordinates. That is affine in x, so that the level is the largest
	//
	//	|sum of grad lambda_i M[i,y]| / min_i M[i,y].
	const op = "anywhere: TriangulatedLevel"
	if err := fault.Empty(op, "points", len(points)); err != nil {
		return math.NaN(), -1, -1, err
	}
	if err := fault.Size(op, "c", fault.Len(c), len(points)); err != nil {
		return math.NaN(), -1, -1, err
	}
	for i, p := range points {
		if err := fault.AllFinite(op, fmt.Sprintf("points[%d]", i), p[:]); err != nil {
			return math.NaN(), -1, -1, err
		}
	}
	level, triangle, output = 0, -1, -1
	var row [3][]float64
	for t, corners := range triangles {
		if err := fault.Indices(op, fmt.Sprintf("triangles[%d]", t), corners[:], len(points)); err != nil {
			return math.NaN(), -1, -1, err
		}
		if err := ctx.Err(); err != nil {
			return math.NaN(), -1, -1, err
		}
		for j, i := range corners {
			row[j] = c.Row(i, row[j])
		}
		p, q, r := points[corners[0]], points[corners[1]], points[corners[2]]
		for y := range row[0] {
			if v := slope([2][2]float64{{q[0] - p[0], q[1] - p[1]}, {r[0] - p[0], r[1] - p[1]}}, [3]float64{row[0][y], row[1][y], row[2][y]}); v > level {
				level, triangle, output = v, t, y
			}
		}
	}
	return level, triangle, output, nil
}

// slope is the size of the gradient of the affine function of values v, at the origin and at the two
// sides, over the least value, rounded up. Values are known to probErr of themselves, differences of
// coordinates to a rounding.
func slope(side [2][2]float64, v [3]float64) float64 {
	const probErr, rounding = 0x1p-42, 0x1p-49
	least := min(v[0], v[1], v[2])
	if max(v[0], v[1], v[2]) == 0 {
		return 0
	}
	cross := func(a, b, c, d float64) (value, size float64) {
		x, y := float64(a*b), float64(c*d)
		return x - y, math.Abs(x) + math.Abs(y)
	}
	area, size := cross(side[0][0], side[1][1], side[0][1], side[1][0])
	area = math.Abs(area) - float64(size*rounding)
	if !(least > 0x1p-900 && area > 0x1p-900) { // below, products lose digits
		return math.Inf(1)
	}
	for i := range v {
		v[i] /= least // small values times small sides would be 0
	}
	up, along := v[1]-v[0], v[2]-v[0]
	errUp, errAlong := probErr*(v[1]+v[0]), probErr*(v[2]+v[0])
	var g [2]float64
	for k := range g {
		// Cramer's rule: the other coordinate's differences.
		a, b := side[1][1-k], side[0][1-k]
		d, size := cross(up, a, along, b)
		g[k] = math.Abs(d) + float64(size*rounding) + float64(errUp*math.Abs(a)) + float64(errAlong*math.Abs(b))
	}
	if level := math.Hypot(g[0], g[1]) / area * (1 + 2*probErr); level >= 0 {
		return level
	}
	return math.Inf(1) // of large values and sides products are beyond float64
}
