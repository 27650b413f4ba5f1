package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

var inf = math.Inf(1)

// latticeCase is a sampler of noise around x.
type latticeCase struct {
	name string
	d    int
	add  func(l Lattice, dst []float64, rng *rand.Rand, x []float64)
}

func (c latticeCase) draw(l Lattice, rng *rand.Rand, x []float64) []float64 {
	y := make([]float64, c.d)
	c.add(l, y, rng, x)
	return y
}

// latticeCases are all ways to make noise of rate 1, in so many of the dimensions.
func latticeCases(dims int) []latticeCase {
	cases := []latticeCase{{"laplace", 1, func(l Lattice, dst []float64, rng *rand.Rand, x []float64) {
		dst[0] = l.AddLaplace(rng, x[0], 1)
	}}}
	values := func(name string, d int, add func(Lattice, []float64, *rand.Rand, Values, float64)) {
		cases = append(cases, latticeCase{fmt.Sprintf("%s,d=%d", name, d), d, func(l Lattice, dst []float64, rng *rand.Rand, x []float64) {
			add(l, dst, rng, valuesOf(x, l.Step*0x1p-50), 1)
		}})
	}
	for _, d := range []int{1, 2, 3, 4, 9}[:dims] {
		for _, p := range []float64{1, 2, inf, 1.25, 3, 1e300} {
			if p > 1 || d < 3 { // else coordinate by coordinate
				cases = append(cases, latticeCase{fmt.Sprintf("p=%v,d=%d", p, d), d, func(l Lattice, dst []float64, rng *rand.Rand, x []float64) {
					l.AddKNorm(dst, rng, x, 1, p)
				}})
			}
		}
		values("laplaces", d, Lattice.AddLaplaces)
		values("differences", d, Lattice.AddDifferences)
		if d < 3 {
			values("planes", 2*d, Lattice.AddPlanes)
			cases = append(cases, latticeCase{fmt.Sprintf("normal,d=%d", d), d, func(l Lattice, dst []float64, rng *rand.Rand, x []float64) {
				l.AddNormal(dst, rng, x, 1)
			}})
		}
	}
	return cases
}

// The outcome and the number of words read are functions of the random bits
// alone, whichever way decides, on fine and coarse lattices.
func TestLattice_FastEqualsExact(t *testing.T) {
	for _, c := range latticeCases(testkit.Sweep(3, 5)) {
		for _, step := range []float64{0x1p-45, 0x1p-10, 0.5, 0x1p-30, 64}[:testkit.Sweep(3, 5)] {
			x := []float64{0.3 * step, -7 * step, 1 << 52 * step, 1e-300, 1.5 * step, 0, 2.25 * step, -0.5 * step, 7}[:c.d]
			fastEqualsExact(t, fmt.Sprintf("%s, step %g", c.name, step), 93, testkit.Sweep(3, 20), func(rng *rand.Rand, exact bool) []float64 {
				return c.draw(Lattice{step, exact}, rng, x)
			})
		}
	}
}

// Every word of a draw is moved to the border of two lattice points.
func TestLattice_DecidesAtTheBorder(t *testing.T) {
	const step = 0x1p-10
	rng := random.Seeded(94)
	borders := 0
	for _, c := range latticeCases(testkit.Sweep(3, 5)) {
		if c.d > testkit.Sweep(2, 4) && c.name != "p=2,d=3" && c.name != "planes,d=4" { // words play the same parts
			continue
		}
		x := make([]float64, c.d)
		for i := range x {
			x[i] = 0.37 * float64(i+1) * step
		}
		probe := &replay{rest: random.Seeded(95)}
		c.draw(Lattice{Step: step}, rand.New(probe), x)
		for word := range probe.next {
			words := make([]uint64, probe.next)
			for i := range words {
				words[i] = rng.Uint64()
			}
			if decidesAtTheBorder(t, c.name, words, word, 1<<54, testkit.Sweep(3, 5), func(rng *rand.Rand, exact bool) []float64 {
				return c.draw(Lattice{step, exact}, rng, x)
			}) {
				borders++
			}
		}
	}
	if borders < 20 {
		t.Errorf("%d borders: the test shows little", borders)
	}
}

// anyNormal is a variate of a box or of the tail, whether it is accepted or not.
func anyNormal(rng *rand.Rand, tail bool) normal {
	n := normal{tail: tail}
	for n.u.word = max(1<<10, shaped(rng)); !tail && n.layer() == &layers[0]; {
		n.u.word += 2
	}
	n.set()
	return n
}

// cell is the interval of the number of its word.
func (n *normal) cell() Enclosure {
	if n.tail {
		return cellOf(n.u.word)
	}
	u := uniform{nil, new(big.Int).SetUint64(n.u.word >> 9), 55}
	lo, hi := u.bounds()
	return Enclosure{lo, hi}
}

// Every stated error bound covers the whole cell of its words: enclosed in
// interval arithmetic, near 0, near 1 and between.
func TestLattice_ErrorBounds(t *testing.T) {
	rng := random.Seeded(103)
	worst := errorRatios{}
	see := func(name string, ratio float64) { worst.see(t, name, ratio) }
	for range 500 {
		w := shaped(rng)
		if w < 4 {
			continue // U may be 0
		}
		cell := cellOf(w)
		e, err := exponential(w)
		see("exponential", beyond(cell.negLog(200), e, err))
		cos, sin := cosSinTurn(cell, 200)
		c, s := cosSinFast(w)
		see("circle", max(beyond(cos, c, circleErr), beyond(sin, s, circleErr)))
	}
	for i := range 500 {
		n := anyNormal(rng, i%3 == 0)
		room := math.Abs(n.z) * 0x1p-52 // for two more roundings
		see(fmt.Sprintf("normals, tail %v", n.tail), beyond(n.enclose(n.cell(), 200), n.z, n.err-room))
	}
	s := new(shape)
	for _, d := range []int{2, 3, 13} {
		for _, p := range []float64{2, inf, 1.25, 3, 1e300} {
			draws := testkit.Sweep(4, 100)
			if p == 2 { // quick, and near the axes the error of the circle is all there is
				draws = 100
			}
			for range draws {
				var members []Enclosure
				member := func(cell Enclosure) {
					if rng.IntN(2) == 0 {
						cell.Hi = cell.Lo
					}
					members = append(members, Enclosure{cell.Hi, cell.Hi})
				}
				var z []float64
				var rad, rel, abs float64
				var enclosed []Enclosure
				var ok bool
				if p == 2 && d > 2 {
					e := new(euclidean)
					e.draw(rng, d, false)
					e.x = anyNormal(rng, rng.IntN(4) == 0)
					e.accept(&e.x, 0)
					member(e.x.cell())
					e.special = e.special[:0]
					for i := range e.z {
						n := anyNormal(rng, rng.IntN(4) == 0)
						e.z[i], e.err = n.z, max(e.err, n.err)
						e.special = append(e.special, special{i, n})
						member(n.cell())
					}
					rad, rel, abs = e.noise()
					enclosed, ok = e.enclose(members, 200)
					z = e.z
				} else {
					s.draw(rng, d, p, false)
					for i := range s.us {
						s.us[i] = digits{word: max(4, shaped(rng))}
						if i >= d && s.powers() {
							s.setLog(i-d, s.us[i].word)
						}
						member(cellOf(s.us[i].word))
					}
					rad, rel, abs = s.noise()
					enclosed, ok = s.enclose(members, 200)
					z = s.z
				}
				for i, v := range z {
					v = float64(v * rad)
					if err := float64(math.Abs(v)*(rel+0x1p-50)) + float64(rad*abs); ok && err < inf {
						see(fmt.Sprintf("noise, d=%d, p=%v", d, p), beyond(enclosed[i], v, err))
					}
				}
			}
		}
	}
	worst.check(t)
}

// The float64 sum of input and noise is rounded too: 2^45 + 0.402 to 2^45 +
// 0.3984, and an error of 0.1 then reaches across 2^45 + 0.5.
func TestNearest_CountsItsOwnRounding(t *testing.T) {
	for _, c := range []struct {
		x, z, err float64
		ok        bool
	}{{0.402, 0x1p45, 0.1, false}, {0.402, 0x1p45, 0.08, true}, {0.402, 0x1p52, 0, false}, {0.25, 0.25, 0, false}, {0.25, 0.2, 0.04, true}, {0, 0, inf, false}, {0, 0, math.NaN(), false}} {
		if _, ok := nearest(c.x, c.z, c.err); ok != c.ok {
			t.Errorf("%v + %v within %v: decided %v", c.x, c.z, c.err, ok)
		}
	}
}

func TestRoundHalfUp_Ends(t *testing.T) {
	const end = 1 << 53
	tiny := math.Ldexp(1, -1000)
	for _, c := range []struct{ t, z, want float64 }{
		{0, 0, 0}, {0.5, 0, 1}, {0.5, -tiny, 0}, {-0.5, 0, 0}, {-0.5, -tiny, -1}, {-0.5, tiny, 0},
		{tiny, 0.5, 1}, {-tiny, 0.5, 0}, {0x1p-100, 0.5, 1}, {-3, 0.25, -3}, {-3, 0.5, -2}, {-3, -0.75, -4},
		{1 << 52, 1 << 52, end}, {1 << 52, 1e300, end}, {-1 << 52, -1 << 52, -end}, {-1 << 52, -1 << 53, -end}, {0, -1e300, -end},
		{-1 << 52, -1<<52 + 1, 1 - end},
	} {
		if got := roundHalfUp(big.NewFloat(c.t), big.NewFloat(c.z)); got != c.want {
			t.Errorf("%v + %v: %v, want %v", c.t, c.z, got, c.want)
		}
	}
	z := new(big.Float).SetPrec(2000).Sub(big.NewFloat(0.5), big.NewFloat(tiny))
	if got := roundHalfUp(big.NewFloat(tiny), z); got != 1 {
		t.Errorf("2^-1000 + (1/2 - 2^-1000): %v, want 1", got)
	}
}

// cellMass is the probability that x + Z is rounded to k on the lattice of integers, Z of
// density prop. to e^(-rate ||z||_p), by the midpoint rule with m points an axis.
func cellMass(p, rate float64, x, k []float64, m int) float64 {
	d := float64(len(x))
	volume := math.Pow(2*math.Gamma(1+1/p), d) / math.Gamma(1+d/p) // of the unit ball
	var sum func(i int, norm float64) float64
	sum = func(i int, norm float64) float64 {
		if i == len(x) {
			if p < inf {
				norm = math.Pow(norm, 1/p)
			}
			return math.Exp(-rate * norm)
		}
		s := 0.0
		for j := range m {
			z := math.Abs(k[i] - 0.5 + (float64(j)+0.5)/float64(m) - x[i])
			if p < inf {
				s += sum(i+1, norm+math.Pow(z, p))
			} else {
				s += sum(i+1, max(norm, z))
			}
		}
		return s / float64(m)
	}
	return sum(0, 0) * math.Pow(rate, d) / (volume * math.Gamma(d+1))
}

// window calls f for the points of a cube of integers around 0.
func window(d, reach int, f func(i int, k []float64)) int {
	side := 2*reach + 1
	n := 1
	for range d {
		n *= side
	}
	k := make([]float64, d)
	for i := range n {
		for j, rest := 0, i; j < d; j++ {
			k[j] = float64(rest%side - reach)
			rest /= side
		}
		f(i, k)
	}
	return n
}

// chiSquareCells compares what draw sets, points of the lattice of integers, with the masses of the
// cells of a window: false-reject probability 1e-6.
func chiSquareCells(t *testing.T, d, reach, draws int, mass func(k []float64) float64, draw func(k []float64)) {
	t.Helper()
	var p []float64
	rest := 1.0
	n := window(d, reach, func(_ int, k []float64) {
		p = append(p, mass(k))
		rest -= p[len(p)-1]
	})
	count, k := make([]int, n+1), make([]float64, d)
	for range draws {
		draw(k)
		cell := 0
		for _, v := range slices.Backward(k) {
			if v != math.Round(v) {
				t.Fatalf("%v steps", k)
			}
			if math.Abs(v) > float64(reach) {
				cell = n
				break
			}
			cell = cell*(2*reach+1) + int(v) + reach
		}
		count[cell]++
	}
	testkit.ChiSquare(t, count, append(p, max(0, rest)), 1e-6)
}

// Chi-square of every kind of noise on a coarse lattice, around inputs on it and
// off it, against the masses of its cells.
func TestLattice_Distribution(t *testing.T) {
	rng := random.Seeded(97)
	const step = 0x1p-3
	for _, c := range []struct {
		p        float64
		x        []float64
		rate     float64
		reach, m int
	}{
		{1, []float64{0}, 0.5, 24, 400},
		{1, []float64{0.3}, 1.5, 10, 400},
		{1, []float64{-0.5, 0.1}, 0.9, 10, 16},
		{2, []float64{0, 0}, 1.2, 10, 16},
		{2, []float64{0.25, -0.45}, 0.6, 14, 16},
		{inf, []float64{0, 0}, 1.2, 10, 40},
		{inf, []float64{0.25, -0.45}, 0.6, 14, 30},
		{1.25, []float64{0.1, -0.45}, 0.9, 12, 16},
		{3, []float64{0, 0.5}, 0.9, 12, 16},
		{40, []float64{0.3, 0}, 0.9, 12, 16},
		{2, []float64{0.1, 0.2, -0.3}, 1.4, 6, 10},
		{inf, []float64{0.1, 0.2, -0.3}, 1.6, 6, 10},
	} {
		x := slices.Clone(c.x)
		for i := range x {
			x[i] = (x[i] + 1000) * step
		}
		t.Run(fmt.Sprintf("p=%v,x=%v", c.p, c.x), func(t *testing.T) {
			chiSquareCells(t, len(x), c.reach, testkit.Sweep(100_000, 200_000), func(k []float64) float64 { return cellMass(c.p, c.rate, c.x, k, c.m) }, func(k []float64) {
				Lattice{Step: step}.AddKNorm(k, rng, x, c.rate/step, c.p)
				for i := range k {
					k[i] = k[i]/step - 1000
				}
			})
		})
	}
}

// The noise of higher dimensions by two of its functions: the norm has the distribution Gamma(d),
// and a coordinate's share of it that of the ball. False-reject probability 1e-7 for each.
func TestLattice_DistributionOfManyDimensions(t *testing.T) {
	rng := random.Seeded(98)
	for _, d := range []int{3, 100, 2, 8, 12}[:testkit.Sweep(3, 5)] {
		for _, p := range []float64{2, inf, 1.25, 3} {
			x, y := make([]float64, d), make([]float64, d)
			var norms, shares []float64
			for range min(10_000, 400_000/d) {
				Lattice{Step: 0x1p-25}.AddKNorm(y, rng, x, 1, p)
				norm := floats.Norm(y, p)
				norms = append(norms, mathext.GammaIncReg(float64(d), norm))
				share := y[d-1] / norm
				if p < inf { // the p-th power is Beta(1/p, (d-1)/p)
					beta := mathext.RegIncBeta(1/p, float64(d-1)/p, min(1, math.Pow(math.Abs(share), p)))
					shares = append(shares, (1+math.Copysign(beta, share))/2)
				} else if math.Abs(share) < 1 {
					shares = append(shares, (1+share)/2)
				}
			}
			name := fmt.Sprintf("p=%v,d=%d", p, d)
			testkit.Uniform(t, name+": norm", norms)
			testkit.Uniform(t, name+": share", shares)
		}
	}
}

// Chi-square of normal noise in up to three coordinates.
func TestLattice_NormalDistribution(t *testing.T) {
	rng := random.Seeded(99)
	const sigma = 1.7
	below := func(x, k float64) float64 { return math.Erfc(-(k-x)/(sigma*math.Sqrt2)) / 2 }
	for d := 1; d <= 3; d++ {
		x := []float64{0.2, -0.4, 0}[:d]
		chiSquareCells(t, d, 8, 100_000, func(k []float64) float64 {
			p := 1.0
			for i, v := range k {
				p *= below(x[i], v+0.5) - below(x[i], v-0.5)
			}
			return p
		}, func(k []float64) { Lattice{Step: 1}.AddNormal(k, rng, x, sigma) })
	}
}

// The exact probabilities of the code on a lattice of rate*step = 0.6, found by bisection over the words: for all
// pairs of inputs on the lattice and off it, two of them 1e-12 apart, and all outputs of a window, the ratio is
// at most e^(rate |x-x'|). The guarantee holds of the bits, for the distance of the inputs themselves.
func TestLattice_PrivacyOfTheBits(t *testing.T) {
	const step, rate = 0.25, 2.4
	stream := func(words ...uint64) *rand.Rand {
		return rand.New(&replay{words: words, rest: random.Seeded(1)})
	}
	for name, add := range map[string]func(w uint64, x float64) float64{
		"laplace": func(w uint64, x float64) float64 {
			return Lattice{Step: step}.AddLaplace(stream(w), x, rate)
		},
		"laplaces": func(w uint64, x float64) float64 {
			y := make([]float64, 1)
			Lattice{Step: step}.AddLaplaces(y, stream(w), valuesOf([]float64{x}, 0x1p-60), rate)
			return y[0]
		},
		"differences": func(w uint64, x float64) float64 {
			y := make([]float64, 2) // the first is below, all bits being 1, or above
			Lattice{Step: step}.AddDifferences(y, stream(w&1-1, w&^1), valuesOf([]float64{0.1, 0.1 + x}, 0x1p-60), rate)
			return y[1]
		},
	} {
		t.Run(name, func(t *testing.T) { privacyOfTheBits(t, step, rate, add) })
	}
}

func privacyOfTheBits(t *testing.T, step, rate float64, add func(w uint64, x float64) float64) {
	const reach = 7
	inputs := []float64{0, step / 8, step / 2, step/2 + 1e-12, -0.3 * step, step, 2.49 * step, 2.51 * step, -3 * step}
	prob := make([][]float64, len(inputs))
	for i, x := range inputs {
		prob[i] = testkit.Masses(reach, func(w uint64) float64 { return add(w, x) / step })
	}
	tight := 0.0
	for i, p := range prob {
		for j, q := range prob {
			limit := math.Exp(rate * math.Abs(inputs[i]-inputs[j]))
			for k := range p {
				if ratio := p[k] / q[k]; !(ratio <= limit*(1+1e-13)) {
					t.Errorf("inputs %v and %v, output %d: ratio %v, at most %v", inputs[i], inputs[j], k-reach, ratio, limit)
				} else {
					tight = max(tight, ratio/limit)
				}
			}
		}
		want := 0.0
		for k := range p {
			want = cellMass(1, rate*step, []float64{inputs[i] / step}, []float64{float64(k - reach)}, 2000)
			if math.Abs(p[k]/want-1) > 1e-6 {
				t.Errorf("input %v, output %d: probability %v, want %v", inputs[i], k-reach, p[k], want)
			}
		}
	}
	if tight < 1-1e-9 {
		t.Errorf("the largest ratio is %v of what is allowed: the noise is too large", tight)
	}
}

// Outputs are multiples of the step, kept within 2^53 of them, whatever the rate, and there is one zero.
func TestLattice_Support(t *testing.T) {
	rng := random.Seeded(100)
	for _, step := range []float64{0x1p-400, 0x1p-10, 1, 0x1p400} {
		for _, rate := range []float64{1e-30, 1, 1e30} {
			l := Lattice{Step: step}
			for _, x := range []float64{0, 0.5, -1 << 52, 1 << 52, 1e-5, -0.2} {
				ends := 0
				for range 100 {
					k := l.AddLaplace(rng, x*step, rate/step) / step
					if k != math.Round(k) || math.Abs(k) > 1<<53 {
						t.Fatalf("step %g, rate %g, input %g: %v steps", step, rate, x, k)
					}
					if k == 0 && math.Signbit(k) {
						t.Fatalf("step %g, rate %g, input %g: -0", step, rate, x)
					}
					if math.Abs(k) == 1<<53 {
						ends++
					}
					if rate == 1e30 && math.Abs(k-x) > 0.5 {
						t.Fatalf("input %v becomes %v steps without noise", x, k)
					}
				}
				if (rate == 1e-30) != (ends == 100) {
					t.Errorf("step %g, rate %g, input %g: %d of 100 draws at an end", step, rate, x, ends)
				}
			}
		}
	}
	// Between two points noise too small to see goes either way: by the sign of the word.
	for sign, want := range []float64{1, 0} {
		s := &replay{words: []uint64{1<<62 | uint64(sign)}, rest: random.Seeded(1)}
		if k := (Lattice{Step: 1}).AddLaplace(rand.New(s), 0.5, 1e200); k != want {
			t.Errorf("0.5 with noise of sign %d becomes %v", sign, k)
		}
	}
}

// A word of zeros leaves the logarithm unbounded; the next bits bound it.
func TestLattice_ZeroWord(t *testing.T) {
	s := &replay{words: []uint64{0, 1 << 63}, rest: random.Seeded(1)} // U = 2^-64
	if k, want := (Lattice{Step: 1}).AddLaplace(rand.New(s), 0, 1), math.Round(64*math.Ln2); k != want || s.next != 2 {
		t.Errorf("U = 2^-64 gives %v after %d words, want %v", k, s.next, want)
	}
}

// Where a coordinate's direction is 0 as far as the words tell, its error remains: times the
// radius it reaches across the border, and float64 does not decide.
func TestLattice_DecidesNearZero(t *testing.T) {
	const half, step = 1 << 63, 0x1p-20
	for name, c := range map[string]struct {
		words []uint64
		near  float64 // how near to the border the input lies, in steps
		d     int
		p     float64
	}{
		"in space":     {[]uint64{1<<40 | 2, 1 << 40, 2, 1<<40 | 2, 1<<40 | 2}, 0x1p-40, 3, 2},
		"in the plane": {[]uint64{half, half, 1 << 62}, 0x1p-36, 2, 2},
		"cube":         {[]uint64{half, half, half, 2, half}, 0x1.8p-42, 2, inf},
	} {
		for seed := range uint64(8) {
			var y [2][]float64
			for k := range y {
				y[k] = make([]float64, c.d)
				y[k][0] = (0.5 - c.near) * step
				Lattice{step, k == 1}.AddKNorm(y[k], rand.New(&replay{words: c.words, rest: random.Seeded(142 + seed)}), y[k], 1, c.p)
			}
			if !slices.Equal(y[0], y[1]) {
				t.Errorf("%s: fast %v, exact %v", name, y[0], y[1])
			}
		}
	}
}

// The same in the plane and in space, for the masses that TestLattice_Distribution finds
// in the draws: all pairs of inputs of half a cell, all outputs of a window.
func TestLattice_PrivacyOfTheCells(t *testing.T) {
	for _, c := range []struct {
		p               float64
		d, reach, m     int
		rate, wantTight float64
	}{{1, 2, 4, 8, 0.7, 0.999}, {2, 2, 4, 8, 0.7, 0.95}, {inf, 2, 4, 8, 0.7, 0.95}, {3, 2, 4, 8, 0.7, 0.95}, {1.25, 2, 4, 8, 0.7, 0.95}, {2, 3, 2, 6, 1.3, 0.8}, {inf, 3, 2, 6, 1.3, 0.8}} {
		var inputs, mass [][]float64
		window(c.d, 1, func(_ int, h []float64) {
			x := slices.Clone(h)
			for i := range x {
				x[i] *= 0.75
			}
			var row []float64
			window(c.d, c.reach, func(_ int, k []float64) { row = append(row, cellMass(c.p, c.rate, x, k, c.m)) })
			inputs, mass = append(inputs, x), append(mass, row)
		})
		tight := 0.0
		for i, p := range mass {
			for j, q := range mass {
				norm := floats.Distance(inputs[i], inputs[j], c.p)
				for k := range p {
					tight = max(tight, p[k]/q[k]/math.Exp(c.rate*norm))
				}
			}
		}
		if tight > 1+1e-12 || tight < c.wantTight {
			t.Errorf("p = %v, d = %d: the largest ratio is %v of what is allowed", c.p, c.d, tight)
		}
	}
}
