package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// TestUnitVector_Encloses: enclosures are narrow, nest, have the length 1, known values,
// and float64 within its bound.
func TestUnitVector_Encloses(t *testing.T) {
	rng := random.Seeded(1)
	places := [][3]float64{{30, 0, 0.5}, {-30, 77, -0.5}, {90, 1e300, 1}, {0, 360, 0}, {-90, -450, -1}}
	for range 300 {
		places = append(places, [3]float64{180*rng.Float64() - 90, 2000 * (rng.Float64() - 0.5), math.NaN()})
	}
	for _, p := range places {
		wide, narrow, near := UnitVector(p[0], p[1], 80), UnitVector(p[0], p[1], 160), NearUnitVector(p[0], p[1])
		length := 0.0
		for j, c := range narrow {
			if wide[j].Lo.Cmp(c.Lo) > 0 || wide[j].Hi.Cmp(c.Hi) < 0 {
				t.Fatalf("%v: coordinate %d does not nest", p, j)
			}
			within(t, "coordinate", c, c.Lo, 0x1p-150)
			v, _ := c.Lo.Float64()
			length += v * v
			off := new(big.Float).Sub(c.Lo, big.NewFloat(near[j]))
			if f, _ := off.Float64(); math.Abs(f) > UnitVectorErr {
				t.Fatalf("%v: coordinate %d errs by %v", p, j, f)
			}
		}
		if math.Abs(length-1) > 0x1p-48 {
			t.Fatalf("%v: a vector of squared length %v", p, length)
		}
		if z := p[2]; z == z {
			within(t, "sine", narrow[2], big.NewFloat(z), 0x1p-150)
		}
	}
}

// chartCenters and the places around them are at poles, across the date line, and near the edge.
var chartCenters = [][2]float64{{0, 0}, {48.2, 16.4}, {90, 33}, {-90, 0}, {-33.9, 179.99999}, {12.5, -540.25}, {5e-324, 1e17}}

func placeNear(rng *rand.Rand, c [2]float64) (lat, lon float64) {
	switch rng.IntN(4) {
	case 0:
		return c[0], c[1]
	case 1:
		return max(-90, min(90, c[0]+1e-7*rng.NormFloat64())), c[1] + 1e-7*rng.NormFloat64()
	case 2:
		return 90 * (2*rng.Float64() - 1), 720 * (rng.Float64() - 0.5)
	}
	return max(-90, min(90, c[0]+30*rng.NormFloat64())), c[1] + 30*rng.NormFloat64()
}

// Place is within chartErr of the enclosures, which tighten, and Difference within its Err; so is
// the map as it is defined, by scalar products in 300 bits of vectors in space.
func TestChart_Errors(t *testing.T) {
	testkit.Rounding(t)
	rng := random.Seeded(161)
	off := func(a float64, e Enclosure) float64 {
		lo, hi := new(big.Float).Sub(big.NewFloat(a), e.Hi), new(big.Float).Sub(big.NewFloat(a), e.Lo)
		x, _ := lo.Float64()
		y, _ := hi.Float64()
		return max(math.Abs(x), math.Abs(y))
	}
	dot := func(a, b [3]Enclosure) Enclosure {
		sum := point(0)
		for i := range a {
			sum = sum.add(a[i].mul(b[i], 300), 300)
		}
		return sum
	}
	for _, at := range chartCenters {
		c := NewChart(at[0], at[1])
		for range testkit.Sweep(60, 2000) {
			lat, lon := placeNear(rng, at)
			lat2, lon2 := placeNear(rng, at)
			place, _ := c.Place(lat, lon)
			v := c.Difference(lat, lon, lat2, lon2)
			for i := range 2 {
				e := c.enclose(lat, lon, i, 200)
				if err := off(place[i], e); !(err < chartErr) {
					t.Fatalf("%v of (%v, %v) about %v errs by %v", place, lat, lon, at, err)
				}
				if w, _ := new(big.Float).Sub(e.Hi, e.Lo).Float64(); w > 0x1p-150 {
					t.Fatalf("the enclosure of (%v, %v) about %v is %v wide", lat, lon, at, w)
				}
				if err := off(v.Near[i].Hi, v.Enclose(i, 200)); v.Near[i].Lo != 0 || !(err < v.Err) {
					t.Fatalf("the difference of (%v, %v) and (%v, %v) about %v errs by %v", lat, lon, lat2, lon2, at, err)
				}
			}
			cosLat, sinLat := cosSinDegrees(big.NewFloat(at[0]), 300)
			cos, sin := cosSinDegrees(big.NewFloat(math.Remainder(at[1], 360)), 300)
			east := [3]Enclosure{sin.neg(), cos, point(0)}
			north := [3]Enclosure{sinLat.mul(cos, 300).neg(), sinLat.mul(sin, 300).neg(), cosLat}
			for i, axis := range [][3]Enclosure{east, north} {
				got, want := c.enclose(lat, lon, i, 200), dot(axis, UnitVector(lat, lon, 300))
				if err := off(0, got.add(want.neg(), 300)); err > 0x1p-150 {
					t.Fatalf("axis %d of (%v, %v) about %v: off by %v", i, lat, lon, at, err)
				}
			}
		}
	}
}

// Lift finds the place again on the near half of the sphere, and the edge beyond it.
func TestChart_LiftInverts(t *testing.T) {
	rng := random.Seeded(162)
	for _, at := range chartCenters {
		c := NewChart(at[0], at[1])
		for range 300 {
			lat, lon := placeNear(rng, at)
			place, cos := c.Place(lat, lon)
			again, cosAgain := c.Place(c.Lift(place))
			if cos > 0 && (math.Hypot(place[0]-again[0], place[1]-again[1]) > 1e-12 || math.Abs(cos-cosAgain) > 1e-12/cos) {
				t.Errorf("(%v, %v) about %v: %v, and lifted %v", lat, lon, at, place, again)
			}
			far := [2]float64{3 * place[0], 3 * place[1]}
			if r := math.Hypot(far[0], far[1]); r > 1 {
				edge, _ := c.Place(c.Lift(far))
				if math.Hypot(edge[0]-far[0]/r, edge[1]-far[1]/r) > 1e-12 {
					t.Errorf("%v about %v lifts to %v", far, at, edge)
				}
			}
		}
	}
}

// Differences of float64s that are none, and of places, are rounded with the noise as interval
// arithmetic does, from the same words.
func TestDifference_RoundedExactly(t *testing.T) {
	rng := random.Seeded(163)
	c := NewChart(48.2, 16.4)
	for _, step := range []float64{0x1p-10, 0x1p-36, 0x1p-42} {
		for seed := range uint64(testkit.Sweep(40, 400)) {
			lat, lon := placeNear(rng, [2]float64{48.2, 16.4})
			lat2, lon2 := placeNear(rng, [2]float64{48.2, 16.4})
			for _, v := range []Values{
				Difference([2]float64{rng.Float64(), 1e-9 * rng.Float64()}, [2]float64{rng.NormFloat64(), 1e-300}),
				c.Difference(lat, lon, lat2, lon2),
			} {
				var y [2][2]float64
				for k := range y {
					Lattice{step, k == 1}.AddPlanes(y[k][:], random.Seeded(seed), v, 0x1p-18/step)
				}
				if y[0] != y[1] {
					t.Fatalf("step %v, seed %d: fast %v, exact %v", step, seed, y[0], y[1])
				}
			}
		}
	}
	v := Difference([2]float64{1, -3e300}, [2]float64{0x1p-70, 5e-324})
	for i, want := range []*big.Float{BigSum([]float64{1, -0x1p-70}), BigSum([]float64{-3e300, -5e-324})} {
		if e := v.Enclose(i, 9); BigSum([]float64{v.Near[i].Hi, v.Near[i].Lo}).Cmp(want) != 0 || e.Lo.Cmp(want) != 0 || e.Hi.Cmp(want) != 0 {
			t.Errorf("difference %d: %v, want %v", i, v.Near[i], want)
		}
	}
}
