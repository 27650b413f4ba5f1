package additive

import (
	"cmp"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Region is a part of the sphere with public boundaries: the land, a country, a park.
// mechanism.Then(sphere, land.Move) moves outputs into it, which is post-processing. Drawing again until
// the output lies in the region is not: how likely that is depends on the input. Immutable and safe for
// concurrent use.
type Region struct {
	bands  [181][][2]metric.LatLon // the edges that meet [k, k+1) degrees above -90
	border *metric.Points[metric.LatLon]
	near   *metric.Locator[metric.LatLon]
}

// NewRegion returns the region inside the rings, as GeoJSON has them: all rings of all polygons, holes
// too, in any order and direction; longitudes in [-180, 180]; edges straight on the map of longitude and
// latitude. Rings are cut at the date line: an edge of more than 180 degrees of longitude is refused, but
// for one at a pole and one around the whole map between points on the date line. The border is known by
// points at most spacing apart, in the unit of the sphere: a border of length L takes memory for L/spacing
// points.
func NewRegion(sphere metric.GreatCircle, rings [][]metric.LatLon, spacing float64) (*Region, error) {
	const op = "additive: NewRegion"
	sphere, err := sized(op, sphere)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(checkScale(op, "spacing", spacing), fault.Empty(op, "rings", len(rings))); err != nil {
		return nil, err
	}
	r := &Region{}
	var border []metric.LatLon
	for k, ring := range rings {
		if len(ring) < 3 {
			return nil, &fault.SizeError{Op: op, Arg: fmt.Sprintf("rings[%d]", k), Got: len(ring), Want: "at least 3"}
		}
		for i, p := range ring {
			if err := sphere.Check(p, p); err != nil {
				return nil, fmt.Errorf("%s: rings[%d][%d]: %w", op, k, i, err)
			}
			if math.Abs(p.Lon) > 180 {
				return nil, fault.Value(op, fmt.Sprintf("rings[%d][%d].Lon", k, i), p.Lon, "degrees in [-180, 180]")
			}
		}
		if last := len(ring) - 1; ring[last] == ring[0] {
			ring = ring[:last]
		}
		for i, p := range ring {
			q := ring[(i+1)%len(ring)]
			if across(ring, i) {
				return nil, fault.Value(op, fmt.Sprintf("rings[%d][%d].Lon", k, (i+1)%len(ring)), q.Lon, fmt.Sprintf("within 180 degrees of the %v before it: cut rings at the date line and longer edges in two", p.Lon))
			}
			// On the sphere the edge is no longer than both its parts, the way east at
			// the latitude nearest to the equator.
			lat := min(math.Abs(p.Lat), math.Abs(q.Lat))
			if p.Lat*q.Lat < 0 {
				lat = 0
			}
			length := sphere.Radius * math.Pi / 180 * math.Hypot(p.Lat-q.Lat, (p.Lon-q.Lon)*math.Cos(lat*math.Pi/180))
			steps := max(1, math.Ceil(length/spacing))
			if err := fault.Memory(op, float64(len(border))+steps, 16); err != nil {
				return nil, err
			}
			for s := range int(steps) {
				t := float64(s) / steps
				border = append(border, metric.LatLon{Lat: p.Lat + float64(t*(q.Lat-p.Lat)), Lon: p.Lon + float64(t*(q.Lon-p.Lon))})
			}
			for b := band(min(p.Lat, q.Lat)); p.Lat != q.Lat && b <= band(max(p.Lat, q.Lat)); b++ {
				r.bands[b] = append(r.bands[b], [2]metric.LatLon{p, q})
			}
		}
	}
	if r.border, err = metric.NewPoints(border, sphere); err != nil {
		return nil, fault.Within(op, err)
	}
	r.near = metric.NewLocator(r.border)
	return r, nil
}

// across tells whether edge i of a ring may be meant across the date line.
func across(ring []metric.LatLon, i int) bool {
	n := len(ring)
	p, q := ring[i], ring[(i+1)%n]
	line := func(i int) bool { return math.Abs(ring[i%n].Lon) == 180 }
	pole := math.Abs(p.Lat) == 90 && p.Lat == q.Lat
	return math.Abs(p.Lon-q.Lon) > 180 && !pole && !(line(i+n-1) && line(i) && line(i+1) && line(i+2))
}

func band(lat float64) int { return int(math.Floor(lat + 90)) }

func (r *Region) check(op string) error {
	return fault.Made(r != nil && r.near != nil, op, "Region", "NewRegion")
}

// Contains tells whether p lies inside, as the even-odd rule says: false where p is no
// point. It takes the edges at p's degree of latitude.
func (r *Region) Contains(p metric.LatLon) bool {
	fault.Must(r, r.check("additive: Region.Contains"))
	if (metric.GreatCircle{}).Check(p, p) != nil {
		return false
	}
	lon, inside := math.Remainder(p.Lon, 360), false
	for _, e := range r.bands[band(p.Lat)] {
		a, b := e[0], e[1]
		if (a.Lat > p.Lat) != (b.Lat > p.Lat) && lon < a.Lon+float64((b.Lon-a.Lon)*((p.Lat-a.Lat)/(b.Lat-a.Lat))) {
			inside = !inside
		}
	}
	return inside
}

// Move returns p where it lies inside, and else the nearest of the points that the border is known by.
func (r *Region) Move(p metric.LatLon) (metric.LatLon, error) {
	const op = "additive: Region.Move"
	if err := r.check(op); err != nil {
		return metric.LatLon{}, err
	}
	if err := (metric.GreatCircle{}).Check(p, p); err != nil {
		return metric.LatLon{}, fmt.Errorf("%s: %w", op, fault.Private(err))
	}
	if r.Contains(p) {
		return p, nil
	}
	i, _ := r.near.Nearest(p)
	return r.border.At(i), nil
}
