package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// globeRates are those of nearly uniform places, both sides of where the proposal
// changes, and noise of a degree, 100 m, a meter and a millimeter on the Earth.
var globeRates = []float64{1e-200, 0.01, 0.49, 0.5, 1, 60, 6.4e4, 6.4e6, 6.4e9}

var globePlaces = [][2]float64{
	{0, 20}, {48.2, 16.4}, {-45, 1e300}, {89.9, -70}, {90, 33}, {-90, 0}, {10, 180}, {-5, 540.5},
	{90 - 0x1p-22, 7}, {-90 + 1e-13, 179.99999999}, {0, -179.9999999999}, {5e-324, 5e-324},
}

// The outcome and the number of words read are functions of the random bits alone,
// whichever way decides: at the poles, across the date line, on fine and coarse grids.
func TestGlobe_FastEqualsExact(t *testing.T) {
	seed := uint64(1000)
	for _, rate := range globeRates {
		for _, at := range globePlaces {
			for _, step := range []float64{1, 0x1p-10, 0x1p-23, 0x1p-30, 0x1p-44} {
				seed++
				fastEqualsExact(t, fmt.Sprintf("rate %g at %v, step %g", rate, at, step), seed, testkit.Sweep(2, 20), func(rng *rand.Rand, exact bool) []float64 {
					lat, lon := Globe{step, exact}.AddNoise(rng, at[0], at[1], rate)
					if lat/step != math.Round(lat/step) || lon/step != math.Round(lon/step) || math.Abs(lat) > 90 || lon < -180 || lon >= 180 || math.Abs(lat) == 90 && lon != 0 {
						t.Fatalf("(%v, %v) is not on the grid of step %g", lat, lon, step)
					}
					return []float64{lat, lon}
				})
			}
		}
	}
}

// Every word of a draw is moved to the border of two cells, or of accepting and not.
func TestGlobe_DecidesAtTheBorder(t *testing.T) {
	rng := random.Seeded(111)
	borders := 0
	for _, rate := range []float64{0.3, 60, 0.7, 6.4e6}[:testkit.Sweep(2, 4)] {
		for _, at := range globePlaces[:testkit.Sweep(8, len(globePlaces))] {
			words := make([]uint64, 4)
			for word := range words {
				for i := range words {
					words[i] = rng.Uint64()
				}
				if decidesAtTheBorder(t, fmt.Sprintf("rate %g at %v", rate, at), words, word, 1<<61, testkit.Sweep(3, 5), func(rng *rand.Rand, exact bool) []float64 {
					lat, lon := Globe{0x1p-23, exact}.AddNoise(rng, at[0], at[1], rate)
					return []float64{lat, lon}
				}) {
					borders++
				}
			}
		}
	}
	if borders < 20 {
		t.Errorf("%d borders: the test shows little", borders)
	}
}

// The stated error bounds cover all numbers that begin with the words, near 0, near 1
// and between, and are not idle.
func TestGlobe_ErrorBounds(t *testing.T) {
	rng := random.Seeded(113)
	worst := errorRatios{}
	see := func(name string, ratio float64) { worst.see(t, name, ratio) }
	const prec = 200
	degrees := point(360).quo(circle(prec), prec)
	for range testkit.Sweep(300, 3000) {
		rate, at := globeRates[rng.IntN(len(globeRates))], globePlaces[rng.IntN(len(globePlaces))]
		a := angle{rate: rate}
		member := func(w uint64) Enclosure { // an end of the cell
			cell := cellOf(w)
			if rng.IntN(2) == 0 {
				cell.Hi = cell.Lo
			}
			return Enclosure{cell.Hi, cell.Hi}
		}
		var us []Enclosure
		for i := range a.numbers() {
			a.u[i].word = max(4, shaped(rng))
			us = append(us, member(a.u[i].word))
		}
		a.set()
		if a.theta > math.Pi {
			continue
		}
		theta := a.enclose(us, prec)
		see("angle", beyond(theta, a.theta, a.err))
		cos, sin := theta.cosSin(prec)
		see("cosine", beyond(cos, a.cos, sineErr+a.err))
		see("sine", beyond(sin, a.sin, sineErr*a.theta+a.err))
		w := max(4, shaped(rng))
		y, yErr, x, xErr := a.move(at[0], w)
		z, h, east, along, _ := a.enclosePlace(at[0], append(us, member(w)), prec)
		lat, _ := atan2(z, h, prec)
		see("latitude", beyond(lat.mul(degrees, prec), y, yErr))
		if xErr < 10 {
			lon, _ := atan2(east, along, prec)
			lon = lon.mul(degrees, prec)
			mid, _ := lon.Lo.Float64()
			see("longitude", beyond(lon, x+360*math.Round((mid-x)/360), xErr+0x1p-44))
		}
	}
	worst.check(t)
}

// Bounds that a border of two cells lies between decide nothing, on the globe and on a lattice.
func TestRound_NothingAtABorder(t *testing.T) {
	around := Enclosure{big.NewFloat(-0x1p-40), big.NewFloat(0x1p-40)}
	dst := []float64{7}
	for _, c := range []struct {
		t    float64
		want bool
	}{{0.5, false}, {0.25, true}, {-1.5, false}, {-1.25, true}} {
		if k, ok := roundAngle(c.t, around, point(1), point(3), 64); ok != c.want || ok && k != math.Round(c.t) {
			t.Errorf("angles around %v: %v, %v", c.t, k, ok)
		}
		if ok := (Lattice{Step: 1}).round(dst, []float64{c.t}, []Enclosure{around}); ok != c.want || ok && dst[0] != math.Round(c.t) {
			t.Errorf("around %v: %v, %v", c.t, dst, ok)
		}
	}
}

// Angles of points known by their coordinates, of all quadrants and near the axes, and
// of intervals; the origin has none.
func TestAtan2_Encloses(t *testing.T) {
	rng := random.Seeded(114)
	for _, prec := range []uint{64, 127, 300} {
		for i := range 60 {
			theta := 6.28*rng.Float64() - 3.14
			if i < 4 {
				theta = []float64{0, 1e-30, 3, -3}[i]
			}
			size := point(math.Exp(20 * rng.NormFloat64()))
			cos, sin := point(theta).cosSin(prec + 100)
			a, ok := atan2(sin.mul(size, prec+100), cos.mul(size, prec+100), prec)
			if !ok {
				t.Fatal("no angle")
			}
			within(t, "angle", a, big.NewFloat(theta), math.Ldexp(16, -int(prec)))
		}
		a, ok := atan2(Enclosure{big.NewFloat(1), big.NewFloat(1.1)}, Enclosure{big.NewFloat(1), big.NewFloat(1.1)}, prec)
		lo, _ := a.Lo.Float64()
		hi, _ := a.Hi.Float64()
		if !ok || lo > math.Atan2(1, 1.1) || hi < math.Atan2(1.1, 1) || hi-lo > 0.25 {
			t.Errorf("angles [%v, %v]", lo, hi)
		}
	}
	around0 := Enclosure{big.NewFloat(-1e-30), big.NewFloat(1e-30)}
	if _, ok := atan2(around0, around0, 64); ok {
		t.Error("the origin has an angle")
	}
	if _, ok := atan2(Enclosure{big.NewFloat(-1), big.NewFloat(1)}, point(1), 64); ok {
		t.Error("a right angle of points has an angle")
	}
}

// onSphere is the unit vector of a latitude and longitude.
func onSphere(p [2]float64) [3]float64 {
	sin, cos := math.Sincos(p[0] * math.Pi / 180)
	east, along := math.Sincos(p[1] * math.Pi / 180)
	return [3]float64{cos * along, cos * east, sin}
}

// globeMass is the mass of the cell of the place with the given numbers on the grid,
// by the midpoint rule with m points an axis; that of a pole is all around it.
func globeMass(g Globe, lat, lon, rate float64, i, j, m int) float64 {
	const radians = math.Pi / 180
	x := onSphere([2]float64{lat, lon})
	sum := 0.0
	for a := range m {
		y := (float64(i) - 0.5 + (float64(a)+0.5)/float64(m)) * g.Step
		if math.Abs(y) > 90 {
			continue
		}
		for b := range m {
			z := (float64(j) - 0.5 + (float64(b)+0.5)/float64(m)) * g.Step
			cos := math.Cos(y * radians)
			d := [3]float64{cos*math.Cos(z*radians) - x[0], cos*math.Sin(z*radians) - x[1], math.Sin(y*radians) - x[2]}
			chord := math.Sqrt(d[0]*d[0] + d[1]*d[1] + d[2]*d[2])
			sum += math.Exp(-rate*2*math.Asin(min(1, chord/2))) * cos
		}
	}
	side := g.Step * radians / float64(m)
	return sum * side * side * (1 + rate*rate) / (2 * math.Pi * (1 + math.Exp(-math.Pi*rate)))
}

// Angles have the distribution function (1 - e^(-a t)(cos t + a sin t))/(1 + e^(-a pi)), at rates
// of both proposals: false-reject probability 1e-7 a case.
func TestGlobe_AngleDistribution(t *testing.T) {
	rng := random.Seeded(117)
	for _, rate := range []float64{0.01, 0.49, 0.5, 1, 60} {
		u := make([]float64, testkit.Sweep(100_000, 1_000_000))
		for i := range u {
			a := drawAngle(rng, rate, false)
			sin, cos := math.Sincos(a.theta)
			u[i] = (1 - math.Exp(-rate*a.theta)*(cos+rate*sin)) / (1 + math.Exp(-rate*math.Pi))
		}
		testkit.Uniform(t, fmt.Sprint("rate ", rate), u)
	}
}

// Chi-square of all cells of a coarse grid of the whole sphere, and of those of a window
// elsewhere, against their masses by quadrature: small, medium and large rates, the poles, the
// date line, inputs on the grid and off it. False-reject probability 1e-7 a case.
func TestGlobe_Distribution(t *testing.T) {
	rng := random.Seeded(115)
	for _, c := range []struct {
		lat, lon, rate, step float64
		reach, m             int // of the window; 0: all
	}{
		{40.3, 179.2, 0.01, 2, 0, 2}, {-89.3, 20, 0.45, 2, 0, 2}, {12.5, -180, 0.7, 2, 0, 2}, {90, 5, 3, 2, 0, 3},
		{50.3, -179.7, 60, 1, 12, 8},
		{51.478, 0.0011, 57 * 1024, 0x1p-10, 20, 10},
		{90 - 0x1p-8, 179.99, 57 * 1024, 0x1p-10, 0, 0}, // see below
		{-33.1, 180, 57 * 0x1p22, 0x1p-22, 16, 10},
	}[:testkit.Sweep(7, 8)] {
		g := Globe{Step: c.step}
		draws := testkit.Sweep(60_000, 1_000_000)
		if c.m == 0 { // two rates of the pole's cell: by latitude alone
			count := make([]int, 2)
			for range draws {
				lat, _ := g.AddNoise(rng, c.lat, c.lon, c.rate)
				if lat == 90 {
					count[0]++
				} else {
					count[1]++
				}
			}
			p, n := 0.0, int(360/c.step)
			for j := range n / 64 {
				p += 64 * globeMass(g, c.lat, c.lon, c.rate, int(90/c.step), 64*j-n/2, 8)
			}
			testkit.ChiSquare(t, count, []float64{p, 1 - p}, 1e-7)
			continue
		}
		turn, i0, j0 := int(360/c.step), 0, 0
		i1, reachI, reachJ := int(90/c.step), int(90/c.step), turn/2
		if c.reach > 0 {
			i0, j0 = int(math.Round(c.lat/c.step)), int(math.Round(c.lon/c.step))
			reachI, reachJ = c.reach, 2*c.reach
		}
		index, mass := map[[2]int]int{}, []float64{}
		rest := 1.0
		for i := i0 - reachI; i <= i0+reachI; i++ {
			for j := j0 - reachJ; j < j0+reachJ; j++ {
				m := c.m
				if d := math.Abs(float64(j-int(c.lon/c.step)) * math.Cos(c.lat*math.Pi/180)); max(d, math.Abs(float64(i)-c.lat/c.step)) < 3 {
					m *= 12 // the density has a cusp
				}
				p := globeMass(g, c.lat, c.lon, c.rate, i, j, m)
				rest -= p
				key := [2]int{i, (j + 3*turn/2) % turn}
				if i == i1 || i == -i1 {
					key[1] = turn / 2
				}
				k, ok := index[key]
				if !ok {
					k = len(mass)
					index[key], mass = k, append(mass, 0)
				}
				mass[k] += p
			}
		}
		count := make([]int, len(mass)+1)
		for range draws {
			lat, lon := g.AddNoise(rng, c.lat, c.lon, c.rate)
			k, ok := index[[2]int{int(lat / c.step), int(lon/c.step) + turn/2}]
			if !ok {
				k = len(mass)
			}
			count[k]++
		}
		if rest < -1e-4 || rest > 1e-4 && c.reach == 0 {
			t.Errorf("%v: masses add up to 1 - %v", c, rest)
		}
		for k := range mass { // what quadrature errs by
			mass[k] /= max(1, 1-rest)
		}
		if c.reach == 0 {
			mass[0] += max(0, rest)
			rest = 0
		}
		t.Run(fmt.Sprint(c.lat, c.lon, c.rate), func(t *testing.T) { testkit.ChiSquare(t, count, append(mass, max(0, rest)), 1e-7) })
	}
}

// For the masses that TestGlobe_Distribution finds in the draws: no cell is more likely
// from one place than from another by more than e^(rate t), t the angle between them, on
// the grid and off it, at a pole and across the date line; and some nearly as much.
func TestGlobe_PrivacyOfTheCells(t *testing.T) {
	g := Globe{Step: 1}
	for _, c := range []struct {
		rate   float64
		inputs [][2]float64
	}{
		{0.4, [][2]float64{{0, 180}, {0.3, -179.5}, {40, 0}, {-90, 0}, {89.6, 11}}},
		{30, [][2]float64{{0, 180}, {0.3, -179.5}, {0, 179}, {-1.3, -178}}},
		{30, [][2]float64{{90, 0}, {89.6, 0}, {89.4, 180}, {88, -170}, {88, 100}}},
	} {
		tight := 0.0
		for i := range testkit.Sweep(40, 200) {
			near := c.inputs[i%len(c.inputs)]
			y, x := int(math.Round(near[0]))-i%5+2, int(math.Round(near[1]))+i%7*5-15
			var mass []float64
			for _, at := range c.inputs {
				mass = append(mass, globeMass(g, at[0], at[1], c.rate, y, x, 40))
			}
			for j, p := range mass {
				for k, q := range mass {
					chord := 0.0
					for axis := range 3 {
						chord += math.Pow(onSphere(c.inputs[j])[axis]-onSphere(c.inputs[k])[axis], 2)
					}
					if q > 0 {
						tight = max(tight, p/q/math.Exp(c.rate*2*math.Asin(math.Sqrt(chord)/2)))
					}
				}
			}
		}
		if tight > 1+1e-9 || tight < 0.97 {
			t.Errorf("rate %v: the largest ratio is %v of what is allowed", c.rate, tight)
		}
	}
}

// Words of zeros leave the radius unbounded and the place at the border of bearings: the
// next bits decide, and tell what lies on either side of the border apart.
func TestGlobe_ZeroWords(t *testing.T) {
	g := Globe{Step: 0x1p-23}
	for _, next := range []uint64{1 << 62, 1 << 63} {
		s := &replay{words: []uint64{0, 1 << 63, 0, next, next, next}, rest: random.Seeded(1)}
		lat, lon := g.AddNoise(rand.New(s), 10, 20, 100)
		// U = next/2^127, 1/2, and V = 0 or next/2^127 is accepted.
		theta := (math.Log(2) + 127*math.Log(2) - math.Log(float64(next))) / 100
		z := math.Sin(lat*math.Pi/180)*math.Sin(10*math.Pi/180) + math.Cos(lat*math.Pi/180)*math.Cos(10*math.Pi/180)*math.Cos((lon-20)*math.Pi/180)
		if s.next < 7 || math.Abs(math.Acos(z)-theta) > 1e-8 {
			t.Errorf("at %v after %d words, want %v", math.Acos(z), s.next, theta)
		}
	}
}
