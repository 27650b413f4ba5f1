package healpix

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// Point undoes Face, in every zone and near their borders.
func TestFace_RoundTrip(t *testing.T) {
	r := random.Seeded(1)
	points := []metric.LatLon{{Lat: 90}, {Lat: -90, Lon: 7}, {Lat: 41.8103148957786, Lon: 90}, {Lat: -41.81031489577862, Lon: 10}, {Lon: -180}, {Lon: -1e-300}}
	for range 20_000 {
		points = append(points, metric.LatLon{Lat: math.Asin(r.Float64()*2-1) * 180 / math.Pi, Lon: 720*r.Float64() - 360})
	}
	for _, p := range points {
		face, x, y := Face(p)
		if face < 0 || face > 11 || !(x >= 0 && x <= 1 && y >= 0 && y <= 1) {
			t.Fatalf("%v: face %d, %v, %v", p, face, x, y)
		}
		if d := (metric.GreatCircle{Radius: 1}).Distance(p, Point(face, x, y)); !(d < 1e-9) {
			t.Errorf("%v comes back %v away", p, d)
		}
	}
}

// The 12 squares share the sphere: their centers are those of Górski et al. 2005, four at
// latitude 41.8 degrees (sin 2/3), four on the equator and four in the south.
func TestPoint_Centers(t *testing.T) {
	for face := range 12 {
		p := Point(face, 0.5, 0.5)
		lat := [3]float64{math.Asin(2.0/3) * 180 / math.Pi, 0, -math.Asin(2.0/3) * 180 / math.Pi}[face/4]
		lon := math.Remainder(float64(face%4)*90+[3]float64{45, 0, 45}[face/4], 360)
		if math.Abs(p.Lat-lat) > 1e-12 || math.Abs(math.Remainder(p.Lon-lon, 360)) > 1e-12 {
			t.Errorf("face %d: %v, want %v, %v", face, p, lat, lon)
		}
	}
}

// No point of a cell is farther than Radius from its center, nor the mean over
// the cell than 2/3 of that.
func TestRadius_OfAllCells(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 16, 25, 64} {
		limit := Radius(n)
		for cell := 0; cell < 12*n*n; cell += 1 + 12*n*n/500 {
			face, row, column := cell/(n*n), cell/n%n, cell%n
			at := func(u, v float64) metric.LatLon {
				return Point(face, (float64(row)+u)/float64(n), (float64(column)+v)/float64(n))
			}
			center, sum := at(0.5, 0.5), 0.0
			const steps = 12
			for i := range steps + 1 {
				for j := range steps + 1 {
					// Corners are on the grid, and weigh a quarter in the mean.
					w := 1.0 / (steps * steps)
					if i%steps == 0 {
						w /= 2
					}
					if j%steps == 0 {
						w /= 2
					}
					d := metric.GreatCircle{Radius: 1}.Distance(center, at(float64(i)/steps, float64(j)/steps))
					if d > limit {
						t.Fatalf("n = %d, cell %d: a point is %v from the center, limit %v", n, cell, d, limit)
					}
					sum += w * d
				}
			}
			if sum > limit*2/3 {
				t.Errorf("n = %d, cell %d: mean distance %v, limit %v", n, cell, sum, limit*2/3)
			}
		}
	}
}
