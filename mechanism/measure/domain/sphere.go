package domain

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/internal/column"
	"github.com/metricdp/metricdp/metric"
)

// SphereOptions are the settings of [NewSphere]. Nil and the zero value mean the defaults.
type SphereOptions struct {
	// Depth makes about 4^Depth cells, for a tree that a private.Measure can hold; 0
	// means as many as there can be: see [BoxOptions].
	Depth float64
}

// NewSphere returns a sphere of the given radius, 0 for that of the Earth in km, cut into cells of
// equal area: the curved squares of HEALPix (Górski et al. 2005), 12 of them and quarters of
// quarters, of a diameter of at most twice the [Domain.Resolution]. Distances are along great
// circles. A record is a latitude in [-90, 90] and any longitude, in degrees. The longitudes of
// points lie in [-180, 180]. Errors are as for [NewBox].
func NewSphere(radius float64, o *SphereOptions) (*Domain[metric.LatLon], error) {
	const op = "domain: NewSphere"
	if radius == 0 {
		radius = metric.EarthRadiusKm
	}
	if !(radius >= 1e-100 && radius <= 1e100) {
		return nil, fault.Value(op, "radius", radius, "0 or a number in [1e-100, 1e100]")
	}
	b, err := newBox(op, []Column{{Radius: radius}}, &BoxOptions{Depth: cmp.Or(o, &SphereOptions{}).Depth})
	if err != nil {
		return nil, err
	}
	g, depth := b.factors[0].(*column.Globe), len(b.splits)
	locate := func(p metric.LatLon) (int, error) {
		q, err := g.Find(p, b.parts[depth][0])
		if err != nil {
			return 0, err
		}
		return b.index(0, q), nil
	}
	at := func(rng *rand.Rand, v node) metric.LatLon {
		return g.At(column.Part{Cuts: v.Level, Of: b.parts[v.Level][0], Place: v.Index}, rng)
	}
	return makeDomain(b, op, fmt.Sprintf("sphere of radius %g", radius), locate, at, metric.GreatCircle{Radius: radius}.Distance)
}
