package exact

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// planesTwice adds noise of rate 1 to v from the same words, as float64 decides and exactly: the outcomes
// are the same, of which it returns one.
func planesTwice(t *testing.T, name string, step float64, v Values, words []uint64, seed uint64) []float64 {
	t.Helper()
	var y [2][]float64
	for k := range y {
		y[k] = make([]float64, len(v.Near))
		Lattice{step, k == 1}.AddPlanes(y[k], rand.New(&replay{words: words, rest: random.Seeded(seed)}), v, 1)
	}
	if !slices.Equal(y[0], y[1]) {
		t.Fatalf("%s, step %v, seed %d: fast %v, exact %v", name, step, seed, y[0], y[1])
	}
	return y[1]
}

// Float64 counts what it does not know: an error of the numbers of nearly half a step, the low parts of
// large differences, a radius whose first word says little, and one of a disc whose word is 0 or 1.
func TestAddPlanes_FastEqualsExact(t *testing.T) {
	const step = 0x1p-20
	rng := random.Seeded(153)
	for seed := range uint64(testkit.Sweep(40, 400)) {
		planesTwice(t, "error", step, valuesOf([]float64{rng.Float64(), rng.Float64(), 0, 1}, 0.4*step), nil, seed)
		planesTwice(t, "difference", step, Difference([2]float64{0x1p51 * step, -0x1p51 * step}, [2]float64{-rng.Float64() * step, rng.Float64() * step}), nil, seed)
		planesTwice(t, "radius", step, valuesOf(make([]float64, 2), 0), []uint64{2 + 16*(seed%2)}, seed)
		disc := append(slices.Repeat([]uint64{1 << 63}, 5), seed&2, 1<<61)
		planesTwice(t, "disc", 0.5, valuesOf(make([]float64, 4), 0), disc, seed)
		planesTwice(t, "radii", step, valuesOf(make([]float64, 4), 0), []uint64{1 << 60, 2 + 16*(seed%2)}, seed)
	}
}

// What the unknown bits of a small radius may change, and the error of a cosine near 0, are
// counted: where the border lies within them, float64 does not decide.
func TestAddPlanes_CountsUnknownBits(t *testing.T) {
	const half, step = 1 << 63, 0x1p-20
	for name, c := range map[string]struct {
		disc [2]uint64 // radius and direction
		near float64   // how near to the border the input lies, in steps
	}{"radius": {[2]uint64{2, 2}, 0.0013}, "direction": {[2]uint64{half, 1 << 62}, 0x1p-36}} {
		words := append(slices.Repeat([]uint64{half}, 5), c.disc[0], c.disc[1], half, half)
		seen := map[float64]bool{}
		for seed := range uint64(12) {
			seen[planesTwice(t, name, step, valuesOf([]float64{(0.5 - c.near) * step, 0, 0, 0}, 0), words, 160+seed)[0]] = true
		}
		if name == "radius" && len(seen) != 2 {
			t.Errorf("%s: always %v: the border does not lie within the unknown bits", name, seen)
		}
	}
}

// planesMass is the probabilities that noise of density prop. to e^(-rate max_j |z_j|) of two
// planes, around x, is rounded to integers within reach, index by index. As e^(-a s) is the
// integral of a e^(-a r) over r >= s, a probability is that of a e^(-a r) times the areas that the
// disc of radius r has in common with the two cells.
func planesMass(rate float64, x []float64, reach int) []float64 {
	const m, radii = 24, 400
	side := 2*reach + 1
	top := 1.5 * float64(reach+2) // beyond, cells lie in the disc
	areas := func(x []float64) [][]float64 {
		var rows [][]float64
		window(2, reach, func(_ int, k []float64) {
			row := make([]float64, radii+1)
			for i := range m {
				for j := range m {
					at := math.Hypot(k[0]-0.5+(float64(i)+0.5)/m-x[0], k[1]-0.5+(float64(j)+0.5)/m-x[1])
					// The part of the bin of radii that is above it counts by e^(-a r).
					bin := min(int(at/top*radii), radii)
					row[bin] += 1 / float64(m*m)
				}
			}
			rows = append(rows, row)
		})
		return rows
	}
	a, b := areas(x[:2]), areas(x[2:])
	norm := math.Pow(rate, 4) / (math.Pi * math.Pi * 24)
	mass := make([]float64, side*side*side*side)
	for i, p := range a {
		for j, q := range b {
			sum, sp, sq := 0.0, 0.0, 0.0
			for r := range radii + 1 { // e^(-a r) at the middle, of the larger of two radii
				sum += math.Exp(-rate*(float64(r)+0.5)/radii*top) * (p[r]*sq + sp*q[r] + p[r]*q[r])
				sp, sq = sp+p[r], sq+q[r]
			}
			mass[i+side*side*j] = norm * sum
		}
	}
	return mass
}

// Chi-square of the noise of two planes on a coarse lattice against the masses of its cells, and
// of three planes and ten by two functions: the norm has the distribution Gamma(d), and
// the square of another plane's share of it is uniform. At 1e-7 each.
func TestAddPlanes_Distribution(t *testing.T) {
	rng := random.Seeded(152)
	const rate, reach, step = 1.6, 2, 0x1p-3
	x := []float64{0.25, -0.45, 0, 0.1}
	mass, i := planesMass(rate, x, reach), -1
	for i := range x {
		x[i] *= step
	}
	chiSquareCells(t, 4, reach, 100_000, func([]float64) float64 { i++; return mass[i] }, func(k []float64) {
		Lattice{Step: step}.AddPlanes(k, rng, valuesOf(x, 0), rate/step)
		for i := range k {
			k[i] /= step
		}
	})

	for _, d := range []int{6, 20} {
		var norms, shares []float64
		y := make([]float64, d)
		for range 5000 {
			Lattice{Step: 0x1p-25}.AddPlanes(y, rng, valuesOf(make([]float64, d), 0), 1)
			norm := 0.0
			for i := 0; i < d; i += 2 {
				norm = max(norm, math.Hypot(y[i], y[i+1]))
			}
			norms = append(norms, mathext.GammaIncReg(float64(d), norm))
			if share := math.Hypot(y[d-2], y[d-1]) / norm; share < 1 {
				shares = append(shares, share*share)
			}
		}
		testkit.Uniform(t, "norm", norms)
		testkit.Uniform(t, "share", shares)
		if got, want := float64(len(shares))/5000, 1-2/float64(d); math.Abs(got-want) > 0.04 { // 5.3 deviations
			t.Errorf("d = %d: the last plane is not the largest in %v of all, want %v", d, got, want)
		}
	}
}

// For inputs that differ in one plane or both the masses that TestAddPlanes_Distribution finds
// in the draws differ by no more than e^(rate max_j |x_j - x'_j|), and nearly by as much.
func TestAddPlanes_PrivacyOfTheCells(t *testing.T) {
	const rate, reach = 0.9, 2
	inputs := [][]float64{{0, 0, 0, 0}, {0.75, 0, 0, 0}, {0.75, 0, 0.75, 0}, {-0.75, 0, 0.75, 0}, {0, 0.75, 0.5, -0.5}, {-1, 0, -1, 0}}
	tight := 0.0
	for _, x := range inputs {
		p := planesMass(rate, x, reach)
		for _, z := range inputs {
			q := planesMass(rate, z, reach)
			d := max(math.Hypot(x[0]-z[0], x[1]-z[1]), math.Hypot(x[2]-z[2], x[3]-z[3]))
			for k := range p {
				tight = max(tight, p[k]/q[k]/math.Exp(rate*d))
			}
		}
	}
	if tight > 1.005 || tight < 0.93 {
		t.Errorf("the largest ratio is %v of what is allowed", tight)
	}
}

// Points of discs are within the error that is stated, also at the edge, where cosines alone err.
func TestDiscs_Errors(t *testing.T) {
	rng := random.Seeded(152)
	for i := range testkit.Sweep(200, 5000) {
		s := shape{d: 4, p: 2, z: make([]float64, 4), us: make([]digits, 9)}
		for j := range s.us {
			s.us[j].word = rng.Uint64() | 1<<63
		}
		if i%2 == 0 { // at the edge
			s.us[5].word, s.us[7].word = math.MaxUint64, math.MaxUint64
		}
		abs := s.discDirection()
		refine(rng, s.us, func(u []Enclosure, prec uint) bool {
			for j := 0; j < s.d; j += 2 {
				r := u[5+j].sqrt(prec)
				cos, sin := cosSinTurn(u[6+j], prec)
				for c, want := range []Enclosure{r.mul(cos, prec), r.mul(sin, prec)} {
					lo, _ := want.Lo.Float64()
					hi, _ := want.Hi.Float64()
					if z := s.z[j+c]; !(max(hi-z, z-lo) <= abs) {
						t.Fatalf("draw %d, coordinate %d: %v, not within %v of [%v, %v]", i, j+c, z, abs, lo, hi)
					}
				}
			}
			return true
		})
	}
}
