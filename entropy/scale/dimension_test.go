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

// mu sums to 1, and every ball has at least the mass that the doc states.
func TestPositiveMeasure_NoBallIsEmpty(t *testing.T) {
	r := random.Seeded(1)
	for range 40 {
		n := 1 + r.IntN(40)
		pts := make([][]float64, n)
		for i := range pts {
			pts[i] = []float64{math.Exp(6 * r.NormFloat64()), r.Float64()}
			if i > 0 && r.IntN(4) == 0 {
				pts[i] = pts[r.IntN(i)]
			}
		}
		f := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
		mu := testkit.Must(PositiveMeasure(t.Context(), f))
		sum := 0.0
		for _, w := range mu {
			sum += w
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("sum %v", sum)
		}
		diameter, _, _, _ := metric.Diameter(t.Context(), f)
		s, w := diameter, 0.5
		for range 30 {
			net := testkit.Must(metric.Net(t.Context(), f, s, nil))
			mass, y, err := BallMass(t.Context(), f, mu, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if mass < w/float64(len(net))*(1-1e-12) {
				t.Errorf("ball of radius %v about %d has mass %v < %v", s, y, mass, w/float64(len(net)))
			}
			s, w = s/2, w/2
		}
	}
}

func TestBallMass_IsTheLeastSum(t *testing.T) {
	f := testkit.Must(metric.NewPoints([][]float64{{0}, {1}, {3}}, metric.Euclidean{}))
	mu := []float64{0.5, 0.375, 0.125}
	for _, c := range []struct {
		r, mass float64
		y       int
	}{{0, 0.125, 2}, {1, 0.125, 2}, {2, 0.5, 2}, {3, 1, 0}} {
		mass, y, err := BallMass(t.Context(), f, mu, c.r, nil)
		if err != nil || y != c.y || mass > c.mass || mass < c.mass-1e-15 {
			t.Errorf("r = %v: %v at %d (%v), want %v at %d", c.r, mass, y, err, c.mass, c.y)
		}
	}
}
