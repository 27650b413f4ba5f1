package lattice

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/big"
	"math/cmplx"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// law is the exact distribution of the sum, by convolution in big floats.
func law(parts []Part) map[int64]*big.Float {
	cur := map[int64]*big.Float{0: big.NewFloat(1).SetPrec(300)}
	for _, p := range parts {
		for range p.Count {
			next := map[int64]*big.Float{}
			for s, v := range cur {
				for i, a := range p.At {
					w := new(big.Float).SetPrec(300).Mul(v, new(big.Float).SetFloat64(p.Mass[i]))
					if next[s+a] == nil {
						next[s+a] = w
					} else {
						next[s+a].Add(next[s+a], w)
					}
				}
			}
			cur = next
		}
	}
	return cur
}

func logOf(x *big.Float) float64 {
	if x.Sign() <= 0 {
		return math.Inf(-1)
	}
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	return math.Log(f) + float64(e)*math.Ln2
}

func expect(l map[int64]*big.Float, v func(s int64) float64) float64 {
	sum := new(big.Float).SetPrec(300)
	for s, p := range l {
		if w := v(s); w > 0 {
			sum.Add(sum, new(big.Float).SetPrec(300).Mul(p, new(big.Float).SetFloat64(w)))
		}
	}
	return logOf(sum)
}

// Both ends of every question hold, whatever the parts, at and next to the threshold
// that the sum was made for; and they are close where it is not below the mean.
func TestSum_AgainstConvolution(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(1)
	close := 0
	for range testkit.Sweep(30, 60) {
		var parts []Part
		for range 1 + r.IntN(3) {
			p := Part{Count: int64(r.IntN(25))}
			total := 0.0
			for range 2 + r.IntN(3) {
				p.At = append(p.At, int64(r.IntN(15)-7))
				p.Mass = append(p.Mass, r.ExpFloat64()+1e-6)
				total += p.Mass[len(p.Mass)-1]
			}
			for i := range p.Mass {
				p.Mass[i] /= total
			}
			parts = append(parts, p)
		}
		l := law(parts)
		lo, hi := slices.Min(slices.Collect(maps.Keys(l))), slices.Max(slices.Collect(maps.Keys(l)))
		mean, _ := Moments(parts, 0)
		for range 10 {
			made := lo + r.Int64N(hi-lo+3)
			s := testkit.Must(New(t.Context(), parts, made))
			for _, at := range []int64{made, made - 1, made + 2, made + s.length} {
				check := func(name string, b Bound, v func(s int64) float64) {
					exact := expect(l, v)
					if exact < b.Lo-1e-12 || exact > b.Hi+1e-12 {
						t.Fatalf("%s at %d of [%d, %d]: %v is not in %v", name, at, lo, hi, exact, b)
					}
					if float64(at) >= mean && at < hi-3 && at == made && !math.IsInf(exact, -1) {
						if close++; b.Hi-b.Lo > 1e-6 && (name != "mass" || b.Hi-b.Lo > 0.1) { // one value may be far rarer than the tail
							t.Errorf("%s at %d of [%d, %d]: %v is wide, for %v", name, at, lo, hi, b, exact)
						}
					}
				}
				check("tail", s.Tail(at), func(s int64) float64 {
					if s >= at {
						return 1
					}
					return 0
				})
				check("mass", s.At(at), func(s int64) float64 {
					if s == at {
						return 1
					}
					return 0
				})
				check("excess", s.Excess(at), func(s int64) float64 { return float64(s - at) })
				check("hockey", s.Hockey(at, .3), func(s int64) float64 { return -math.Expm1(-.3 * float64(s-at)) })
			}
		}
	}
	if close < testkit.Sweep(250, 500) {
		t.Errorf("%d questions judged", close)
	}
}

// A binomial's tail is a beta function; down to 1e-290.
func TestSum_Binomial(t *testing.T) {
	for _, c := range []struct {
		n int64
		p float64
	}{{10, .3}, {1000, .01}, {1e5, .5}, {1e7, 1e-4}} {
		parts := []Part{{Count: c.n, At: []int64{0, 1}, Mass: []float64{1 - c.p, c.p}, Err: 0x1p-53}}
		mean, deviation := Moments(parts, 0)
		for _, z := range []float64{0, 1, 3, 8, 20, 35} {
			at := int64(math.Ceil(mean + z*deviation))
			if at > c.n || at < 1 {
				continue
			}
			want := mathext.RegIncBeta(float64(at), float64(c.n-at+1), c.p)
			if want < 1e-290 {
				continue
			}
			b := testkit.Must(New(t.Context(), parts, at)).Tail(at)
			if log := math.Log(want); log < b.Lo-1e-8*(1+math.Abs(log)) || log > b.Hi+1e-8*(1+math.Abs(log)) || b.Hi-b.Lo > 1e-5 {
				t.Errorf("P(Bin(%d, %v) >= %d): %v, want %v", c.n, c.p, at, b, log)
			}
		}
	}
}

// Of 10^9 terms, against the sum of the probabilities in 30 digits: gonum's beta
// function is off by 2e-6 there.
func TestSum_ManyTerms(t *testing.T) {
	const at, want = 200037948, -6.607562223938234769
	p := 0.2
	b := testkit.Must(New(t.Context(), []Part{{Count: 1e9, At: []int64{0, 1}, Mass: []float64{1 - p, p}, Err: 0x1p-53}}, at)).Tail(at)
	if want < b.Lo || want > b.Hi || b.Hi-b.Lo > 1e-5 {
		t.Errorf("%v, want %v", b, want)
	}
}

// Masses that are off by Err move the ends by that for every term.
func TestSum_ErrWidens(t *testing.T) {
	part := Part{Count: 1000, At: []int64{0, 1}, Mass: []float64{.9, .1}}
	narrow := testkit.Must(New(t.Context(), []Part{part}, 150)).Tail(150)
	part.Err = 1e-6
	wide := testkit.Must(New(t.Context(), []Part{part}, 150)).Tail(150)
	if wide.Hi-narrow.Hi < 1e-3 || narrow.Lo-wide.Lo < 1e-3 {
		t.Errorf("%v and %v", narrow, wide)
	}
}

// Blocks of frequencies are looked through after the falling part, and end too.
func TestSum_Canceled(t *testing.T) {
	parts := []Part{{Count: 10, At: []int64{0, 5}, Mass: []float64{.5, .5}}}
	for looks := range int64(2) {
		if _, err := New(testkit.Looking(looks), parts, 20); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled at look %d: %v", looks, err)
		}
	}
}

// What scan leaves out is at most rest, for short periods, in which no other block
// hides what one block lacks.
func TestScan_RestIsAboveWhatIsLeftOut(t *testing.T) {
	r := random.Seeded(3)
	left := 0
	for trial := range 4000 {
		s := &Sum{tilt: 0.1, length: 16 << (trial % 4)}
		for range 1 + r.IntN(2) {
			p := Part{Count: 1 + r.Int64N(400)}
			for range 2 + r.IntN(3) {
				p.At, p.Mass = append(p.At, r.Int64N(15)-7), append(p.Mass, r.Float64())
			}
			s.width = max(s.width, slices.Max(p.At)-slices.Min(p.At))
			s.add(p)
		}
		s.buffer = make([]complex128, len(s.parts))
		testkit.Check(t, s.scan(t.Context()))
		kept := map[int64]bool{}
		for _, w := range s.waves {
			kept[w.j] = true
		}
		sum := 0.0
		for j := range s.length/2 + 1 {
			if kept[j] {
				continue
			}
			log := 0.0
			for i, f := range s.transforms(j) {
				log += float64(s.parts[i].count) * math.Log(math.Hypot(real(f), imag(f)))
			}
			one := 2.0
			if 2*j == s.length {
				one = 1
			}
			sum += one * math.Exp(log)
		}
		if sum > 0 && s.rest < 1 {
			left++
		}
		if !(s.rest >= sum*(1-1e-9)) {
			t.Fatalf("trial %d: %v left out of a period of %d, rest %v", trial, sum, s.length, s.rest)
		}
	}
	if left < 1000 {
		t.Errorf("only %d sums leave something out", left)
	}
}

// Transforms by tables of turns are those by sines and cosines of every angle.
func TestTransforms_TablesAreNoFartherOff(t *testing.T) {
	p := Part{Count: 3}
	for a := range int64(100) {
		p.At, p.Mass = append(p.At, 7*a-300), append(p.Mass, 0.01)
	}
	s := testkit.Must(New(t.Context(), []Part{p}, 400))
	if len(s.fine) == 0 {
		t.Fatal("there are no tables")
	}
	angles := *s
	angles.fine, angles.buffer = nil, make([]complex128, 1)
	for j := range s.length {
		if d := cmplx.Abs(s.transforms(j)[0] - angles.transforms(j)[0]); d > 2*partErr(1) {
			t.Fatalf("frequency %d: %v off", j, d)
		}
	}
}

// What may lie beyond the period lowers the lower end, by no less than it can weigh: v
// e^(-tilt s) is at most 1, and s e^(-tilt s) at most 1/(e tilt).
func TestSum_OutsideLowersTheLowerEnd(t *testing.T) {
	parts := []Part{{Count: 100, At: []int64{0, 1}, Mass: []float64{.7, .3}}}
	for name, q := range map[string]struct {
		ask  func(s *Sum) Bound
		most func(tilt float64) float64
	}{
		"tail":   {func(s *Sum) Bound { return s.Tail(40) }, func(float64) float64 { return 1 }},
		"mass":   {func(s *Sum) Bound { return s.At(40) }, func(float64) float64 { return 1 }},
		"hockey": {func(s *Sum) Bound { return s.Hockey(40, .3) }, func(float64) float64 { return 1 }},
		"excess": {func(s *Sum) Bound { return s.Excess(40) }, func(tilt float64) float64 { return 1 / (math.E * tilt) }},
	} {
		s := testkit.Must(New(t.Context(), parts, 40))
		const outside = 1e-3
		before := q.ask(s)
		s.outside = outside
		after := q.ask(s)
		less := math.Exp(before.Lo) - math.Exp(after.Lo)
		if least := 2 * outside * q.most(s.tilt) * math.Exp(s.log-float64(s.tilt*40)); !(less >= least*(1-1e-9)) || after.Hi != before.Hi {
			t.Errorf("%s: %v becomes %v, by %v, want %v", name, before, after, less, least)
		}
	}
}

// Where the terms are smooth over many values, blocks of frequencies have a middle at which the
// transform is next to nothing: it is no unknown.
func TestSum_SmoothTermsAreNarrow(t *testing.T) {
	const deviation, top = 60, 400
	p := Part{Count: 100}
	for a := range int64(2*top + 1) {
		p.At = append(p.At, -a)
		p.Mass = append(p.Mass, math.Exp(-math.Pow(float64(a-top)/deviation, 2)/2)/(deviation*math.Sqrt(2*math.Pi)))
	}
	at := int64(-100*top + 4*10*deviation)
	s := testkit.Must(New(t.Context(), []Part{p}, at))
	if b := s.Tail(at); b.Hi-b.Lo > 1e-6 || math.Abs(b.Hi-math.Log(math.Erfc(4/math.Sqrt2)/2)) > .01 {
		t.Errorf("%v", b)
	}
}
