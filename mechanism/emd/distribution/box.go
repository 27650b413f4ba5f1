package distribution

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/emd/internal/norm"
	"github.com/metricdp/metricdp/mechanism/emd/internal/tents"
	"github.com/metricdp/metricdp/metric"
)

// maxBoxDim bounds the dimension of a box: a point has 2^d weights.
const maxBoxDim = 8

// Box is the box with corners lo and hi, lo[j] < hi[j], in at most 8 dimensions, under
// [metric.Euclidean], [metric.Manhattan] or [metric.Chebyshev], in the unit of Model.Unit. Items
// outside count at the nearest point of the box; a NaN coordinate is an error.
//
// The spacing of its grid is of the order of the error; an item becomes the weights of the 2^d corners
// of its cell (multilinear interpolation), and the estimate lies on a grid 3 to 9 times finer. The
// promise is about the items as given, to the last bit.
func Box(space metric.Space[[]float64], lo, hi []float64) *Domain[[]float64] {
	lo, hi = append([]float64(nil), lo...), append([]float64(nil), hi...)
	return &Domain[[]float64]{func(_ context.Context, op string) (g ground[[]float64], err error) {
		p := 0.0
		switch space.(type) {
		case metric.Manhattan:
			p = 1
		case metric.Euclidean:
			p = 2
		case metric.Chebyshev:
			p = math.Inf(1)
		default:
			return g, fmt.Errorf("%s: a box under %T: want metric.Euclidean, metric.Manhattan or metric.Chebyshev", op, space)
		}
		if err := cmp.Or(fault.Empty(op, "lo", len(lo)), fault.Size(op, "hi", len(hi), len(lo)),
			fault.AllFinite(op, "lo", lo), fault.AllFinite(op, "hi", hi)); err != nil {
			return g, err
		}
		if len(lo) > maxBoxDim {
			return g, &fault.SizeError{Op: op, Arg: "lo", Got: len(lo), Want: fmt.Sprintf("at most %d coordinates", maxBoxDim)}
		}
		sides := make([]float64, len(lo))
		for j, l := range lo {
			sides[j] = directed.SubUp(hi[j], l)
			if !(l < hi[j]) {
				return g, &fault.ValueError{Op: op, Arg: "hi", Index: j, Value: hi[j], Want: fmt.Sprintf("more than lo[%d] = %v", j, l)}
			}
			switch p {
			case 1:
				g.diameter = directed.AddUp(g.diameter, sides[j])
			default:
				g.diameter = max(g.diameter, sides[j])
			}
		}
		if p == 2 && !math.IsInf(g.diameter, 1) {
			g.diameter = norm.EuclideanUp(sides)
		}
		if math.IsInf(g.diameter, 1) {
			return g, fault.Value(op, "diameter of the box", g.diameter, "a finite number")
		}
		g.named = slices.Concat([]float64{p}, lo, hi)
		g.plan = func(_ context.Context, op string, s setting) (plan[[]float64], error) {
			b, err := tents.NewBox(op, lo, hi, p, s.noise, s.quantum, s.rounding, s.spacing)
			if err != nil {
				return plan[[]float64]{}, err
			}
			return plan[[]float64]{
				shape: b, add: b.Add, point: b.Point, lipschitz: b.Slope(),
				rounder: func() rounder[[]float64] { return b.Rounder() },
			}, nil
		}
		return g, nil
	}}
}

// Sphere is the whole sphere of g, in its unit. Latitudes outside [-90, 90] and longitudes that are
// no finite numbers are errors. Items become points in space, with the weights of [Box] there. The
// promise is about the items as given, and even about straight distances through the sphere.
func Sphere(g metric.GreatCircle) *Domain[metric.LatLon] {
	return &Domain[metric.LatLon]{func(_ context.Context, op string) (ground[metric.LatLon], error) {
		if err := g.Check(metric.LatLon{}, metric.LatLon{}); err != nil {
			return ground[metric.LatLon]{}, fault.Within(op, err)
		}
		radius := cmp.Or(g.Radius, metric.EarthRadiusKm)
		sphere := ground[metric.LatLon]{diameter: directed.MulUp(directed.Next(math.Pi), radius), unit: g.Unit(), named: []float64{radius}}
		sphere.plan = func(ctx context.Context, op string, s setting) (plan[metric.LatLon], error) {
			b, err := tents.NewSphere(ctx, op, radius, s.noise, s.quantum, s.rounding, s.spacing)
			if err != nil {
				return plan[metric.LatLon]{}, err
			}
			return plan[metric.LatLon]{
				shape: b, add: b.Add, lipschitz: b.Slope(),
				rounder: func() rounder[metric.LatLon] {
					round := b.Rounder()
					return func(dst []int64, rng *rand.Rand, items []metric.LatLon) error {
						for i, x := range items {
							if err := g.Check(x, x); err != nil {
								return fmt.Errorf("item %d: %w", i, fault.Private(fault.Within("distribution: Sphere", err)))
							}
						}
						round(dst, rng, items)
						return nil
					}
				},
				point: func(i int) metric.LatLon {
					x := b.Point(i)
					return metric.LatLon{Lat: math.Atan2(x[2], math.Hypot(x[0], x[1])) * 180 / math.Pi, Lon: math.Atan2(x[1], x[0]) * 180 / math.Pi}
				},
			}, nil
		}
		return sphere, nil
	}}
}
