package query

import (
	"cmp"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// Kernel is the shape of the fall from 1 inside a region to 0 far outside, as a function of the
// distance s to the region and of a width w.
type Kernel int

const (
	// Ramp is 1 up to the region and falls to 0 in a straight line over the width: constant 1/w.
	Ramp Kernel = iota
	// Bell is 1 up to the region and exp(-s^2/2w^2) outside: constant e^(-1/2)/w.
	Bell
	// Blur is P{N > s/w}, N standard normal, for a signed distance s, negative inside: constant
	// 1/(w sqrt(2 pi)). It is the indicator of a half-space after Gaussian blur of deviation w.
	Blur
)

// kernels have their names, their constants at width 1, which are the first
// float64 above e^(-1/2) = 0.606530659712633423... and 1/sqrt(2 pi) =
// 0.398942280401432677..., and their heights there. NaN stays NaN.
var kernels = [...]struct {
	name  string
	slope float64
	at    func(s float64) float64
}{
	Ramp: {"ramp", 1, func(s float64) float64 { return min(1, max(0, 1-s)) }},
	Bell: {"bell", 0.60653065971263343, func(s float64) float64 { s = max(0, s); return math.Exp(-s * s / 2) }},
	Blur: {"blur", 0.39894228040143269, func(s float64) float64 { return math.Erfc(s/math.Sqrt2) / 2 }},
}

// String is the name in lower case.
func (k Kernel) String() string {
	if k < Ramp || k > Blur {
		return "unknown kernel"
	}
	return kernels[k].name
}

// Smoothing says how the edge of a region is smoothed: over what width, in the
// unit of the distance between items, and in which shape.
type Smoothing struct {
	Width  float64 // a positive number
	Kernel Kernel  // the zero value is Ramp
}

// Region is the smoothed indicator of a region, whose mean is the share of a user's items in and near
// it. distance must be 1-Lipschitz: the distance of an item to the region, 0 inside, or for [Blur] a
// signed one. The constant is that of the kernel, rounded up. A Width that is not positive, or another
// Kernel, is a [*metric.ValueError].
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
	if o.Kernel < Ramp || o.Kernel > Blur {
		return Query[P]{}, fault.Value(op, "Kernel", float64(o.Kernel), "Ramp, Bell or Blur")
	}
	k := kernels[o.Kernel]
	l := directed.DivUp(k.slope, o.Width)
	if err := cmp.Or(fault.Positive(op, "Width", o.Width), fault.Positive(op, "1/Width", l)); err != nil { // a subnormal width
		return Query[P]{}, err
	}
	return Query[P]{
		Name: name, Norm: additive.Norm{P: 1, Dim: 1}, Lipschitz: l,
		Func: func(x P, dst []float64) { dst[0] = k.at(distance(x) / o.Width) },
	}, nil
}
