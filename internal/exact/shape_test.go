package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// Every word that decides on a variate is moved to the border of accepting it, or of the
// tail, found by bisection: where float64 is sure there, it says what interval arithmetic does.
func TestShape_AcceptsAtTheBorder(t *testing.T) {
	rng := random.Seeded(118)
	borders, tails := 0, 0
	for _, p := range []float64{1 + 0x1p-52, 1.1, 1.25, 1.7, 3, 7, 1000, 1 << 30, 1e300} {
		s := &shape{d: 1, p: p, tail: make([]bool, 1), ln: make([]float64, 1), lnErr: make([]float64, 1)}
		exact := func(us [3]digits) (in, tail bool) {
			_, in = s.resolvePower(rng, us, 0)
			return in, s.tail[0]
		}
		for i := range 12 {
			us := [3]digits{{word: rng.Uint64()}, {word: rng.Uint64()}, {word: rng.Uint64()}}
			switch i % 4 {
			case 0: // surely of the tail, but for large p
				us[0].word >>= 3
			case 1:
				us[0].word = math.MaxUint64
			}
			word := i / 4
			at := func(w uint64) [2]bool {
				us[word].word = w
				in, sure := s.acceptPower(us, 0)
				tail := s.tail[0]
				if !sure {
					in, tail = exact(us)
				}
				return [2]bool{in, tail}
			}
			lo, hi := uint64(64), uint64(math.MaxUint64-64)
			if at(lo) == at(hi) {
				continue
			}
			for hi-lo > 2 {
				if mid := (lo + (hi-lo)/2) &^ 1; at(mid) == at(lo) {
					lo = mid
				} else {
					hi = mid
				}
			}
			borders++
			for off := uint64(1); off < 1<<24; off *= 8 {
				for _, w := range []uint64{lo - min(off, lo-8), hi + min(off, math.MaxUint64-hi)} {
					us[word].word = w
					in, sure := s.acceptPower(us, 0)
					tail := s.tail[0]
					if wantIn, wantTail := exact(us); sure && (in != wantIn || tail != wantTail) {
						t.Fatalf("p = %v, word %d, %d units from the border: accepted %v of tail %v, exactly %v of tail %v", p, word, off, in, tail, wantIn, wantTail)
					}
					if tail {
						tails++
					}
				}
			}
		}
	}
	if borders < 30 || tails < 30 {
		t.Errorf("%d borders, %d tries in the tail: the test shows little", borders, tails)
	}
}

// The radius is known to float64's precision in many dimensions, where a product of
// uniform numbers underflows.
func TestGamma_InManyDimensions(t *testing.T) {
	rng := random.Seeded(119)
	us, want := make([]digits, 3000), 0.0
	for i := range us {
		us[i].word = rng.Uint64()
		e, _ := exponential(us[i].word)
		want += e
	}
	if got, err := gamma(us); math.Abs(got-want) > err || !(err < 0x1p-30) {
		t.Errorf("%v within %v, want %v", got, err, want)
	}
}

// At the largest p two variates that share their first bits are told apart by as many more as
// that takes.
func TestShape_EqualWordsAtTheLargestP(t *testing.T) {
	words := []uint64{1 << 62, 1 << 61} // the radius
	for range 2 {
		words = append(words, math.MaxUint64, 1<<62, 1<<60) // not of the tail; U; E
	}
	s := &replay{words: words, rest: random.Seeded(120)}
	y := make([]float64, 2)
	Lattice{0x1p-10}.addKNorm(y, rand.New(s), y, 1, 1e300, true)
	if s.next != 12 || math.Abs(y[0]-y[1]) > 0x1p-10 || math.Abs(y[0]-math.Log(32)) > 0x1p-10 {
		t.Errorf("%v after %d words", y, s.next)
	}
}

// bigRoot is the root of a positive number.
func bigRoot(x *big.Float) *big.Float { return new(big.Float).SetPrec(300).Sqrt(x) }

func wide(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

func times(a, b *big.Float) *big.Float { return wide(0).Mul(a, b) }

// covers fails where want is not within err of v.
func covers(t *testing.T, what string, v, err float64, want *big.Float) {
	t.Helper()
	if gap := wide(0).Sub(want, wide(v)); !(err >= 0) || gap.Abs(gap).Cmp(wide(err)) > 0 {
		t.Fatalf("%s: %v within %v, want %v", what, v, err, want.Text('g', 25))
	}
}

// The error of a direction covers every exponential variate, cosine and sine being as far
// off as it may be, in the odd dimensions where the last cosine enters all coordinates.
func TestNormalDirection_CarriesTheErrorsOfItsParts(t *testing.T) {
	rng := random.Seeded(121)
	for i := range 60 {
		s := &shape{d: 3, p: 2, z: make([]float64, 3), err: make([]float64, 3), ln: make([]float64, 3), lnErr: make([]float64, 3)}
		us := make([]digits, 4)
		for k := range us {
			us[k].word = shaped(rng)
		}
		if i%2 == 0 { // the last variate is nearly all of the sum, and cosines nearly 1
			us[0].word, us[2].word = 1<<62+rng.Uint64N(1<<62), 1<<52+rng.Uint64N(1<<53)
			us[1].word, us[3].word = rng.Uint64()>>10, rng.Uint64()>>10
		}
		s.normalDirection(us)
		for corner := range 32 {
			off := func(v, err float64, bit int) *big.Float {
				if corner>>bit&1 == 0 {
					err = -err
				}
				return wide(0).Add(wide(v), wide(err))
			}
			var e [2]*big.Float
			for k := range e {
				v, err := exponential(us[2*k].word)
				e[k] = off(v, err, k)
			}
			cos, sin := cosSinFast(us[1].word)
			z := [3]*big.Float{off(cos, circleErr, 2), off(sin, circleErr, 3)}
			cos, _ = cosSinFast(us[3].word)
			if z[2] = off(cos, circleErr, 4); z[2].Cmp(wide(1)) > 0 {
				z[2] = wide(1)
			}
			sum := wide(0).Add(e[0], times(e[1], times(z[2], z[2])))
			if e[0].Sign() <= 0 || e[1].Sign() <= 0 {
				continue
			}
			for k := range z {
				if i%2 == 0 && !(s.err[k] < 0x1p-44) {
					t.Fatalf("coordinate %d: %v within %v", k, s.z[k], s.err[k])
				}
				if !math.IsInf(s.err[k], 1) {
					covers(t, "coordinate", s.z[k], s.err[k], times(z[k], bigRoot(wide(0).Quo(e[k/2], sum))))
				}
			}
		}
	}
}

// So does that of a sum of many variates, each of which the first one swallows.
func TestNormalDirection_CountsTheRoundingOfItsSum(t *testing.T) {
	const d = 1 << 16
	s := &shape{d: d, p: 2, z: make([]float64, d), err: make([]float64, d), ln: make([]float64, d), lnErr: make([]float64, d)}
	us := make([]digits, d)
	for i := range us {
		us[i].word = math.MaxUint64 - 15000 // 7 2^-53, below the half of an ulp of the first
	}
	first := math.Exp(-15.9)
	us[0].word = uint64(first * 0x1p64)
	s.normalDirection(us)
	e, err := exponential(us[0].word)
	few, fewErr := exponential(us[2].word)
	least := wide(0).Sub(wide(e), wide(err))
	sum := wide(0).Add(wide(few), wide(fewErr))
	sum.Add(times(sum, wide(d/2-1)), least)
	cos, _ := cosSinFast(us[1].word)
	covers(t, "first coordinate", s.z[0], s.err[0], times(wide(cos), bigRoot(wide(0).Quo(least, sum))))
}

// The error of a direction covers its variates' errors and all roundings: of a sum of many
// terms, each below what the first one is rounded to, and of large exponents.
func TestPowerDirection_CarriesTheErrorsOfItsParts(t *testing.T) {
	exp := func(x *big.Float) *big.Float {
		lo, _ := ExpBounds(x, 200)
		return lo
	}
	check := func(p, lnErr float64, ln ...float64) {
		t.Helper()
		d := len(ln)
		s := &shape{d: d, p: p, us: make([]digits, 2*d), z: make([]float64, d), err: make([]float64, d), ln: ln, lnErr: make([]float64, d)}
		s.lnErr[d-1] = lnErr
		s.powerDirection()
		sum, seen := wide(0), map[float64]*big.Float{}
		size := func(v float64) *big.Float {
			if seen[v] == nil {
				seen[v] = exp(times(wide(p), wide(v)))
			}
			return seen[v]
		}
		for _, v := range ln[:d-1] {
			sum.Add(sum, size(v))
		}
		last := wide(0).Add(wide(ln[d-1]), wide(lnErr))
		sum.Add(sum, exp(times(wide(p), last)))
		norm := wide(0).Quo(logBounds(sum, 200).lo, wide(p))
		for _, k := range []int{0, d / 2, d - 1} {
			v := wide(ln[k])
			if k == d-1 {
				v = last
			}
			covers(t, "coordinate", s.z[k], s.err[k], exp(wide(0).Sub(v, norm)))
			if !(s.err[k] <= (0x1p-38+8*lnErr)*s.z[k]) {
				t.Errorf("p = %v, %v...: %v within %v", p, ln[:2], s.z[k], s.err[k])
			}
		}
	}
	many := make([]float64, 1<<14) // e^(1.25 * -29.4) < 2^-53
	for i := range many[1:] {
		many[i+1] = -29.4
	}
	check(1.25, 0, many...)
	rng := random.Seeded(122)
	for range 30 {
		check(1.25, 0, 0, -0.1*rng.Float64(), -500-100*rng.Float64())
		check(1e300, 0, -0x1p-9*rng.Float64(), 0)
		check(3, 0x1p-30*rng.Float64(), rng.Float64(), rng.Float64())
	}
}

// Where a variate of the tail is made of few bits, the border of accepting is not known
// from them: what the unknown ones may change counts.
func TestShape_AcceptanceCountsUnknownBits(t *testing.T) {
	rng := random.Seeded(123)
	s := &shape{d: 1, p: 1.1, tail: make([]bool, 1), ln: make([]float64, 1), lnErr: make([]float64, 1)}
	for range 200 {
		us := [3]digits{{}, {word: 1<<20 + rng.Uint64N(1<<20)}, {word: rng.Uint64()}}
		lo, hi := uint64(0), uint64(math.MaxUint64) // of e^-E
		for hi-lo > 1 {
			us[2].word = lo + (hi-lo)/2
			if in, _ := s.acceptPower(us, 0); in {
				lo = us[2].word
			} else {
				hi = us[2].word
			}
		}
		for _, w := range []uint64{lo, hi} {
			us[2].word = w
			in, sure := s.acceptPower(us, 0)
			for _, u := range []interval{{cellOf(us[1].word).lo, cellOf(us[1].word).lo}, {cellOf(us[1].word).hi, cellOf(us[1].word).hi}} {
				limit := point(1).add(u.negLog(200), 200).add(cellOf(w).negLog(200), 200)
				power := s.encloseLog(u, 0, 200).mul(point(s.p), 200).exp(200)
				if sure && (in && power.hi.Cmp(limit.lo) >= 0 || !in && power.lo.Cmp(limit.hi) <= 0) {
					t.Fatalf("accepted %v for all numbers of words %v", in, us)
				}
			}
		}
	}
}
