package additive

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/knots"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// tracks are what mechanisms on tracks have in common.
type tracks[P any] struct {
	every int     // positions for each that is released
	alpha float64 // per unit of the map
	unit  float64 // of the map
	out   exact.Lattice
	on    planeMap[P]
	g     mechanism.Guarantee
}

func newTracks[P any](op string, alpha, unit float64, every int, on planeMap[P], g mechanism.Guarantee) (tracks[P], error) {
	if every < 0 {
		return tracks[P]{}, fault.Value(op, "Every", float64(every), "an integer >= 0")
	}
	return tracks[P]{max(1, every), alpha, unit, exact.Lattice{Step: fineStep(alpha)}, on, g}, nil
}

func flatTracks(op string, alpha float64, every int, unit metric.Unit) (tracks[[2]float64], error) {
	g, err := pure(op, alpha, unit)
	if err != nil {
		return tracks[[2]float64]{}, err
	}
	return newTracks(op, alpha, 1, every, flatMap(fineStep(alpha)), g)
}

// earthTracks has alpha, at most 1e5, per km.
func earthTracks(op string, alpha float64, center metric.LatLon, every int, unit metric.Unit) (none tracks[metric.LatLon], err error) {
	if unit, err = fault.Unit(op, unit, metric.GreatCircle{}.Unit()); err != nil {
		return none, err
	}
	g, err := pure(op, alpha, unit)
	if err != nil {
		return none, err
	}
	if alpha > 1e5 {
		return none, fault.Value(op, "alpha", alpha, "at most 1e5 per km")
	}
	on, err := earthMap(op, center)
	if err != nil {
		return none, err
	}
	return newTracks(op, directed.MulDown(alpha, metric.EarthRadiusKm), metric.EarthRadiusKm, every, on, g)
}

// planeMap is a map of the plane: of the plane itself, or of a part of the Earth.
type planeMap[P any] struct {
	origin     P // falls on (0, 0)
	check      func(op, arg string, x P) error
	difference func(to, from P) exact.Values // on the map
	place      func(at [2]float64) P
}

// knotTimes are where a track, whose positions it checks, has knots: at most so many.
func (m planeMap[P]) knotTimes(op string, track []P, every, most int) ([]int, error) {
	at := knots.At(len(track), every)
	if len(at) < 1 || len(at) > most {
		return nil, &fault.SizeError{Op: op, Arg: "track", Got: len(track), Want: fmt.Sprintf("1 to %d reports, one for %d positions", most, max(1, every))}
	}
	for i, x := range track {
		if err := m.check(op, fmt.Sprintf("track[%d]", i), x); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// interpolate returns n places: z at some times, and on straight lines between.
func (m planeMap[P]) interpolate(n int, at []int, z [][2]float64) []P {
	track, j := make([]P, n), 0
	for i := range track {
		if j+1 < len(at) && i >= at[j+1] {
			j++
		}
		y := z[j]
		if j+1 < len(at) && i > at[j] {
			w := float64(i-at[j]) / float64(at[j+1]-at[j])
			for c, to := range z[j+1] {
				y[c] += float64(w * (to - y[c]))
			}
		}
		track[i] = m.place(y)
	}
	return track
}

// flatMap takes coordinates of at most 2^51 steps, so that differences have 2^52.
func flatMap(step float64) planeMap[[2]float64] {
	limit := 0x1p51 * step
	return planeMap[[2]float64]{
		check: func(op, arg string, x [2]float64) error {
			for i, v := range x {
				if !(math.Abs(v) <= limit) {
					return &fault.ValueError{Op: op, Arg: arg, Index: i, Value: v, Want: fmt.Sprintf("a finite number, at most %.4g in size", limit), Private: true}
				}
			}
			return nil
		},
		difference: exact.Difference,
		place:      func(at [2]float64) [2]float64 { return at },
	}
}

// earthMap is the plane that touches the unit sphere at the center: |P(x) - P(y)| <= |x - y| in
// space, which is at most the great-circle distance.
func earthMap(op string, center metric.LatLon) (m planeMap[metric.LatLon], err error) {
	earth := metric.GreatCircle{}
	if err := earth.Check(center, center); err != nil {
		return m, fmt.Errorf("%s: center: %w", op, err)
	}
	chart := exact.NewChart(center.Lat, center.Lon)
	return planeMap[metric.LatLon]{
		origin: center,
		check: func(op, arg string, x metric.LatLon) error {
			if err := earth.Check(x, x); err != nil {
				return fmt.Errorf("%s: %s: %w", op, arg, fault.Private(err))
			}
			if _, cos := chart.Place(x.Lat, x.Lon); cos < 0.5 {
				return fault.Private(fault.Value(op, "the distance of "+arg+" from the center", math.Acos(cos)*180/math.Pi, "at most 60 degrees"))
			}
			return nil
		},
		difference: func(to, from metric.LatLon) exact.Values {
			return chart.Difference(to.Lat, to.Lon, from.Lat, from.Lon)
		},
		place: func(at [2]float64) metric.LatLon {
			lat, lon := chart.Lift(at)
			return metric.LatLon{Lat: lat, Lon: lon}
		},
	}, nil
}

// fineStep is the largest power of two that is at most 2^-20 of the noise's width 1/alpha.
func fineStep(alpha float64) float64 {
	_, e := math.Frexp(1 / alpha)
	return math.Ldexp(0x1p-20, e-1)
}
