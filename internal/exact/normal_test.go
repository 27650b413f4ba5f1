package exact

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// The layers have the same area exactly, do not overlap and cover the curve, and inner points
// lie below it: shown in interval arithmetic for every layer. They are the same on every platform.
func TestLayers_CoverTheCurve(t *testing.T) {
	const prec = 200
	curve := func(x interval) interval { return x.mul(x, prec).mul(point(-0.5), prec).exp(prec) }
	equal := func(a float64, b ...float64) bool {
		p := wide(1)
		for _, v := range b {
			p = times(p, wide(v))
		}
		return wide(a).Cmp(p) == 0
	}
	start := tailStart
	if !equal(layerArea, start, boxHeight) || !equal(layers[0].height, layerArea, start) {
		t.Error("the area is rounded")
	}
	if curve(point(start)).hi.Cmp(wide(layers[0].height)) > 0 {
		t.Error("the tail is not covered")
	}
	h := fnv.New64a()
	base, inner := 0.0, 0.0
	for i, b := range layers[1:] {
		top := base + b.height
		if b.base != base || b.height != math.Floor(b.height*0x1p52)*0x1p-52 || top > 2 {
			t.Errorf("box %d: base %v, height %v upon %v", i+1, b.base, b.height, base)
		}
		width := point(layerArea).quo(point(b.height), prec)
		full := b.height == boxHeight
		if b.height < boxHeight || curve(width).hi.Cmp(wide(base)) > 0 && !full {
			t.Errorf("box %d of width %v does not cover the curve", i+1, width.lo)
		}
		if gap := wide(0).Sub(width.lo, wide(b.unit*0x1p55)); gap.Abs(gap).Cmp(wide(b.unit*0x1p2)) > 0 {
			t.Errorf("box %d: width %v, want %v", i+1, b.unit*0x1p55, width.lo)
		}
		if in := width.mul(point(float64(b.inner)), prec).mul(point(0x1p-55), prec); b.inner > 1<<55 || b.inner > 0 && curve(in).lo.Cmp(wide(top)) < 0 {
			t.Errorf("box %d: inner points do not lie below the curve", i+1)
		}
		inner += float64(b.inner) * 0x1p-55 / normalLayers
		fmt.Fprintf(h, "%x %x %x ", b.inner, b.unit, b.height)
		base = top
	}
	if layers[0].inner != 0 || base < 1 || inner < 0.98 {
		t.Errorf("boxes up to %v, of which %v decide by one word", base, inner)
	}
	if h.Sum64() != 0xc7c2ac4a1eda21c0 {
		t.Errorf("the layers have changed: %#x", h.Sum64())
	}
}

// atBorders moves a word of a decision to its border, found by bisection, and calls near with
// the words around it. It tells whether there is a border.
func atBorders(lo, hi uint64, decide func(w uint64) bool, near func(w uint64)) bool {
	from := decide(lo)
	if from == decide(hi) {
		return false
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; decide(mid) == from {
			lo = mid
		} else {
			hi = mid
		}
	}
	near(lo)
	for off := uint64(1); off < 1<<42; off *= 8 {
		near(lo - min(off, lo-8))
		near(hi + min(off-1, math.MaxUint64-hi))
	}
	return true
}

// corners calls f for the ends of the cells of all words.
func corners(cells []interval, f func(u []interval)) {
	for k := range 1 << len(cells) {
		u := slices.Clone(cells)
		for i := range u {
			if k>>i&1 == 0 {
				u[i].hi = u[i].lo
			} else {
				u[i].lo = u[i].hi
			}
		}
		f(u)
	}
}

// Where float64 is sure that a variate is kept or not, it is so for all numbers that begin with
// its words, at the border found by bisection too: in boxes, where a word lies, and in the tail.
func TestNormal_AcceptsAtTheBorder(t *testing.T) {
	const prec = 200
	rng := random.Seeded(131)
	borders, tails := 0, 0
	for i := range testkit.Sweep(80, 800) {
		n := anyNormal(rng, i%4 == 0)
		if i%8 == 0 { // so far out that not much is known of it
			n.u.word = rng.Uint64() >> (16 + rng.IntN(10))
			n.set()
		}
		if i%2 == 1 { // near the curve
			n.u.word = n.u.word&511 | layers[n.u.word>>1%normalLayers].inner<<9 + rng.Uint64N(1<<55)
			if n.layer() == &layers[0] {
				continue
			}
			n.set()
		}
		sure := func(w uint64) {
			in, sure := n.accept(w)
			corners([]interval{n.cell(), cellOf(w)}, func(u []interval) {
				b := n.layer()
				x := n.enclose(u[0], prec)
				f := x.mul(x, prec).mul(point(-0.5), prec).exp(prec)
				y := u[1].mul(point(b.height), prec).add(point(b.base), prec)
				if n.tail { // under its own curve
					f = u[0].negLog(prec).add(x.mul(x, prec).mul(point(-0.5), prec), prec).exp(prec)
				}
				if sure && (in && y.hi.Cmp(f.lo) > 0 || !in && y.lo.Cmp(f.hi) < 0) {
					t.Fatalf("kept: %v, of tail %v, for all numbers of words %x and %x", in, n.tail, n.u.word, w)
				}
			})
		}
		if atBorders(64, math.MaxUint64-64, func(w uint64) bool { in, _ := n.accept(w); return in }, sure) {
			borders++
			if n.tail {
				tails++
			}
		}
	}
	if borders < 20 || tails < 10 {
		t.Errorf("%d borders, %d of the tail: the test shows little", borders, tails)
	}
}

// The same for the radius, in few dimensions and in many, far out and where t is near 0.
func TestEuclidean_AcceptsAtTheBorder(t *testing.T) {
	const prec = 300
	rng := random.Seeded(132)
	borders, sures := 0, 0
	for i := range testkit.Sweep(36, 600) {
		d := []int{3, 4, 7, 100, 300, 1 << 20}[i%6]
		s := &euclidean{z: make([]float64, d)}
		n := anyNormal(rng, i%2 == 0)
		if i%4 == 0 { // from -4 to 4 and beyond
			n.u.word = rng.Uint64() >> rng.IntN(26)
			n.set()
		}
		near := func(w uint64) {
			in, sure := s.accept(&n, w)
			if sure {
				sures++
			}
			corners([]interval{n.cell(), cellOf(w)}, func(u []interval) {
				x := n.enclose(u[0], prec)
				c := point(float64(9*(d+1))/2 - 3)
				b := x.quoSigned(c.sqrt(prec), prec)
				tt := b.add(point(1), prec)
				kept := false
				if tt.lo.Sign() > 0 {
					// -ln V > y, y from V's own definition: X^2/2 + D - D t^3 + D ln t^3 > ln V
					dd := c.quo(point(9), prec)
					cube := tt.mul(tt, prec).mul(tt, prec)
					y := x.mul(x, prec).mul(point(0.5), prec).add(dd, prec).add(dd.mul(cube, prec).neg(), prec).add(dd.mul(cube.log(prec), prec), prec)
					kept = u[1].log(prec).hi.Cmp(y.lo) < 0
				}
				if sure && in != kept {
					t.Fatalf("d = %d: kept %v for words %x and %x, of tail %v", d, in, n.u.word, w, n.tail)
				}
			})
		}
		near(rng.Uint64() | 8)
		if atBorders(64, math.MaxUint64-64, func(w uint64) bool { in, _ := s.accept(&n, w); return in }, near) {
			borders++
		}
	}
	if borders < 20 || sures < 100 {
		t.Errorf("%d borders, %d sure: the test shows little", borders, sures)
	}
}

func (a interval) quoSigned(b interval, prec uint) interval {
	return a.mul(point(1).quo(b, prec), prec)
}

// What float64 decides is what interval arithmetic decides, of the same words: on grids fine and
// coarse, in 3 to 300 dimensions, at the levels 1e-100 to 1e100.
func TestEuclidean_FastEqualsExact(t *testing.T) {
	for _, d := range []int{3, 300, 4, 100, 17}[:testkit.Sweep(2, 5)] {
		x := make([]float64, d)
		for _, rate := range []float64{1e-100, 1, 1e100} {
			for _, step := range []float64{0x1p-300, 0x1p-52, 0x1p-25, 0x1p-10, 1, 0x1p20, 0x1p300} {
				l := Lattice{step}
				if rate != 1 && step > 0x1p-300 && step < 0x1p300 {
					l.Step = math.Ldexp(step, -int(math.Log2(rate)))
				}
				if l.Step < 0x1p-300 || l.Step > 0x1p300 {
					continue
				}
				a, b := &counted{Source: random.Seeded(133)}, &counted{Source: random.Seeded(133)}
				ra, rb := rand.New(a), rand.New(b)
				for i := range x {
					x[i] = []float64{0.3, -7, 1 << 52, 1e-300, 1.5, 0, 2.25, -0.5, -1 << 52}[i%9] * l.Step
				}
				fast, slow := make([]float64, d), slices.Clone(x)
				for range testkit.Sweep(1, 5) {
					l.addEuclidean(fast, ra, x, rate, false)
					l.addEuclidean(slow, rb, x, rate, true)
					if !slices.Equal(fast, slow) || a.n != b.n {
						t.Fatalf("d = %d, rate %g, step %g: %v after %d words, exactly %v after %d", d, rate, l.Step, fast, a.n, slow, b.n)
					}
				}
			}
		}
	}
}

// The error of the variates is that of the least known one.
func TestEuclidean_LargestError(t *testing.T) {
	words := []uint64{1<<40 | 2, 1 << 40} // X, V
	for range 3 {
		words = append(words, 1<<40|2)
	}
	words = append(words, 0, 1<<40, 1<<10) // of the tail, e^-F, below the curve
	s := new(euclidean)
	s.draw(rand.New(&replay{words: words, rest: random.Seeded(138)}), 4, false)
	if s.err < 0x1p-42 || len(s.special) != 1 {
		t.Errorf("the error is %v", s.err)
	}
}

// On the grids that users have, float64 decides nearly all draws.
func TestEuclidean_DecidesNearlyAlways(t *testing.T) {
	rng := random.Seeded(134)
	s, x := new(euclidean), make([]float64, 100)
	open := 0
	for range 2000 {
		s.draw(rng, 100, false)
		if rad, rel, abs := s.noise(); !(Lattice{0x1p-20}).settle(x, x, s.z, rad, rel, abs) {
			open++
		}
	}
	if open > 1 { // some 100 * 2^-50 * 2^24 of each
		t.Errorf("%d of 2,000 draws undecided", open)
	}
}

// Chi-square of variates against the normal distribution, in cells within layers' widths and far
// into the tail: false-reject probability 1e-6.
func TestNormal_Distribution(t *testing.T) {
	rng := random.Seeded(135)
	var ends []float64
	for x := 0.0; x < 4.5; x += 0.03125 {
		ends = append(ends, x)
	}
	ends = append(ends, tailStart, layers[200].unit*0x1p55, layers[255].unit*0x1p55)
	slices.Sort(ends)
	n := len(ends)
	mass, count := make([]float64, 2*n), make([]int, 2*n)
	for i := range ends {
		mass[i] = math.Erfc(ends[i]/math.Sqrt2) / 2
		if i+1 < n {
			mass[i] -= math.Erfc(ends[i+1]/math.Sqrt2) / 2
		}
		mass[n+i] = mass[i]
	}
	for range testkit.Sweep(1_000_000, 20_000_000) {
		z := finishNormal(rng, rng.Uint64(), false).z
		i, ok := slices.BinarySearch(ends, math.Abs(z))
		if !ok {
			i--
		}
		if math.Signbit(z) {
			i += n
		}
		count[i]++
	}
	testkit.ChiSquare(t, count, mass, 1e-6)
}

// Half the square of the radius has the distribution Gamma((d+1)/2): false-reject
// probability 1e-7 for each.
func TestEuclidean_RadiusDistribution(t *testing.T) {
	rng := random.Seeded(136)
	for _, d := range []int{3, 4, 10, 100} {
		s := &euclidean{z: make([]float64, d)}
		var probs []float64
		for range 20_000 {
			s.drawRadius(rng, false)
			rad, _, _ := s.noise()
			probs = append(probs, mathext.GammaIncReg(float64(d+1)/2, rad*rad/2))
		}
		testkit.Uniform(t, fmt.Sprintf("d = %d", d), probs)
	}
}

// Where t may be 0 nothing is sure of the radius, and more bits tell.
func TestEuclidean_RadiusNearZero(t *testing.T) {
	s := &euclidean{z: make([]float64, 3), words: make([]uint64, 3)}
	lo, hi := uint64(0), uint64(1<<62) // words of a tail below 0
	n := normal{tail: true}
	for hi-lo > 1 {
		n.u.word = (lo+(hi-lo)/2)<<1 | 1
		if s.encloseT(n.enclose(n.cell(), 200), 200).lo.Sign() < 0 {
			lo = n.u.word >> 1
		} else {
			hi = n.u.word >> 1
		}
	}
	n.u.word = lo<<1 | 1
	n.set()
	_, sure := s.accept(&n, 1<<63)
	if _, rel, _ := s.noise(); sure || rel < inf {
		t.Errorf("t = %v within %v: sure %v, radius within %v", s.t, s.tErr, sure, rel)
	}
	s.x = n
	if _, ok := s.enclose([]interval{n.cell(), point(0.5), point(0.5), point(0.5)}, 200); ok {
		t.Error("the radius is enclosed")
	}
	// Kept with about the probability t^(c/3).
	if _, in := s.resolveRadius(random.Seeded(137), n, digits{word: 1 << 63}); in {
		t.Error("kept")
	}
}
