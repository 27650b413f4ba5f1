package exact

import (
	"math"
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
