package measure

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/mechanism/measure/internal/healpix"
	"github.com/metricdp/metricdp/metric"
)

// Uniform points of the sphere must fall into all cells alike: with 48 cells and
// 200,000 points, a z-score above 6 has probability 1e-7 for all together.
func TestSphere_EqualAreas(t *testing.T) {
	d := must(NewSphere(1, &CellOptions{Signal: 48}))
	n := make([]float64, d.Len())
	r := rng.Seeded(3)
	const draws = 200000
	for range draws {
		p := metric.LatLon{Lat: math.Asin(2*r.Float64()-1) * 180 / math.Pi, Lon: 720*r.Float64() - 360}
		n[must(d.Cell(p))]++
	}
	want := draws / float64(len(n))
	for c, k := range n {
		if math.Abs(k-want) > 6*math.Sqrt(want) {
			t.Errorf("cell %d has %v points, %v expected", c, k, want)
		}
	}
	for _, p := range []metric.LatLon{{Lat: 90}, {Lat: -90, Lon: 400}, {Lat: 0, Lon: 180}, {Lat: 0, Lon: -180}, {Lat: 0, Lon: -1e-300}, {Lat: 41.8103148957786, Lon: 90}} {
		if _, err := d.Cell(p); err != nil {
			t.Errorf("%v: %v", p, err)
		}
	}
	if a, b := must(d.Cell(metric.LatLon{Lat: 10, Lon: 180})), must(d.Cell(metric.LatLon{Lat: 10, Lon: -180})); a != b {
		t.Error("the date line divides a place from itself")
	}
}

// The two constants of the sphere's geometry: no point of a cell is farther than
// healpix.Radius from its centre, nor the mean over the cell than 2/3 of that.
func TestSphere_CellRadius(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 16, 25, 64} {
		s := &sphere{grid: must(newGrid("test", [][]int{{12, n, n}}, 3)), radius: 1}
		limit := healpix.Radius(n)
		for cell := 0; cell < s.cells; cell += 1 + s.cells/500 {
			centre, sum := s.at(1, cell, nil), 0.0
			var part [3]int
			s.decode(1, cell, part[:])
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
					p := healpix.Point(part[0], (float64(part[1])+float64(i)/steps)/float64(n), (float64(part[2])+float64(j)/steps)/float64(n))
					d := metric.GreatCircle{Radius: 1}.Distance(centre, p)
					if d > limit {
						t.Fatalf("n = %d, cell %d: a point is %v from the centre, limit %v", n, cell, d, limit)
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
