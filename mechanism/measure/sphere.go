package measure

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/healpix"
	"github.com/metricdp/metricdp/metric"
)

// SphereOptions are the settings of [NewSphere]. One of Signal and Depth is
// needed; the rest may be zero.
type SphereOptions struct {
	// Signal is about the number of records times eps: see [BoxOptions].
	Signal float64
	// Depth makes about 4^Depth cells.
	Depth float64
	// Arity is about how many children a node has: 0 means 16.
	Arity int
	// Lazy unfolds cells on demand: see [BoxOptions].
	Lazy bool
}

// NewSphere returns a sphere of the given radius, 0 for that of the Earth in
// km, cut into cells of equal area: the curved squares of HEALPix (Górski et
// al. 2005), 12 of them divided into n x n, for any n. Cells have about one
// shape everywhere, poles and date line included, and a diameter of at most
// twice the [Domain.Resolution]. Distances are along great circles.
//
// A record is a latitude in [-90, 90] and any longitude, in degrees; others,
// NaN included, are errors. The longitudes of points lie in [-180, 180].
// Other errors are as for [NewBox].
func NewSphere(radius float64, o *SphereOptions) (*Domain[metric.LatLon], error) {
	const op = "measure: NewSphere"
	if radius == 0 {
		radius = metric.EarthRadiusKm
	}
	if !(radius >= 1e-100 && radius <= 1e100) {
		return nil, fault.Value(op, "radius", radius, "0 or a number in [1e-100, 1e100]")
	}
	opt := orZero(o)
	cells, h, err := size{opt.Signal, opt.Depth, opt.Arity}.plan(op, "Depth", []extent{{length: 1}, {length: 1}})
	if err != nil {
		return nil, err
	}
	s := &sphere{radius: radius}
	if s.grid, err = newGrid(op, faceLevels(max(12, cells), h), 3); err != nil {
		return nil, err
	}
	a, err := s.arrange(op, opt.Lazy, s.diameter, s.spread)
	if err != nil {
		return nil, err
	}
	a.what, a.exponent = fmt.Sprintf("sphere of radius %g", radius), 0.25
	a.resolution, a.diameter = radius*healpix.Radius(s.parts[len(s.splits)][1]), radius*math.Pi
	sides := []int64{}
	for _, row := range s.splits {
		sides = append(sides, int64(row[1]))
	}
	a.identify(radius, sides)
	d := &Domain[metric.LatLon]{arrangement: a, locate: s.locate, at: s.at, metric: metric.GreatCircle{Radius: radius}.Distance}
	a.children = d.firstChildren
	return d, nil
}

// sphere is a grid of three columns: the 12 faces, and x and y within a face.
type sphere struct {
	*grid
	radius float64
}

// faceLevels is planLevels with the 12 faces on the first level.
func faceLevels(cells float64, h int) [][]int {
	var splits [][]int
	side := 1
	faces := 12
	for l := 1; l <= h; l++ {
		want := math.Sqrt(math.Pow(cells, float64(l)/float64(h)) / 12)
		n := max(1, int(math.Round(want/float64(side))))
		side *= n
		if faces*n > 1 {
			splits = append(splits, []int{faces, n, n})
		}
		faces = 1
	}
	return splits
}

func (s *sphere) locate(p metric.LatLon) (int, error) {
	if !(math.Abs(p.Lat) <= 90) || math.IsInf(p.Lon, 0) || math.IsNaN(p.Lon) {
		return 0, fmt.Errorf("measure: Domain.Cell: %w", metric.GreatCircle{}.Check(p, p))
	}
	face, x, y := healpix.Face(p)
	n := len(s.table[1])
	i, j := min(n-1, int(x*float64(n))), min(n-1, int(y*float64(n)))
	return s.table[0][face] + s.table[1][i] + s.table[2][j], nil
}

func (s *sphere) at(rng *rand.Rand, v node) metric.LatLon {
	var part [3]int
	s.decode(v.Level, v.Index, part[:])
	n := float64(s.parts[v.Level][1])
	x, y := 0.5, 0.5
	if rng != nil {
		x, y = rng.Float64(), rng.Float64()
		if v.Level == 0 {
			part[0] = rng.IntN(12)
		}
	}
	return healpix.Point(part[0], (float64(part[1])+x)/n, (float64(part[2])+y)/n)
}

func (s *sphere) diameter(l int) float64 {
	if l == 0 {
		return math.Pi * s.radius
	}
	return min(math.Pi, 2*healpix.Radius(s.parts[l][1])) * s.radius
}

// spread is as for a box: the faces part first, then quarters and so on, one
// prime factor at a time. What is spread evenly over a cell is at most 2/3 of
// healpix.Radius away from its center on average; the faces send through a pole,
// from which even mass is pi/2 away.
func (s *sphere) spread(l int) float64 {
	total, nodes, k := 0.0, 1.0, float64(s.arities[l])
	side, n := s.parts[l][1], s.splits[l][1]
	if l == 0 {
		m := k / 12
		total = 12 * math.Pi / 2 * math.Sqrt(m*(1-1.0/12))
		nodes, k = 12, m
	}
	for k > 1 {
		f := smallestFactor(n)
		groups := float64(f * f)
		m := k / groups
		total += float64(nodes * groups * (2.0 / 3) * healpix.Radius(side) * math.Sqrt(m*(1-m/k)))
		nodes *= groups
		n, side, k = n/f, side*f, m
	}
	return total * s.radius
}
