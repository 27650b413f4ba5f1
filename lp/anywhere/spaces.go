package anywhere

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// Line returns the mechanism for numbers: Laplace noise of level alpha, a number in [1e-60, 1e60],
// and answers to it. It nearly is the optimum: on the line noise loses nothing (Ghosh,
// Roughgarden, Sundararajan 2012). See the overview for errors and cost.
func Line(ctx context.Context, alpha float64, outputs []float64, o *Options[float64]) (*Remap[float64], error) {
	const op = "anywhere: Line"
	k, err := newNoise(op, additive.Norm{P: 1, Dim: 1}, alpha, unitOf(o))
	if err != nil {
		return nil, err
	}
	on := &ground[float64]{space: metric.Numbers[float64]{}}
	settle(on, k, func(at []float64) float64 { return at[0] }, func(x float64) []float64 { return []float64{x} })
	return build(ctx, op, on, outputs, o)
}

// Plane returns the mechanism for points of a flat map under the Euclidean distance: the noise
// of [additive.PlanarLaplace] and answers to it. alpha as in [Line].
func Plane(ctx context.Context, alpha float64, outputs [][2]float64, o *Options[[2]float64]) (*Remap[[2]float64], error) {
	const op = "anywhere: Plane"
	k, err := newNoise(op, additive.Norm{P: 2, Dim: 2}, alpha, unitOf(o))
	if err != nil {
		return nil, err
	}
	on := &ground[[2]float64]{flat: true, space: metric.Plane{}}
	settle(on, k, func(at []float64) [2]float64 { return [2]float64(at) }, func(x [2]float64) []float64 { return x[:] })
	return build(ctx, op, on, outputs, o)
}

// Manhattan returns the mechanism for vectors of up to three numbers under the l1 distance: Laplace
// noise on every coordinate and answers to it. alpha as in [Line].
func Manhattan(ctx context.Context, alpha float64, outputs [][]float64, o *Options[[]float64]) (*Remap[[]float64], error) {
	const op = "anywhere: Manhattan"
	if err := fault.Empty(op, "outputs", len(outputs)); err != nil {
		return nil, err
	}
	dim := len(outputs[0])
	if dim < 1 || dim > 3 {
		return nil, &fault.SizeError{Op: op, Arg: "outputs[0]", Got: dim, Want: "1 to 3 numbers"}
	}
	k, err := newNoise(op, additive.Norm{P: 1, Dim: dim}, alpha, unitOf(o))
	if err != nil {
		return nil, err
	}
	on := &ground[[]float64]{space: metric.Manhattan{}}
	settle(on, k, func(at []float64) []float64 { return at }, func(x []float64) []float64 { return x })
	on.dim = dim
	return build(ctx, op, on, outputs, o)
}

func unitOf[P any](o *Options[P]) metric.Unit {
	if o == nil {
		return ""
	}
	return o.Unit
}

// pitchOf is a power of two of at most 2^-20 of the noise's width 1/rate.
func pitchOf(rate float64) float64 {
	_, e := math.Frexp(1 / rate)
	return math.Ldexp(0x1p-20, e-1)
}

func checkAlpha(op string, alpha, least, most float64) error {
	if alpha >= least && alpha <= most {
		return nil
	}
	return fault.Value(op, "alpha", alpha, fmt.Sprintf("a number in [%v, %v]", least, most))
}

func newNoise(op string, norm additive.Norm, alpha float64, unit metric.Unit) (noise, error) {
	if err := checkAlpha(op, alpha, 1e-60, 1e60); err != nil {
		return noise{}, err
	}
	pitch := pitchOf(alpha)
	k, err := additive.NewKNorm(norm, alpha, &additive.Options{Unit: unit, Grid: pitch})
	return noise{k, norm.Dim, alpha, pitch}, err
}

type noise struct {
	*additive.KNorm
	dim         int
	rate, pitch float64
}

// settle is for points that are their coordinates.
func settle[P any](on *ground[P], n noise, place func([]float64) P, on2 func(P) []float64) {
	on.dim, on.rate, on.pitch, on.g, on.noise, on.place = n.dim, n.rate, n.pitch, n.Guarantee(), n.KNorm, place
	on.on = func(x P, dst []float64) []float64 { return append(dst, on2(x)...) }
	on.draw = func(rng *rand.Rand, x P, dst []float64) ([]float64, error) {
		y := append(dst, on2(x)...)
		return y, n.ReleaseTo(y, rng, y)
	}
}

// Earth returns the mechanism for latitudes and longitudes, alpha in [0.002, 1e4] per km of
// great-circle distance on the sphere of [metric.GreatCircle]: planar noise and answers to it on
// an orthographic map. alpha holds for all places on Earth. Noise is wider away from the middle of
// the region, by .3 % at 500 km, 1.2 % at 1,000 km. The region must lie within 40 degrees of the
// middle of its places, outputs within 44.
func Earth(ctx context.Context, alpha float64, outputs []metric.LatLon, o *Options[metric.LatLon]) (*Remap[metric.LatLon], error) {
	const op = "anywhere: Earth"
	if o == nil {
		o = &Options[metric.LatLon]{}
	}
	on, err := onEarth(op, alpha, outputs, o)
	if err != nil {
		return nil, err
	}
	return build(ctx, op, on, outputs, o)
}

// onEarth is planar noise on the plane that touches the Earth in the middle of the region. Places
// fall straight onto it (orthographic projection), from anywhere on Earth, and lie no farther apart
// there, so that alpha holds for all of them. Noise is wider where distances shrink.
func onEarth(op string, alpha float64, outputs []metric.LatLon, o *Options[metric.LatLon]) (*ground[metric.LatLon], error) {
	earth := metric.GreatCircle{}
	unit, err := fault.Unit(op, o.Unit, earth.Unit())
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkAlpha(op, alpha, 0.002, 1e4), o.check(op, earth, outputs)); err != nil {
		return nil, err
	}
	noise, err := additive.NewKNorm(additive.Norm{P: 2, Dim: 2}, alpha, &additive.Options{Unit: unit})
	if err != nil {
		return nil, err
	}
	places := o.region(outputs)
	center, err := middle(op, places)
	if err != nil {
		return nil, err
	}
	chart := exact.NewChart(center.Lat, center.Lon)
	rate := directed.MulDown(alpha, metric.EarthRadiusKm)
	on := &ground[metric.LatLon]{dim: 2, flat: true, rate: rate, pitch: pitchOf(rate), space: earth, g: noise.Guarantee(), noise: noise}
	on.place = func(at []float64) metric.LatLon {
		lat, lon := chart.Lift([2]float64(at))
		return metric.LatLon{Lat: lat, Lon: lon}
	}
	on.on = func(x metric.LatLon, dst []float64) []float64 {
		at, _ := chart.Place(x.Lat, x.Lon)
		return append(dst, at[:]...)
	}
	lattice := exact.Lattice{Step: on.pitch}
	on.draw = func(rng *rand.Rand, x metric.LatLon, dst []float64) ([]float64, error) {
		if err := earth.Check(x, x); err != nil {
			return nil, fault.Private(err)
		}
		y := make([]float64, 2)
		lattice.AddPlanes(y, rng, chart.Difference(x.Lat, x.Lon, center.Lat, center.Lon), rate)
		return append(dst, y...), nil
	}
	lo, hi, err := on.box(op, places)
	if err != nil {
		return nil, err
	}
	// What lies straight above a line of the map is no arc of a great circle. Along it the place
	// moves towards the center of the Earth faster and faster, by at most R/cos^3 for the
	// square of a length in units of R, r being its distance from the axis and cos^2 = 1 - r^2; of
	// that the part r is along the surface: 2 R where r <= sqrt(1/2). By so much, and no more,
	// distances may be less than convex; within a quarter of a great circle arcs of great circles
	// are. The boxes, of sides of at most .04 in the region and an eighth of it elsewhere, may
	// reach a little beyond.
	r := math.Hypot(max(-lo[0], hi[0])+0.05, max(-lo[1], hi[1])+0.05)
	if !(r <= math.Sqrt2/2) {
		return nil, fault.Value(op, "a corner of the region", math.Asin(min(1, r))*180/math.Pi, "within 40 degrees of its middle")
	}
	on.bend = 2 * metric.EarthRadiusKm
	on.blur = 1e-10 * metric.EarthRadiusKm
	on.near = func(x metric.LatLon) bool {
		_, cos := chart.Place(x.Lat, x.Lon)
		return cos > 0.715 // r < .6992
	}
	for i, y := range outputs {
		if !on.near(y) {
			_, cos := chart.Place(y.Lat, y.Lon)
			return nil, &fault.ValueError{Op: op, Arg: "outputs", Index: i, Value: math.Acos(max(-1, cos)) * 180 / math.Pi, Want: "within 44 degrees of the middle of the region"}
		}
	}
	return on, nil
}

// middle is the direction of the mean of places.
func middle(op string, places []metric.LatLon) (metric.LatLon, error) {
	var sum [3]float64
	for _, p := range places {
		for k, v := range exact.NearUnitVector(p.Lat, p.Lon) {
			sum[k] += v / float64(len(places))
		}
	}
	far := math.Hypot(sum[0], sum[1])
	if math.Hypot(far, sum[2]) < 0.1 {
		return metric.LatLon{}, fault.Value(op, "the region", math.Hypot(far, sum[2]), "within 40 degrees of its middle")
	}
	const degrees = 180 / math.Pi
	return metric.LatLon{Lat: math.Atan2(sum[2], far) * degrees, Lon: math.Atan2(sum[1], sum[0]) * degrees}, nil
}
