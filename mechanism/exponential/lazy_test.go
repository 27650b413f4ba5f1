package exponential

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func euclidean(t testing.TB, coords ...float64) metric.Finite {
	t.Helper()
	pts := make([][]float64, len(coords))
	for i, c := range coords {
		pts[i] = []float64{c}
	}
	return points(t, pts, metric.Euclidean{})
}

func points[P any](t testing.TB, pts []P, s metric.Space[P]) metric.Finite {
	t.Helper()
	return testkit.Must(metric.NewPoints(pts, s))
}

// cluster is k coincident points at 0, then the points given: the factor 1/2 of
// Standard is nearly used up between 0 and the first of them.
func cluster(k int, coords ...float64) []float64 {
	return append(make([]float64, k), coords...)
}

// The exact audit of what a lazy mechanism releases is never above its claim, on
// spaces made to break it, or the space is refused by name.
func TestStandard_LazyAuditsAtItsLevel(t *testing.T) {
	r := random.Seeded(1)
	spread := func(decades float64) metric.Finite { // far points beside near ones
		c := make([]float64, 30)
		for i := range c {
			c[i] = math.Pow(10, decades*r.Float64())
			if i > 0 && r.IntN(3) == 0 {
				c[i] = c[i-1] * (1 + math.Pow(10, -decades*r.Float64()))
			}
		}
		return euclidean(t, c...)
	}
	globe := func(meters float64) metric.Finite { // neighbors, antipodes, the pole and the date line
		step := meters / 111e3 // degrees
		var p []metric.LatLon
		for _, q := range []metric.LatLon{{Lat: 48.85, Lon: 2.35}, {Lat: -48.85, Lon: -177.65}, {Lat: 0, Lon: 180}, {Lat: 90, Lon: 7}} {
			p = append(p, q, metric.LatLon{Lat: q.Lat - step, Lon: q.Lon}, metric.LatLon{Lat: q.Lat, Lon: q.Lon - step})
		}
		return points(t, append(p, metric.LatLon{Lat: 0, Lon: -180}, metric.LatLon{Lat: 90, Lon: -100}), metric.GreatCircle{})
	}
	// The far points lie on a grid of 2^-33, and the two near ones on either side of
	// the middle between two of its points, so that they round apart.
	near := func(gap float64) metric.Finite {
		x := 0.71 - math.Mod(0.71, 0x1p-33) + 0x1p-34
		return euclidean(t, x-gap/2, x+gap/2, 1e6, -1e6, 6e5+1./3, -7e5-1./7, 8e5+0.1, -9e5-0.3)
	}
	// In d dimensions a sum above 1 gains twice what it adds up, one below 1 gets
	// it right: the origin and a point near it see y differently.
	high := func(d int, near float64) metric.Finite {
		y := slices.Repeat([]float64{0x1p-53 + 0x1p-103}, d)
		x := make([]float64, d)
		y[0], x[0] = 1, near
		f := points(t, [][]float64{make([]float64, d), x, y}, metric.Manhattan{})
		stored := testkit.Must(metric.Densify(t.Context(), f))
		return struct {
			*metric.Dense
			metric.Embedded
		}{stored, f.(metric.Embedded)}
	}
	many := append(slices.Repeat([]int{0}, 2000), 1, 2)
	backward := indices(201)
	slices.Reverse(backward)
	cases := map[string]struct {
		f        metric.Finite
		outputs  []int
		accepted bool
	}{
		"1e-12":        {near(1e-12), nil, false},
		"2^-20":        {near(0x1p-20), nil, false},
		"2^-12":        {near(0x1p-12), nil, true},
		"cluster":      {euclidean(t, cluster(150, 1)...), nil, true},
		"backward":     {euclidean(t, cluster(200, 1)...), backward, true},
		"far cluster":  {euclidean(t, cluster(150, 1, 0x1p33+1./3, -0x1p33/3)...), nil, true},
		"3 decades":    {spread(3), nil, true},
		"8 decades":    {spread(8), nil, false},
		"1 cm":         {globe(0.01), nil, true},
		"1 um":         {globe(1e-6), nil, false},
		"20,000 dims":  {high(20_000, 0x1p-30), many, true},
		"100,000 dims": {high(100_000, 0x1p-29), many, true},
		"ultrametric":  {randomUltrametric(t, r, 40), nil, true},
		"Halton":       {space.Halton(60), nil, true},
	}
	for name, c := range cases {
		least, _, _, _ := metric.NewIndex(c.f).MinPositiveDistance(t.Context())
		for _, alpha := range []float64{1e-6, 0.1 / least, 2 / least, 30 / least} {
			m, err := Lazy(t.Context(), c.f, alpha, &Options{Outputs: c.outputs})
			if err != nil {
				var value *fault.ValueError
				if c.accepted || !errors.As(err, &value) || value.Value != least {
					t.Errorf("%s, alpha = %v: %v", name, alpha, err)
				}
				continue
			}
			if !c.accepted {
				t.Errorf("%s, alpha = %v: accepted", name, alpha)
			}
			a, err := m.Audit(t.Context(), c.f, nil)
			// Of clusters at 2 over the distance a rate of alpha/2 without the margin is found out.
			tight := strings.HasSuffix(name, "cluster") || name == "backward"
			if err != nil || a.Hi > alpha || tight && alpha == 2 && (a.Lo < 1.9 || name == "far cluster" && m.Beta > 1-0x1p-6) {
				t.Errorf("%s, alpha = %v: %v %v, rate %v", name, alpha, a, err, m.Beta)
			}
		}
	}
}

// Points at distance 0 share a row, whatever their own distances round to.
func TestStandard_LazyCoincidentPointsShareARow(t *testing.T) {
	f := space.Func(4, func(i, j int) float64 { // 0 and 2 coincide, and see 3 differently
		switch {
		case i == 0 && j == 2:
			return 0
		case i == 0 && j == 3:
			return 1 + 0x1p-45
		}
		return 1
	})
	m := testkit.Must(Lazy(t.Context(), f, 1, nil))
	if a, err := m.Audit(t.Context(), f, nil); err != nil || a.Hi > 1 {
		t.Errorf("%v %v", a, err)
	}
}

// distances are all the same, and its rows a slice of its own.
type distances struct{ d float64 }

func (distances) Len() int { return 3 }
func (f distances) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return f.d
}
func (f distances) DistancesFrom(i int, _ []float64) []float64 {
	return []float64{f.Distance(i, 0), f.Distance(i, 1), f.Distance(i, 2)}
}
