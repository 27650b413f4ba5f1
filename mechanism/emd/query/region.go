package query

import (
	"cmp"
	"fmt"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// Smoothing says how the edge of a region is smoothed: up to the region the value is 1, and from there
// it falls to 0 in a straight line over the Width, in the unit of the distance between items.
type Smoothing struct{ Width float64 }

// Region is the smoothed indicator of a region, whose mean is the share of a user's items in and near
// it. distance must be 1-Lipschitz: the distance of an item to the region, 0 or less inside. The
// constant is 1/Width, rounded up. A Width that is not positive is a [*metric.ValueError].
func Region[P any](distance func(P) float64, o Smoothing) (Query[P], error) {
	return smoothed("query: Region", "smoothed region", distance, o)
}

// Ball is [Region] for the ball of radius >= 0 around a public center, by the
// signed distance d_X(x, center) - radius. The center is not copied.
func Ball[P any](s metric.Space[P], center P, radius float64, o Smoothing) (Query[P], error) {
	const op = "query: Ball"
	q, err := smoothed(op, "smoothed ball", func(x P) float64 { return s.Distance(x, center) - radius }, o)
	if err := cmp.Or(fault.NonNegative(op, "radius", radius), err); err != nil {
		return Query[P]{}, err
	}
	if c, ok := s.(metric.Checker[P]); ok {
		if err := c.Check(center, center); err != nil {
			return Query[P]{}, fmt.Errorf("%s: center: %w", op, err)
		}
		q.Check = func(x P) error { return c.Check(center, x) }
	}
	return q, nil
}

func smoothed[P any](op, name string, distance func(P) float64, o Smoothing) (Query[P], error) {
	l := directed.DivUp(1, o.Width)
	if err := cmp.Or(fault.Positive(op, "Width", o.Width), fault.Positive(op, "1/Width", l)); err != nil { // a subnormal width
		return Query[P]{}, err
	}
	return Query[P]{
		Name: name, Norm: additive.Norm{P: 1, Dim: 1}, Lipschitz: l,
		Func: func(x P, dst []float64) { dst[0] = min(1, max(0, 1-distance(x)/o.Width)) },
	}, nil
}
