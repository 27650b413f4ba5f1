package scale

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func TestDimension_OfKnownSpaces(t *testing.T) {
	testkit.Slow(t)
	r := random.Seeded(1)
	var sphere []metric.LatLon
	for range 2000 {
		sphere = append(sphere, metric.LatLon{Lat: math.Asin(2*r.Float64()-1) * 180 / math.Pi, Lon: 360 * r.Float64()})
	}
	cantor := func(i int) (x float64) { // binary digits in base 3, 0 and 2
		for step := 2. / 3; i > 0; i, step = i/2, step/3 {
			x += step * float64(i%2)
		}
		return x
	}
	for _, c := range []struct {
		name    string
		f       metric.Finite
		d, less float64 // the rim lowers it
	}{
		{"line", space.Formula(2048, func(i, j int) float64 { return math.Abs(float64(i - j)) }), 1, 0.1},
		{"grid", space.Grid(45), 2, 0.5},
		{"cube", space.Cube(3000, 3, 0, metric.Euclidean{}, r), 3, 0.9},
		{"sphere", testkit.Must(metric.NewPoints(sphere, metric.GreatCircle{})), 2, 0.25},
		{"Cantor set", space.Formula(2048, func(i, j int) float64 { return math.Abs(cantor(i) - cantor(j)) }), math.Log(2) / math.Log(3), 0.1},
		{"ultrametric", space.Formula(2048, func(i, j int) float64 { // 4 children a node, balls half as wide
			d := 0.0
			for k := 1.0; i != j; i, j, k = i/4, j/4, 2*k {
				d = k
			}
			return d
		}), 2, 0.1},
	} {
		e := testkit.Must(Dimension(t.Context(), c.f, nil))
		if !(e.D > c.d-c.less && e.D < c.d+0.05 && e.Slope.Contains(e.D)) {
			t.Errorf("%s: %+v, dimension %v", c.name, *e, c.d)
		}
	}
}

// The slope of the true packing numbers lies in the interval.
func TestDimension_EnclosesTheSlope(t *testing.T) {
	for seed := range uint64(20) {
		f := space.Uniform(24, random.Seeded(seed))
		for _, o := range []DimensionOptions{{0.5, 0.25}, {0.8, 0.1}, {0.3, 0.01}, {2, 0.2}} {
			e := testkit.Must(Dimension(t.Context(), f, &o))
			log := func(s float64) float64 {
				p := testkit.Must(Packing(t.Context(), f, nil, s, nil))
				if !p.Exact() {
					t.Fatal(p)
				}
				return math.Log(float64(p.Lo))
			}
			slope := (log(o.Fine) - log(o.Coarse)) / math.Log(o.Coarse/o.Fine)
			if !(slope >= e.Slope.Lo-1e-12 && slope <= e.Slope.Hi+1e-12) {
				t.Errorf("%+v: slope %v in %v", o, slope, e.Slope)
			}
		}
	}
}
