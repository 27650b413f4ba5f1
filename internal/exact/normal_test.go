package exact

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// The layers have the same area exactly, do not overlap and cover the curve, and inner points
// lie below it: shown in interval arithmetic for every layer. They are the same on every platform.
func TestLayers_CoverTheCurve(t *testing.T) {
	const prec = 200
	curve := func(x Enclosure) Enclosure { return x.mul(x, prec).mul(point(-0.5), prec).exp(prec) }
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
	if curve(point(start)).Hi.Cmp(wide(layers[0].height)) > 0 {
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
		if b.height < boxHeight || curve(width).Hi.Cmp(wide(base)) > 0 && !full {
			t.Errorf("box %d of width %v does not cover the curve", i+1, width.Lo)
		}
		if gap := wide(0).Sub(width.Lo, wide(b.unit*0x1p55)); gap.Abs(gap).Cmp(wide(b.unit*0x1p2)) > 0 {
			t.Errorf("box %d: width %v, want %v", i+1, b.unit*0x1p55, width.Lo)
		}
		if in := width.mul(point(float64(b.inner)), prec).mul(point(0x1p-55), prec); b.inner > 1<<55 || b.inner > 0 && curve(in).Lo.Cmp(wide(top)) < 0 {
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
	if decide(lo) == decide(hi) {
		return false
	}
	lo, hi = border(lo, hi, 1, decide)
	near(lo)
	for off := uint64(1); off < 1<<42; off *= 8 {
		near(lo - min(off, lo-8))
		near(hi + min(off-1, math.MaxUint64-hi))
	}
	return true
}

// corners calls f for the ends of the cells of all words.
func corners(cells []Enclosure, f func(u []Enclosure)) {
	for k := range 1 << len(cells) {
		u := slices.Clone(cells)
		for i := range u {
			if k>>i&1 == 0 {
				u[i].Hi = u[i].Lo
			} else {
				u[i].Lo = u[i].Hi
			}
		}
		f(u)
	}
}

// heights is what is compared: a point uniform over the box, and the curve.
func (n *normal) heights(u []Enclosure, prec uint) (y, f Enclosure) {
	b, x := n.layer(), n.enclose(u[0], prec)
	y = u[1].mul(point(b.height), prec).add(point(b.base), prec)
	f = x.mul(x, prec).mul(point(-0.5), prec)
	if n.tail { // under its own curve
		f = f.add(u[0].negLog(prec), prec)
	}
	return y, f.exp(prec)
}

// radiusLogs is what is compared: ln V, and the limit below which X is kept, from V's own
// definition, X^2/2 + D - D t^3 + D ln t^3; ok = false where t may be 0 or less.
func (n *normal) radiusLogs(d int, u []Enclosure, prec uint) (v, limit Enclosure, ok bool) {
	x, c := n.enclose(u[0], prec), point(float64(9*(d+1))/2-3)
	t := x.mul(point(1).quo(c.sqrt(prec), prec), prec).add(point(1), prec)
	if t.Lo.Sign() <= 0 {
		return v, limit, false
	}
	dd, cube := c.quo(point(9), prec), t.mul(t, prec).mul(t, prec)
	limit = x.mul(x, prec).mul(point(0.5), prec).add(dd, prec).add(dd.mul(cube, prec).neg(), prec)
	return u[1].log(prec), limit.add(dd.mul(cube.log(prec), prec), prec), true
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
			corners([]Enclosure{n.cell(), cellOf(w)}, func(u []Enclosure) {
				if y, f := n.heights(u, prec); sure && (in && y.Hi.Cmp(f.Lo) > 0 || !in && y.Lo.Cmp(f.Hi) < 0) {
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
		if d <= 4 && i%4 > 1 { // t down to 2^-10
			x := math.Sqrt(s.cube()) * (1 - math.Exp(-2-4.9*rng.Float64()))
			n = normal{u: digits{word: uint64(math.Exp(-tailStart*(x-tailStart))*0x1p64) | 1}, tail: true}
			n.set()
		}
		near := func(w uint64) {
			in, sure := s.accept(&n, w)
			if sure {
				sures++
			}
			corners([]Enclosure{n.cell(), cellOf(w)}, func(u []Enclosure) {
				v, limit, ok := n.radiusLogs(d, u, prec)
				kept := ok && v.Hi.Cmp(limit.Lo) < 0
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

// What float64 decides is what interval arithmetic decides, of the same words: on grids fine and
// coarse, in 3 to 300 dimensions, at the levels 1e-100 to 1e100.
func TestEuclidean_FastEqualsExact(t *testing.T) {
	// A word of V about where X is kept or not: what float64 is not sure of is decided exactly.
	rng, s, unsure := random.Seeded(140), &euclidean{z: make([]float64, 3)}, 0
	for range 60 {
		n := normal{u: digits{word: rng.Uint64()}}
		if _, ok := inBox(n.u.word); !ok {
			continue
		}
		n.set()
		atBorders(64, math.MaxUint64-64, func(w uint64) bool { in, _ := s.accept(&n, w); return in }, func(w uint64) {
			if _, sure := s.accept(&n, w); !sure {
				unsure++
			}
			var kept [2]uint64
			for k := range kept {
				s.drawRadius(rand.New(&replay{words: []uint64{n.u.word, w}, rest: random.Seeded(141)}), k == 1)
				kept[k] = s.x.u.word
			}
			if kept[0] != kept[1] {
				t.Fatalf("words %x and %x: fast keeps %x, exact %x", n.u.word, w, kept[0], kept[1])
			}
		})
	}
	if unsure < 30 {
		t.Errorf("unsure of %d words", unsure)
	}

	seed := uint64(133)
	for _, d := range []int{3, 300, 4, 100, 17}[:testkit.Sweep(2, 5)] {
		x := make([]float64, d)
		for _, rate := range []float64{1e-100, 1, 1e100} {
			for _, step := range []float64{0x1p-300, 0x1p-52, 0x1p-25, 0x1p-10, 1, 0x1p20, 0x1p300} {
				l := Lattice{Step: step}
				if rate != 1 && step > 0x1p-300 && step < 0x1p300 {
					l.Step = math.Ldexp(step, -int(math.Log2(rate)))
				}
				if l.Step < 0x1p-300 || l.Step > 0x1p300 {
					continue
				}
				seed++
				for i := range x {
					x[i] = []float64{0.3, -7, 1 << 52, 1e-300, 1.5, 0, 2.25, -0.5, -1 << 52}[i%9] * l.Step
				}
				fastEqualsExact(t, fmt.Sprintf("d = %d, rate %g, step %g", d, rate, l.Step), seed, testkit.Sweep(1, 5), func(rng *rand.Rand, exact bool) []float64 {
					y := slices.Clone(x)
					Lattice{l.Step, exact}.addEuclidean(y, rng, x, rate)
					return y
				})
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
		if rad, rel, abs := s.noise(); !(Lattice{Step: 0x1p-20}).settle(x, x, s.z, rad, rel, abs) {
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

// Where t may be 0 nothing is sure of the radius, and more bits tell.
func TestEuclidean_RadiusNearZero(t *testing.T) {
	s := &euclidean{z: make([]float64, 3), words: make([]uint64, 3)}
	n := normal{tail: true}
	lo, _ := border(2, 1<<62, 1, func(w uint64) bool { // words of a tail below 0
		n.u.word = w<<1 | 1
		return s.encloseT(n.enclose(n.cell(), 200), 200).Lo.Sign() < 0
	})
	n.u.word = lo<<1 | 1
	n.set()
	_, sure := s.accept(&n, 1<<63)
	if _, rel, _ := s.noise(); sure || rel < inf {
		t.Errorf("t = %v within %v: sure %v, radius within %v", s.t, s.tErr, sure, rel)
	}
	s.x = n
	if _, ok := s.enclose([]Enclosure{n.cell(), point(0.5), point(0.5), point(0.5)}, 200); ok {
		t.Error("the radius is enclosed")
	}
	// Kept with about the probability t^(c/3).
	if _, in := s.resolveRadius(random.Seeded(137), n, digits{word: 1 << 63}); in {
		t.Error("kept")
	}
}

// A point in the lowest cell of the tail's height may lie below the curve, however low that is.
func TestNormal_LowestCell(t *testing.T) {
	n := normal{u: digits{word: 1 << 22}, tail: true}
	n.set()
	y, f := n.heights([]Enclosure{n.cell(), cellOf(0)}, 200)
	if in, sure := n.accept(0); sure || y.Lo.Cmp(f.Hi) >= 0 || y.Hi.Cmp(f.Lo) <= 0 {
		t.Errorf("kept %v, sure %v", in, sure)
	}
}

// Where 1-y is halfway between float64s and a word, too, the squeeze does not keep what y does not.
func TestEuclidean_SqueezeAtATie(t *testing.T) {
	const d, word = 1 << 20, (1<<63 - 1536) << 1
	s := &euclidean{z: make([]float64, d)}
	n := normal{z: math.Pow(1.4997*0x1p-53*12*s.cube(), 0.25), err: normalErr}
	x := point(n.z)
	tt := s.encloseT(x, 300)
	y := tt.mul(tt, 300).mul(tt, 300).add(point(-1), 300).add(tt.log(300).mul(point(-3), 300), 300).mul(point(s.cube()), 300)
	y = y.mul(point(1).quo(point(9), 300), 300).add(x.mul(x, 300).mul(point(-0.5), 300), 300)
	if in, sure := s.accept(&n, word); sure || cellOf(word).negLog(300).Lo.Cmp(y.Hi) > 0 {
		t.Errorf("kept %v, sure %v, y = %v", in, sure, y.Lo)
	}
}

// Where the bits of words do not decide, further ones are read of the same numbers: no bit serves
// twice, none is left out, and what is kept goes with the variate.
func TestNormal_ReadsOn(t *testing.T) {
	const prec = 300
	rng := random.Seeded(139)
	more := func(cell Enclosure, bits uint, num *big.Int, next uint64) (Enclosure, *big.Int) {
		num = new(big.Int).Or(new(big.Int).Lsh(num, 64), new(big.Int).SetUint64(next))
		lo, hi := (&uniform{nil, num, bits + 64}).bounds()
		return Enclosure{lo, hi}, num
	}
	open := map[string]int{}
	for i := range testkit.Sweep(16, 400) {
		n := anyNormal(rng, i%2 == 0)
		radius, d := i%4 > 1, []int{3, 20}[i/4%2]
		s := &euclidean{z: make([]float64, d), words: make([]uint64, d)}
		if n.tail {
			n.u.word |= 1 << 60
			n.set()
		} else if !radius { // near the curve
			n.u.word = n.u.word&511 | min(1<<55-1, layers[n.u.word>>1%normalLayers].inner+rng.Uint64N(1<<50))<<9
			n.set()
		}
		bits, num := uint(55), new(big.Int).SetUint64(n.u.word>>9)
		if n.tail {
			bits, num = 63, new(big.Int).SetUint64(n.u.word>>1)
		}
		kept := func(u []Enclosure) (in, sure bool) {
			a, b := n.heights(u, prec)
			if radius {
				var ok bool
				if a, b, ok = n.radiusLogs(d, u, prec); !ok {
					return false, true
				}
			}
			return a.Hi.Cmp(b.Lo) < 0, a.Hi.Cmp(b.Lo) < 0 || a.Lo.Cmp(b.Hi) > 0
		}
		middle := func(a Enclosure) Enclosure {
			m := wide(0).Add(a.Lo, a.Hi)
			m.SetMantExp(m, -1)
			return Enclosure{m, m}
		}
		atBorders(64, math.MaxUint64-64, func(w uint64) bool {
			in, _ := kept([]Enclosure{middle(n.cell()), middle(cellOf(w))})
			return in
		}, func(w uint64) {
			src := &replay{words: []uint64{rng.Uint64(), rng.Uint64()}, rest: random.Seeded(140)}
			u, uNum := more(n.cell(), bits, num, src.words[0])
			v, _ := more(cellOf(w), 63, new(big.Int).SetUint64(w>>1), src.words[1])
			want, sure := kept([]Enclosure{u, v})
			if !sure {
				return
			}
			resolve := n.resolve
			if radius {
				resolve = func(rng *rand.Rand, v digits) (normal, bool) { return s.resolveRadius(rng, n, v) }
			}
			got, in := resolve(rand.New(src), digits{word: w})
			if src.next == 0 {
				return
			}
			open[fmt.Sprint(n.tail, radius)]++
			if in != want || src.next == 2 && (got.u.more == nil || got.u.more.num.Cmp(uNum) != 0) {
				t.Fatalf("tail %v, radius %v, words %x and %x: kept %v after %d more, with %v", n.tail, radius, n.u.word, w, in, src.next, got.u)
			}
			if s.words[0] = n.u.word; in && !radius && !n.tail && src.next == 2 {
				s.special = nil
				s.finish(rand.New(&replay{words: []uint64{w, src.words[0], src.words[1]}, rest: random.Seeded(141)}), 0, false)
				if m := s.normal(0).u.more; m == nil || m.num.Cmp(uNum) != 0 {
					t.Fatalf("word %x: coordinate 0 has lost its bits", n.u.word)
				}
			}
		})
	}
	for _, tail := range []bool{true, false} {
		for _, radius := range []bool{true, false} {
			if k := open[fmt.Sprint(tail, radius)]; k < 2 {
				t.Errorf("tail %v, radius %v: only %d draws are open", tail, radius, k)
			}
		}
	}
}
