package additive

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// KnotsOptions are for [NewKnots] and [NewEarthKnots]. nil and the zero value are the defaults.
type KnotsOptions struct {
	// Every is how many positions there are for each knot; 0 means 1. Knots are in the middle of
	// ceil(n/Every) parts of equal length, up to one position. For tracks of n
	// positions that move by v from one to the next an Every of some 2 sqrt(n/(alpha v)) is best;
	// the optimum is flat. It is public, and must be chosen without looking at the track.
	Every int
	// Unit names the unit of the coordinates, as in "km", which it is on the Earth.
	Unit metric.Unit
}

// Knots releases a track by few of its positions, the knots at public times ([KnotsOptions.Every]), and
// straight lines between them. It is alpha-private per unit of the largest distance between two tracks of as
// many positions: nothing shows which are equal. Noise grows with the number of knots ([Knots.RMS]). A
// [Trail], whose level is that of moving a track or one stay of it, errs less.
//
// The noise z of the knots has the density prop. to e^(-alpha max |z_j|): K-norm noise (Hardt, Talwar 2010).
// It is exact, and rounded as that of a Trail. A Knots is immutable and safe for concurrent use.
type Knots[P any] struct{ tracks[P] }

// NewKnots returns the mechanism of level alpha, a number in [1e-100, 1e100], for tracks on a
// flat map, both coordinates in one unit of length.
func NewKnots(alpha float64, o *KnotsOptions) (*Knots[[2]float64], error) {
	return newKnots(flatTracks("additive: NewKnots", alpha, orZero(o).Every, orZero(o).Unit))
}

// NewEarthKnots returns the mechanism of level alpha per km of great-circle distance, alpha in
// [1e-100, 1e5], for tracks of latitude and longitude about a public center, on the map that
// [NewEarthTrail] describes: positions farther than 60 degrees from it are refused.
func NewEarthKnots(alpha float64, center metric.LatLon, o *KnotsOptions) (*Knots[metric.LatLon], error) {
	return newKnots(earthTracks("additive: NewEarthKnots", alpha, center, orZero(o).Every, orZero(o).Unit))
}

// newKnots's guarantee is the triangle inequality, with the full alpha, as the normalizer of the
// density is the same for all tracks, and as no two positions are farther apart on the map.
func newKnots[P any](t tracks[P], err error) (*Knots[P], error) {
	if err != nil {
		return nil, err
	}
	return &Knots[P]{t}, nil
}

func (k *Knots[P]) check(op string) error {
	return fault.Made(k != nil && k.every != 0, op, "Knots", "NewKnots or NewEarthKnots")
}

// Guarantee is alpha per unit of the largest distance between two tracks, delta 0.
func (k *Knots[P]) Guarantee() mechanism.Guarantee { return orZero(k).g }

// RMS is the root mean square noise of a knot in a track of n positions, on the Earth near the center:
// sqrt((2k+1)(k+1))/alpha for the k = ceil(n/Every) knots. What a track errs between knots comes on top.
// NaN where n < 1.
func (k *Knots[P]) RMS(n int) float64 {
	fault.Must(k, k.check("additive: Knots.RMS"))
	if n < 1 {
		return math.NaN()
	}
	count := float64((n-1)/k.every + 1)
	return math.Sqrt((2*count+1)*(count+1)) / k.alpha * k.unit
}

// String gives the noise and its guarantee.
func (k *Knots[P]) String() string {
	z := orZero(k)
	return describe(k.check("additive"), z.g, "a knot for every %d positions of a track", z.every)
}

// Release returns a track of as many positions, one or more. An error is of the first wrong one, and
// nothing is drawn. A nil rng is secure, and the choice for private data. O(n).
func (k *Knots[P]) Release(rng *rand.Rand, track []P) ([]P, error) {
	const op = "additive: Knots.Release"
	if err := k.check(op); err != nil {
		return nil, err
	}
	at, err := k.on.knotTimes(op, track, k.every, 1<<30)
	if err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	v := exact.Values{Near: make([]exact.DD, 0, 2*len(at))}
	parts := make([]exact.Values, len(at))
	for j, t := range at {
		parts[j] = k.on.difference(track[t], k.on.origin)
		v.Near, v.Err = append(v.Near, parts[j].Near...), max(v.Err, parts[j].Err)
	}
	v.Enclose = func(i int, prec uint) exact.Enclosure { return parts[i/2].Enclose(i%2, prec) }
	z := make([]float64, 2*len(at))
	k.out.AddPlanes(z, rng, v, k.alpha)

	ys := make([][2]float64, len(at))
	for j := range ys {
		ys[j] = [2]float64{z[2*j], z[2*j+1]}
	}
	return k.on.interpolate(len(track), at, ys), nil
}
