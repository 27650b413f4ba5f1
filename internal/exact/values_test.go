package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// valuesOf are the numbers x (1 + 2^-70), which Near is off by err/2.
func valuesOf(x []float64, err float64) Values {
	v := Values{Err: err}
	for _, x := range x {
		v.Near = append(v.Near, DD{x, x * 0x1p-70}.AddFloat(err/2))
	}
	v.Enclose = func(i int, prec uint) Enclosure {
		y := new(big.Float).SetPrec(4000).SetFloat64(x[i])
		y.Add(y, new(big.Float).SetMantExp(y, -70))
		return Enclosure{down(prec).Set(y), up(prec).Set(y)}
	}
	return v
}

// Where the near numbers do not decide, or are not known at all, the exact ones do: the
// outcome of a draw is the same, whatever is known before.
func TestValues_AreDecidedExactly(t *testing.T) {
	rng := random.Seeded(201)
	for trial := range uint64(testkit.Sweep(100, 2000)) {
		k := 1 + rng.IntN(6)
		x := make([]float64, k)
		for i := range x {
			x[i] = math.Ldexp(rng.Float64(), -rng.IntN(60))
		}
		l := Lattice{Step: math.Ldexp(1, -rng.IntN(53))}
		rate := math.Exp(10 * rng.NormFloat64())
		for decided, add := range []func(Lattice, []float64, *rand.Rand, Values, float64){Lattice.AddLaplaces, Lattice.AddDifferences} {
			if decided >= k {
				continue
			}
			var want float64
			for _, err := range []float64{0x1p-65, 0x1p-20, 1, inf} {
				v := valuesOf(x, min(err, 1))
				v.Err = err
				y := make([]float64, k)
				add(l, y, random.Seeded(trial), v, rate)
				// Where bits are drawn for this number, the next ones have others.
				if got := y[decided]; err == 0x1p-65 {
					want = got
				} else if got != want {
					t.Fatalf("trial %d: %v where numbers are known within %v, %v within 2^-65", trial, got, err, want)
				}
			}
		}
	}
}

// The bound on the error of a sum in float64 covers the cells of its words, whatever the
// terms, and near numbers that are off by all of Err.
func TestValues_ErrorBound(t *testing.T) {
	rng := random.Seeded(205)
	worst := 0.0
	for range testkit.Sweep(1000, 20_000) {
		l := Lattice{Step: math.Ldexp(1, -rng.IntN(53))}
		rate := math.Exp(10*rng.NormFloat64()) / l.Step
		x := []float64{rng.Float64(), math.Ldexp(rng.Float64(), -rng.IntN(60))}
		v := valuesOf(x, 0)
		if v.Err = 0; rng.IntN(4) > 0 {
			v.Err = l.Step*math.Ldexp(1, -rng.IntN(60)) + 0x1p-100
		}
		terms := make([]noisy, 1+rng.IntN(2))
		var cells []Enclosure
		for i := range terms {
			terms[i] = noisy{i, float64(rng.IntN(3) - 1), digits{word: max(4, shaped(rng))}}
			cells = append(cells, cellOf(terms[i].u.word))
			v.Near[i] = v.Near[i].AddFloat(v.Err * float64(1-2*i) * (1 - 0x1p-50))
		}
		want := l.encloseNoisy(&v, rate, terms, cells, 300)
		var b *noisy
		if len(terms) == 2 {
			b = &terms[1]
		}
		at, z, err := l.sumNoisy(&v, rate, terms[0], b)
		if !(err < 0x1p40) {
			continue // nothing is decided
		}
		sum := point(at/l.Step).add(point(z), 300)
		off, _ := new(big.Float).Sub(sum.Lo, want.Lo).Float64()
		more, _ := new(big.Float).Sub(want.Hi, sum.Lo).Float64()
		if worst = max(worst, off/err, more/err); !(worst <= 1) {
			t.Fatalf("%+v on %v: off by %v or %v, within %v", terms, l, off, more, err)
		}
	}
	if worst < 0.9 {
		t.Errorf("the bound is never nearer than %v times the error", 1/worst)
	}
}

// Bits that are drawn to decide one difference are those of the next one: where both of two
// equal values come to a border in the cell of the first variate, both pass it or none.
func TestValues_KeepBits(t *testing.T) {
	l := Lattice{0.25, true}
	v := valuesOf([]float64{0, 0.3, 0.3}, 0x1p-80)
	round := func(i int, b *noisy, rng *rand.Rand) float64 {
		return l.roundNoisy(rng, &v, 1.5, noisy{i, 0, digits{word: 1 << 63}}, b)
	}
	at := func(n uint64) float64 { return round(1, &noisy{0, 1, digits{word: n << 1}}, rand.New(new(fixed))) }
	lo, hi := uint64(1)<<60, uint64(1)<<63-1
	if at(lo) == at(hi) {
		t.Fatal("no border")
	}
	lo, _ = border(lo, hi, 1, at)
	passed := 0
	for seed := range uint64(100) {
		rng, b := random.Seeded(seed), &noisy{0, 1, digits{word: lo << 1}}
		y, z := round(1, b, rng), round(2, b, rng)
		if y != z {
			t.Fatalf("seed %d: %v and %v of one variate", seed, y, z)
		}
		if y != at(lo) {
			passed++
		}
	}
	if passed == 0 || passed == 100 {
		t.Errorf("%d of 100 pass the border: it is in no cell", passed)
	}
}

// All choices of a median and of those above it are equally likely, at a false-reject
// probability of 1e-7 a case.
func TestSides_AreUniform(t *testing.T) {
	rng := random.Seeded(202)
	for k, choices := range map[int]int{1: 1, 2: 2, 3: 6, 4: 12, 5: 30} {
		count := map[string]int{}
		for range 30_000 {
			s := NewSides(k)
			drawn, above, medians := "", 0, 0
			for range k {
				switch side := s.Next(rng); {
				case side > 0:
					above++
					drawn += "+"
				case side < 0:
					drawn += "-"
				default:
					medians++
					drawn += "0"
				}
			}
			if above != k/2 || medians != 1 {
				t.Fatalf("%s: %d medians and %d above", drawn, medians, above)
			}
			count[drawn]++
		}
		var n []int
		var p []float64
		for _, c := range count {
			n, p = append(n, c), append(p, 1/float64(choices))
		}
		if len(n) != choices {
			t.Fatalf("%d coordinates: %d choices, want %d", k, len(n), choices)
		}
		testkit.ChiSquare(t, n, p, 1e-7)
	}
}

// Chi-square of differences on a coarse lattice against integrals of the density prop. to e^(-rate
// s), s the sum of distances from a median: for k coordinates the density is rate^(k-1) over k
// times the number of (k/2)-subsets of the others.
func TestAddDifferences_Distribution(t *testing.T) {
	rng := random.Seeded(203)
	for _, c := range []struct {
		v        []float64 // in steps
		rate     float64   // a step
		reach, m int
		choices  float64
	}{
		{[]float64{0.4, 0.1}, 0.9, 12, 400, 2},
		{[]float64{0.25, 0, 0.7}, 0.8, 9, 40, 6},
		{[]float64{0.1, 0.7, 0.2, 0.5}, 0.9, 5, 10, 12},
	} {
		const step = 0.125
		k := len(c.v)
		x := make([]float64, k)
		for i := range x {
			x[i] = c.v[i] * step
		}
		v := valuesOf(x, 0x1p-60)
		y := make([]float64, k)
		chiSquareCells(t, k-1, c.reach, 100_000, func(cell []float64) float64 {
			z := make([]float64, k)
			var sum func(i int) float64
			sum = func(i int) float64 {
				if i == k {
					least := inf // a median is one of the numbers
					for _, at := range z {
						s := 0.0
						for _, y := range z {
							s += math.Abs(y - at)
						}
						least = min(least, s)
					}
					return math.Exp(-c.rate * least)
				}
				s := 0.0
				for j := range c.m {
					z[i] = cell[i-1] - 0.5 + (float64(j)+0.5)/float64(c.m) - c.v[i] + c.v[0]
					s += sum(i + 1)
				}
				return s / float64(c.m)
			}
			return sum(1) * math.Pow(c.rate, float64(k-1)) / c.choices
		}, func(cell []float64) {
			Lattice{Step: step}.AddDifferences(y, rng, v, c.rate/step)
			if y[0] != 0 {
				t.Fatal(y)
			}
			for i := range cell {
				cell[i] = y[i+1] / step
			}
		})
	}
}

// Quotients of double-doubles and of sums against rational numbers.
func TestQuo_ErrorBound(t *testing.T) {
	rng := random.Seeded(204)
	exactly := func(x DD) *big.Rat {
		hi, lo := new(big.Rat).SetFloat64(x.Hi), new(big.Rat).SetFloat64(x.Lo)
		return hi.Add(hi, lo)
	}
	for range testkit.Sweep(4000, 200_000) {
		b := DD{math.Ldexp(1+rng.Float64(), rng.IntN(1500)-500), 0}
		b = b.AddFloat(b.Hi * 0x1p-53 * (rng.Float64() - 0.5))
		a := DD{b.Hi * rng.Float64(), 0}
		a.Hi = math.Ldexp(a.Hi, -rng.IntN(3)*rng.IntN(500))
		a = a.AddFloat(a.Hi * 0x1p-53 * (rng.Float64() - 0.5))
		want := exactly(a)
		want.Quo(want, exactly(b))
		off := exactly(a.Quo(b))
		off.Sub(off, want)
		err, _ := off.Float64()
		size, _ := want.Float64()
		if size < 0x1p-400 && math.Abs(err) < 0x1p-500 {
			continue
		}
		if math.Abs(err) > size*0x1p-101 {
			t.Fatalf("%v/%v errs by %v of %v", a, b, err, size)
		}
	}
	x := []float64{5e-324, 1e308, 1e308, 1, 0, 3e-300}
	want := new(big.Rat)
	for _, x := range x {
		want.Add(want, new(big.Rat).SetFloat64(x))
	}
	if got, _ := BigSum(x).Rat(nil); got.Cmp(want) != 0 {
		t.Errorf("sum %v, want %v", got, want)
	}
	third := Share([]float64{5e-324}, BigSum([]float64{5e-324, 1e-323}), 100)
	lo, _ := third.Lo.Rat(nil)
	hi, _ := third.Hi.Rat(nil)
	if r := big.NewRat(1, 3); lo.Cmp(r) >= 0 || hi.Cmp(r) <= 0 || hi.Sub(hi, lo).Cmp(big.NewRat(1, 1<<62)) > 0 {
		t.Errorf("1/3 in %v", third)
	}
}
