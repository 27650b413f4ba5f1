package additive

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/knots"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// The lines between knots are straight on the map, and constant at the ends. What is not at a knot
// changes nothing. A trail's reports are likewise those of the knots alone.
func TestKnots_LinesBetween(t *testing.T) {
	linesBetween(t, testkit.Must(NewKnots(0.5, &KnotsOptions{Every: 4, Unit: "m"})))
	trail := testkit.Must(NewTrail(0.5, &TrailOptions{Every: 4, Unit: "m", Steps: 3}))
	y := linesBetween(t, trail)
	alone := testkit.Must(NewTrail(0.5, &TrailOptions{Steps: 3}))
	if z := testkit.Must(alone.Release(random.Seeded(5), [][2]float64{{1, 3}, {25, 3}, {81, 3}})); z[0] != y[1] || z[1] != y[5] || z[2] != y[9] {
		t.Errorf("%v, alone %v", y, z)
	}
	if _, err := trail.Release(nil, make([][2]float64, 13)); err == nil {
		t.Error("four reports of three")
	}
	deep := testkit.Must(NewTrail(0.5, &TrailOptions{Every: 3}))
	for n := 60; n < 90; n++ { // nodes that end with the track, too
		track := make([][2]float64, n)
		for i := range track {
			track[i] = [2]float64{7, float64(i)}
		}
		y := testkit.Must(deep.Release(random.Seeded(5), track))
		for i := range track {
			if !slices.Contains(knots.At(n, 3), i) {
				track[i] = [2]float64{-1e4, 1e4}
			}
		}
		if z := testkit.Must(deep.Release(random.Seeded(5), track)); !slices.Equal(y, z) {
			t.Errorf("%d positions: those between knots change the reports", n)
		}
	}
}

func linesBetween(t *testing.T, m interface {
	Release(*rand.Rand, [][2]float64) ([][2]float64, error)
	Guarantee() mechanism.Guarantee
}) [][2]float64 {
	t.Helper()
	track := make([][2]float64, 11) // knots at 1, 5 and 9
	for i := range track {
		track[i] = [2]float64{float64(i * i), 3}
	}
	y := testkit.Must(m.Release(random.Seeded(5), track))
	at := func(i int) [2]float64 {
		switch {
		case i <= 1:
			return y[1]
		case i >= 9:
			return y[9]
		}
		a := 1 + (i-1)/4*4
		w := float64(i-a) / 4
		return [2]float64{y[a][0] + w*(y[a+4][0]-y[a][0]), y[a][1] + w*(y[a+4][1]-y[a][1])}
	}
	for i := range track {
		if want := at(i); y[i] != want {
			t.Errorf("%v at %d, want %v", y[i], i, want)
		}
	}
	other := slices.Clone(track)
	for _, i := range []int{0, 2, 4, 6, 8, 10} {
		other[i] = [2]float64{-9, 1}
	}
	if z := testkit.Must(m.Release(random.Seeded(5), other)); !slices.Equal(y, z) {
		t.Errorf("%v, with other positions between knots %v", y, z)
	}
	if g := m.Guarantee(); g.Alpha() != 0.5 || g.Unit() != "m" {
		t.Error(g)
	}
	return y
}

// The noise has the stated root mean square, on the plane and, near the center, on the Earth: 5
// standard deviations, a false-reject probability of 1e-6 for both.
func TestKnots_RMS(t *testing.T) {
	const n, runs = 7, 4000
	flat := testkit.Must(NewKnots(2, &KnotsOptions{Every: 2}))
	if few, many := flat.RMS(0), flat.RMS(math.MaxInt); !math.IsNaN(few) || !(many > 7e8) {
		t.Errorf("%v of no positions, %v of very many", few, many)
	}
	center := metric.LatLon{Lat: 48.2, Lon: 16.4}
	earth := testkit.Must(NewEarthKnots(2, center, &KnotsOptions{Every: 2}))
	track := slices.Repeat([]metric.LatLon{center}, n)
	rng := random.Seeded(6)
	for name, square := range map[string]func() float64{
		"plane": func() float64 {
			y := testkit.Must(flat.Release(rng, make([][2]float64, n)))[0]
			return y[0]*y[0] + y[1]*y[1]
		},
		"Earth": func() float64 {
			d := metric.GreatCircle{}.Distance(center, testkit.Must(earth.Release(rng, track))[0])
			return d * d
		},
	} {
		sum, sum2 := 0.0, 0.0
		for range runs {
			v := square()
			sum, sum2 = sum+v, sum2+v*v
		}
		mean := sum / runs
		sd := math.Sqrt((sum2/runs - mean*mean) / runs)
		want := math.Pow(math.Sqrt(9*5)/2, 2) // four knots
		if math.Abs(mean-want) > 5*sd || flat.RMS(n) != math.Sqrt(want) || math.Abs(earth.RMS(n)/math.Sqrt(want)-1) > 1e-12 {
			t.Errorf("%s: mean square %v +- %v, want %v; %v, %v", name, mean, sd, want, flat.RMS(n), earth.RMS(n))
		}
	}
}

// Where a position is known up to nearly half a step, as on the Earth at high levels, the exact one
// decides: each knot has its own.
func TestKnots_AreDecidedExactly(t *testing.T) {
	rng := random.Seeded(8)
	flat := testkit.Must(NewKnots(1, nil))
	vague := testkit.Must(NewKnots(1, nil))
	vague.on.difference = func(to, from [2]float64) exact.Values {
		v := exact.Difference(to, from)
		if to[1] > 0.5 {
			v.Err = 0.4 * vague.out.Step
			v.Near[0].Hi += v.Err / 2
		}
		return v
	}
	for seed := range uint64(40) {
		track := [][2]float64{{rng.Float64()}, {rng.Float64(), rng.Float64()}, {rng.Float64(), 1}}
		track[seed%2][1] = 0.75
		want, got := testkit.Must(flat.Release(random.Seeded(seed), track)), testkit.Must(vague.Release(random.Seeded(seed), track))
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

func TestKnots_Refuses(t *testing.T) {
	m, earth := testkit.Must(NewKnots(1, nil)), testkit.Must(NewEarthKnots(1, metric.LatLon{}, nil))
	for want, err := range map[string]error{
		"NewTrail: Steps = -1":                  testkit.Err(NewTrail(1, &TrailOptions{Steps: -1})),
		"NewTrail: Every = -1":                  testkit.Err(NewTrail(1, &TrailOptions{Every: -1})),
		"NewKnots: Every = -1":                  testkit.Err(NewKnots(1, &KnotsOptions{Every: -1})),
		"NewEarthKnots: center: ":               testkit.Err(NewEarthKnots(1, metric.LatLon{Lat: 91}, nil)),
		"NewEarthKnots: alpha = 200000":         testkit.Err(NewEarthKnots(2e5, metric.LatLon{}, nil)),
		"NewEarthKnots: different units":        testkit.Err(NewEarthKnots(1, metric.LatLon{}, &KnotsOptions{Unit: "m"})),
		"Knots.Release: track":                  testkit.Err(m.Release(nil, nil)),
		"track[0][1], want a finite number, at": testkit.Err(m.Release(nil, [][2]float64{{0x1p31, math.Nextafter(0x1p31, inf)}})),
		"the distance of track[1] from the cen": testkit.Err(earth.Release(nil, []metric.LatLon{{}, {Lon: 61}})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
