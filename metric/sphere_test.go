package metric_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

const deg = math.Pi / 180

// unit measures angles in radians.
var unit = metric.GreatCircle{Radius: 1}

func spherePoints(seed uint64, n int) []metric.LatLon {
	r := random.Seeded(seed)
	pts := make([]metric.LatLon, n)
	for i := range pts {
		pts[i] = metric.LatLon{Lat: math.Asin(2*r.Float64()-1) / deg, Lon: 360*r.Float64() - 180}
	}
	return pts
}

func TestGreatCircle_MetricAndEmbedding(t *testing.T) {
	pts := spherePoints(1, 25)
	for _, s := range []metric.GreatCircle{{}, {Radius: 1}, {Radius: 1e-200}, {Radius: 1e200}} {
		r := s.Radius
		if r == 0 {
			r = metric.EarthRadiusKm
		}
		conform(t, "GreatCircle", s, strictly, pts...)
		hard := append([]metric.LatLon{}, pts...)
		for _, p := range pts[:4] {
			lat, lon := p.Lat, p.Lon
			hard = append(hard, metric.LatLon{Lat: -lat, Lon: lon + 180}, metric.LatLon{Lat: lat + 1e-9, Lon: lon},
				metric.LatLon{Lat: lat, Lon: lon + 360}, metric.LatLon{Lat: -lat, Lon: lon + 180 - 1e-9})
		}
		hard = append(hard, metric.LatLon{Lat: 90}, metric.LatLon{Lat: 90, Lon: 77}, metric.LatLon{Lat: -90, Lon: 1e9},
			metric.LatLon{Lon: 180}, metric.LatLon{Lon: -180}, metric.LatLon{Lon: 179.9999999}, metric.LatLon{Lon: -179.9999999})
		// Large arcs are sums of angles with absolute errors of an ulp of pi.
		absolute(t, s, hard, 4e-15*r)
	}
}

func TestGreatCircle_ClosedForms(t *testing.T) {
	p := func(lat, lon float64) metric.LatLon { return metric.LatLon{Lat: lat, Lon: lon} }
	for _, c := range []struct {
		x, y  metric.LatLon
		angle float64 // degrees
	}{
		{p(10, 20), p(35, 20), 25},      // a meridian
		{p(0, 12), p(0, -50), 62},       // the equator
		{p(90, 0), p(30, 123), 60},      // from a pole
		{p(90, 0), p(-90, 33), 180},     // pole to pole
		{p(60, 10), p(60, -170), 60},    // over the pole
		{p(0, 0), p(0, 180), 180},       // antipodes
		{p(30, 40), p(-30, -140), 180},  //
		{p(0, 170), p(0, -170), 20},     // the date line
		{p(0, 170), p(0, -170+720), 20}, //
		{p(0, -3600190), p(0, -170), 20},
		{p(45, 0), p(45, 90), 60},   // cos = 1/2 * 0 + 1/2
		{p(0, 0), p(45, 45), 60},    // cos = cos 45 cos 45
		{p(90, 10), p(90, -100), 0}, // all longitudes of a pole
		{p(5, 180), p(5, -180), 0},
	} {
		got, want := unit.Distance(c.x, c.y), c.angle*deg
		if math.Abs(got-want) > 1e-15*want {
			t.Errorf("%v to %v: %v, want %v", c.x, c.y, got, want)
		}
	}
	if got, want := (metric.GreatCircle{}).Distance(p(0, 0), p(0, 180)), math.Pi*metric.EarthRadiusKm; got != want {
		t.Errorf("half round the Earth: %v km, want %v", got, want)
	}
}

// Separations of 1e-9 degrees agree with the flat formula, whose own relative
// error is of the order of the squared angle, tan(lat) times it near a pole.
func TestGreatCircle_SmallAngles(t *testing.T) {
	for _, x := range append(spherePoints(2, 200), metric.LatLon{}, metric.LatLon{Lat: 89.99}, metric.LatLon{Lon: 180}) {
		for _, step := range [][2]float64{{1e-9, 0}, {0, 1e-9}, {1e-9, 1e-9}, {-3e-9, 2e-9}} {
			y := metric.LatLon{Lat: x.Lat + step[0], Lon: x.Lon + step[1]}
			dlat, dlon := (y.Lat-x.Lat)*deg, (y.Lon-x.Lon)*deg
			want := math.Hypot(dlat, dlon*math.Sqrt(math.Cos(x.Lat*deg)*math.Cos(y.Lat*deg)))
			if got := unit.Distance(x, y); math.Abs(got-want) > 1e-12*want {
				t.Errorf("%v to %v: %v, want %v", x, y, got, want)
			}
		}
	}
	p := func(lat, lon float64) metric.LatLon { return metric.LatLon{Lat: lat, Lon: lon} }
	a, b, c, d := 180-1e-9, -180+1e-9, 90-1e-9, -20+1e-6
	for _, c := range []struct {
		name           string
		got, want, tol float64
	}{
		{"short of the antipode", math.Pi - unit.Distance(p(20, 30), p(d, -150)), (d + 20) * deg, 1e-15},
		{"across the date line", unit.Distance(p(0, a), p(0, b)), ((180 - a) + (b + 180)) * deg, 3e-25},
		{"across the pole", unit.Distance(p(c, 0), p(c, 180)), 2 * (90 - c) * deg, 3e-25},
	} {
		if math.Abs(c.got-c.want) > c.tol {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// What is printed of a point of the grid of 2^-23 degrees is nearest to it, and of other
// points it is what fmt prints.
func TestLatLon_PrintsDigitsOfItsGrid(t *testing.T) {
	for want, p := range map[string]metric.LatLon{
		"{48.20849 16.37208}":    {Lat: 48.20849, Lon: 16.37208},
		"{0 -180}":               {Lon: -180},
		"{48.25 1e+300}":         {Lat: 48.25, Lon: 1e300},
		"{1e-05 720}":            {Lat: 1e-5, Lon: 720},
		"{NaN -90.5}":            {Lat: math.NaN(), Lon: -90.5},
		"{0.0000001 -0.0000001}": {Lat: 0x1p-23, Lon: -0x1p-23},
	} {
		if got := fmt.Sprint(p); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	rng := random.Seeded(17)
	for range 1000 {
		p := metric.LatLon{Lat: math.Round((rng.Float64()-0.5)*180*0x1p23) * 0x1p-23, Lon: math.Round((rng.Float64()-0.5)*360*0x1p23) * 0x1p-23}
		var lat, lon float64
		s := p.String()
		if n, err := fmt.Sscanf(s, "{%g %g}", &lat, &lon); n != 2 || err != nil || math.Round(lat*0x1p23) != p.Lat*0x1p23 || math.Round(lon*0x1p23) != p.Lon*0x1p23 || len(s) > len("{-12.3456789 -123.4567890}") {
			t.Fatalf("%v prints as %s", [2]float64{p.Lat, p.Lon}, s)
		}
	}
}
