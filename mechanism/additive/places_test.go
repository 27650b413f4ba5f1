package additive

import (
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// SphereAlpha is the inverse of RadiusProb, rounded down; where the sphere is flat it is
// PlanarAlpha, and for the median about a hemisphere it is what the closed form says.
func TestSphereAlpha_InvertsRadiusProb(t *testing.T) {
	for _, distance := range []float64{1e-4, 0.5, 3, 100, 2000, 9000, 15000, 20000} {
		for _, prob := range []float64{0.001, 0.3, 0.5, 0.95, 0.999999} {
			alpha, err := SphereAlpha(distance, prob, nil)
			share := math.Pow(math.Sin(distance/metric.EarthRadiusKm/2), 2)
			if prob <= share {
				if err == nil || !strings.Contains(err.Error(), "the share of the sphere within the distance") {
					t.Errorf("%v with %v, of which %v lie there anyway: %v, %v", distance, prob, share, alpha, err)
				}
				continue
			}
			m := testkit.Must(NewSphere(alpha, nil))
			above := testkit.Must(NewSphere(alpha*(1+1e-12), nil))
			slack := 1e-13 * (1 + 1/(prob-share)) // where it hardly depends on alpha
			if got := m.RadiusProb(distance); !near(got, prob, 1e-13) || above.RadiusProb(distance) < prob*(1-slack) {
				t.Errorf("%v with %v: alpha %v gives %v", distance, prob, alpha, got)
			}
			if flat := testkit.Must(PlanarAlpha(distance, prob)); distance < 1 && !near(alpha, flat, 1e-5) {
				t.Errorf("%v with %v: alpha %v, in the plane %v", distance, prob, alpha, flat)
			}
			within := testkit.Must(NewSphereWithin(distance, prob, nil))
			if within.Guarantee() != m.Guarantee() || within.Guarantee().Unit() != "km" {
				t.Errorf("%v and %v", within, m)
			}
		}
	}
	// To the quarter of a great circle the probability is (1-a e^(-a pi/2))/(1+e^(-a pi)).
	a := testkit.Must(SphereAlpha(math.Pi/2, 0.75, &SphereOptions{Radius: 1}))
	if p := (1 - a*math.Exp(-a*math.Pi/2)) / (1 + math.Exp(-a*math.Pi)); !near(p, 0.75, 1e-14) {
		t.Errorf("alpha %v: probability %v", a, p)
	}
}

// globe returns points spread evenly over the sphere, poles and the date line.
func globe(n int) []metric.LatLon {
	r := random.Seeded(5)
	pts := []metric.LatLon{{Lat: 90}, {Lat: -90, Lon: 30}, {Lon: 180}, {Lon: -180}, {Lat: 41.8103148957786, Lon: 90}, {}}
	for range n {
		pts = append(pts, metric.LatLon{Lat: math.Asin(2*r.Float64()-1) * 180 / math.Pi, Lon: 360 * (r.Float64() - 0.5)})
	}
	return pts
}

// Every point is within Radius of the center of its cell, which is the center of its own
// cell; keys and centers tell the same cells apart; cells have one area.
func TestCells_AreAGrid(t *testing.T) {
	for _, radius := range []float64{1e-3, 0.25, 10, 1000, 7000} {
		c := testkit.Must(NewCells(metric.GreatCircle{}, radius))
		if c.Radius() > radius || c.n > 1 && metric.EarthRadiusKm*c.Radius()/float64(c.n-1)*float64(c.n) < radius {
			t.Errorf("radius %v, asked for %v", c.Radius(), radius)
		}
		centers := map[string]metric.LatLon{}
		for _, p := range globe(5000) {
			y := testkit.Must(c.Center(p))
			if d := (metric.GreatCircle{}).Distance(p, y); d > c.Radius() {
				t.Errorf("%v is %v from its center, at most %v", p, d, c.Radius())
			}
			if c.Key(y) != c.Key(p) {
				t.Errorf("%v: its center is in %s, not %s", p, c.Key(y), c.Key(p))
			}
			if was, ok := centers[c.Key(p)]; ok && was != y {
				t.Errorf("cell %s has centers %v and %v", c.Key(p), was, y)
			}
			centers[c.Key(p)] = y
		}
		if int64(len(centers)) > c.Len() {
			t.Errorf("%d cells of %d", len(centers), c.Len())
		}
	}
	c := testkit.Must(NewCells(metric.GreatCircle{Radius: 1}, 0.3))
	index, r, count := map[string]int{}, random.Seeded(6), make([]int, c.Len())
	for range 200_000 {
		key := c.Key(metric.LatLon{Lat: math.Asin(2*r.Float64()-1) * 180 / math.Pi, Lon: 720 * r.Float64()})
		if _, ok := index[key]; !ok {
			index[key] = len(index)
		}
		count[index[key]]++
	}
	p := make([]float64, len(count))
	for i := range p {
		p[i] = 1 / float64(len(p))
	}
	testkit.ChiSquare(t, count, p, 1e-7)
}

// Two squares across the equator, one with a hole, and a cap around the south pole.
var lands = [][]metric.LatLon{
	{{Lat: -10, Lon: 0}, {Lat: 10, Lon: 0}, {Lat: 10, Lon: 20}, {Lat: -10, Lon: 20}, {Lat: -10, Lon: 0}},
	{{Lat: -5, Lon: 5}, {Lat: -5, Lon: 15}, {Lat: 5, Lon: 15}, {Lat: 5, Lon: 5}},
	{{Lat: 0, Lon: 170}, {Lat: 10, Lon: 180}, {Lat: -10, Lon: 180}},
	{{Lat: -90, Lon: -180}, {Lat: -70, Lon: -180}, {Lat: -70, Lon: 180}, {Lat: -90, Lon: 180}},
}

// Points are inside as plain inequalities say; others move to the border, as near as the
// nearest of points ten times denser, but for half the spacing.
func TestRegion_MovesToTheNearestBorder(t *testing.T) {
	const spacing = 100.0
	r := testkit.Must(NewRegion(metric.GreatCircle{}, lands, spacing))
	dense := testkit.Must(NewRegion(metric.GreatCircle{}, lands, spacing/10))
	space, moved := metric.GreatCircle{}, 0
	for _, p := range globe(3000) {
		lon := math.Remainder(p.Lon, 360)
		square := func(half, west, east float64) bool { return math.Abs(p.Lat) < half && lon > west && lon < east }
		inside := square(10, 0, 20) && !square(5, 5, 15) || lon > 170 && lon < 180 && math.Abs(p.Lat) < lon-170 || p.Lat < -70
		if r.Contains(p) != inside && lon != 0 && math.Abs(lon) < 180 && math.Abs(p.Lat) < 90 {
			t.Errorf("%v: inside %v", p, !inside)
		}
		y, z := testkit.Must(r.Move(p)), testkit.Must(dense.Move(p))
		if r.Contains(p) {
			if y != p {
				t.Errorf("%v is inside and moves to %v", p, y)
			}
			continue
		}
		moved++
		if d, best := space.Distance(p, y), space.Distance(p, z); d > best+spacing/2 || d < best-spacing/20 {
			t.Errorf("%v moves to %v, %v away: %v is %v away", p, y, d, z, best)
		}
		again := metric.LatLon{Lat: p.Lat, Lon: p.Lon - 720}
		if w := testkit.Must(r.Move(again)); space.Distance(w, y) > 1e-6 && math.Abs(space.Distance(p, w)-space.Distance(p, y)) > 1e-6 {
			t.Errorf("%v turned twice moves to %v, not %v", p, w, y)
		}
	}
	if moved < 2000 {
		t.Errorf("%d moved", moved)
	}
	noise := testkit.Must(NewSphere(0.01, nil))
	m := mechanism.Then(noise, r.Move)
	if m.Guarantee() != noise.Guarantee() {
		t.Error(m)
	}
}

// Caps as maps have them: closed at the pole, along the date line or by halves of a circle;
// and an island cut at the date line.
func TestRegion_TakesRingsCutAtTheDateLine(t *testing.T) {
	at := func(pairs ...float64) (ring []metric.LatLon) {
		for i := 0; i < len(pairs); i += 2 {
			ring = append(ring, metric.LatLon{Lat: pairs[i], Lon: pairs[i+1]})
		}
		return ring
	}
	for _, c := range []struct {
		rings   [][]metric.LatLon
		in, out []metric.LatLon
	}{
		{[][]metric.LatLon{at(-85, 180, -90, 180, -90, -180, -85, -180, -60, -90, -60, 90, -85, 180)}, at(-80, 0, -89, 179), at(-80, 179, 0, 0)},
		{[][]metric.LatLon{at(-90, 179, -90, -179, -60, -179, -60, -10, -60, 150, -60, 179)}, at(-80, 100, -61, 0), at(-80, 180, 0, 0)},
		{[][]metric.LatLon{at(60, -180, 60, 180, 90, 180, 90, -180)}, at(80, 0, 61, 179.9, 61, -179.9), at(59, 0)},
		{[][]metric.LatLon{at(-60, -180, -60, 0, -60, 180, -90, 180, -90, -180)}, at(-80, 0, -61, 180-1e-9), at(0, 0)},
		{[][]metric.LatLon{at(-10, 170, 10, 170, 10, 180, -10, 180), at(-10, -180, 10, -180, 10, -170, -10, -170)}, at(0, 175, 0, -175, 9, 179.9), at(0, 0, 11, 180, 0, 165)},
	} {
		r := testkit.Must(NewRegion(metric.GreatCircle{}, c.rings, 500))
		for _, p := range c.in {
			if !r.Contains(p) {
				t.Errorf("%v is outside %v", p, c.rings)
			}
		}
		for _, p := range c.out {
			if r.Contains(p) {
				t.Errorf("%v is inside %v", p, c.rings)
			}
		}
	}
}

// gaussianCloud returns n points of R^d.
func gaussianCloud(seed uint64, n, d int) [][]float64 {
	rng := random.Seeded(seed)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = make([]float64, d)
		random.FillNormal(rng, pts[i])
	}
	return pts
}

// Snap is the nearest point to what m releases from the same bits.
func TestSnap_IsNearest(t *testing.T) {
	pts := testkit.Must(metric.NewPoints(gaussianCloud(71, 200, 3), metric.Euclidean{}))
	m := testkit.Must(NewKNorm(Norm{P: 2, Dim: 3}, 3, &Options{Unit: "m"}))
	s := Snap(m, pts)
	if s.Guarantee() != m.Guarantee() {
		t.Errorf("guarantee %v, want %v", s.Guarantee(), m.Guarantee())
	}
	a, b := random.Seeded(72), random.Seeded(72)
	for i := range 300 {
		x := pts.At(i % 200)
		y := testkit.Must(m.Release(a, x))
		got := testkit.Must(s.Release(b, x))
		best := 0
		for j := range pts.Len() {
			if (metric.Euclidean{}).Distance(y, pts.At(j)) < (metric.Euclidean{}).Distance(y, pts.At(best)) {
				best = j
			}
		}
		if got != best {
			t.Fatalf("release %d: snapped to %d, nearest %d", i, got, best)
		}
	}
}

// Of vectors in float32 a word is that of the same vectors in float64, and the level at a delta is that at the
// largest distance of two words.
func TestMadlib_OfBothTypes(t *testing.T) {
	wide, narrow := make([][]float64, 50), make([][]float32, 50)
	rng := random.Seeded(74)
	for i := range wide {
		for range 30 {
			v := float32(rng.NormFloat64())
			wide[i], narrow[i] = append(wide[i], float64(v)), append(narrow[i], v)
		}
	}
	a, b := testkit.Must(NewMadlib(wide, 2, nil)), testkit.Must(NewMadlib(narrow, 2, nil))
	for seed := range uint64(200) {
		x := int(seed % 50)
		if y, z := testkit.Must(a.Release(random.Seeded(seed), x)), testkit.Must(b.Release(random.Seeded(seed), x)); y != z {
			t.Fatalf("%d is word %d, in float32 %d", x, y, z)
		}
	}
	three := testkit.Must(NewMadlib([][]float64{{0, 0}, {1, 0}, {0, 9}}, 1, nil))
	got, want := testkit.Must(three.LevelAt(t.Context(), 1e-3)), testkit.Must(three.k.LevelAt(1e-3, math.Sqrt(82)))
	if near := testkit.Must(three.k.LevelAt(1e-3, 1)); got != want || near == want {
		t.Errorf("level %v, want %v, between near words %v", got, want, near)
	}
}

// Two words at distance 1: the noise is a symmetric distribution on the line through them, whose density in
// one dimension is Laplace, so a word is kept with probability 1 - e^(-alpha/2)/2. Chi-square at 1e-6.
func TestMadlib_DistributionTwoWords(t *testing.T) {
	testkit.Slow(t)
	rng := random.Seeded(75)
	const alpha = 1.3
	m := testkit.Must(NewMadlib([][]float64{{0}, {1}}, alpha, nil))
	flip := math.Exp(-alpha/2) / 2
	for x, p := range [][]float64{{1 - flip, flip}, {flip, 1 - flip}} {
		count := make([]int, 2)
		for range 200_000 {
			count[testkit.Must(m.Release(rng, x))]++
		}
		testkit.ChiSquare(t, count, p, 1e-6)
	}
}
