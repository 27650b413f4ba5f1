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
			lo, hi = border(lo, hi, 2, at)
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

// At the largest p two variates that share their first bits are told apart by as many more as that takes.
func TestShape_EqualWordsAtTheLargestP(t *testing.T) {
	words := []uint64{1 << 62, 1 << 61} // the radius
	for range 2 {
		words = append(words, math.MaxUint64, 1<<62, 1<<60) // not of the tail; U; E
	}
	s := &replay{words: words, rest: random.Seeded(120)}
	y := make([]float64, 2)
	Lattice{0x1p-10, true}.AddKNorm(y, rand.New(s), y, 1, 1e300)
	if s.next != 12 || math.Abs(y[0]-y[1]) > 0x1p-10 || math.Abs(y[0]-math.Log(32)) > 0x1p-10 {
		t.Errorf("%v after %d words", y, s.next)
	}
}

func wide(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

func times(a, b *big.Float) *big.Float { return wide(0).Mul(a, b) }

// covers fails where want is not within err of v.
func covers(t *testing.T, what string, v, err float64, want *big.Float) {
	t.Helper()
	if gap := wide(0).Sub(want, wide(v)); !(err >= 0) || gap.Abs(gap).Cmp(wide(err)) > 0 {
		t.Fatalf("%s: %v within %v, want %v", what, v, err, want.Text('g', 25))
	}
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
		s := &shape{d: d, p: p, us: make([]digits, 2*d), z: make([]float64, d), ln: ln, lnErr: make([]float64, d)}
		s.lnErr[d-1] = lnErr
		rel, abs := s.powerDirection()
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
		norm := wide(0).Quo(logBounds(sum, 200).Lo, wide(p))
		for _, k := range []int{0, d / 2, d - 1} {
			v := wide(ln[k])
			if k == d-1 {
				v = last
			}
			err := float64(s.z[k]*rel) + abs
			covers(t, "coordinate", s.z[k], err, exp(wide(0).Sub(v, norm)))
			if !(err <= (0x1p-38+8*lnErr)*s.z[k]+0x1p-900) {
				t.Errorf("p = %v, %v...: %v within %v", p, ln[:2], s.z[k], err)
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
		lo, hi := border(64, math.MaxUint64, 1, func(w uint64) bool { // of e^-E
			us[2].word = w
			in, _ := s.acceptPower(us, 0)
			return in
		})
		for _, w := range []uint64{lo, hi} {
			us[2].word = w
			in, sure := s.acceptPower(us, 0)
			for _, u := range []Enclosure{{cellOf(us[1].word).Lo, cellOf(us[1].word).Lo}, {cellOf(us[1].word).Hi, cellOf(us[1].word).Hi}} {
				limit := point(1).add(u.negLog(200), 200).add(cellOf(w).negLog(200), 200)
				power := s.encloseLog(u, 0, 200).mul(point(s.p), 200).exp(200)
				if sure && (in && power.Hi.Cmp(limit.Lo) >= 0 || !in && power.Lo.Cmp(limit.Hi) <= 0) {
					t.Fatalf("accepted %v for all numbers of words %v", in, us)
				}
			}
		}
	}
}
