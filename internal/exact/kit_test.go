package exact

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// fixed replays given words, then zeros.
type fixed []uint64

func (f *fixed) Uint64() uint64 {
	if len(*f) == 0 {
		return 0
	}
	u := (*f)[0]
	*f = (*f)[1:]
	return u
}

// replay gives stored words, then those of a generator.
type replay struct {
	words []uint64
	next  int
	rest  rand.Source
}

func (s *replay) Uint64() uint64 {
	s.next++
	if s.next <= len(s.words) {
		return s.words[s.next-1]
	}
	return s.rest.Uint64()
}

// fastEqualsExact makes n draws twice from the same words, as float64 decides and exactly: the
// outcomes and the numbers of words read are the same.
func fastEqualsExact[E comparable](t *testing.T, name string, seed uint64, n int, draw func(rng *rand.Rand, exact bool) []E) {
	t.Helper()
	a, b := &replay{rest: random.Seeded(seed)}, &replay{rest: random.Seeded(seed)}
	ra, rb := rand.New(a), rand.New(b)
	for i := range n {
		if fast, slow := draw(ra, false), draw(rb, true); !slices.Equal(fast, slow) || a.next != b.next {
			t.Fatalf("%s, draw %d: fast %v after %d words, exact %v after %d", name, i, fast, a.next, slow, b.next)
		}
	}
}

// border moves lo and hi, at which at differs, until they are apart, a power of two, and at is the
// same as before at both.
func border[E any](lo, hi, apart uint64, at func(w uint64) E) (uint64, uint64) {
	for first := fmt.Sprint(at(lo)); hi-lo > apart; {
		if mid := (lo + (hi-lo)/2) &^ (apart - 1); fmt.Sprint(at(mid)) == first {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi
}

// decidesAtTheBorder moves a word of a draw to where the draw changes within so many more, found to
// the last bit by bisection. There float64 decides as interval arithmetic does, or not at all: an
// error bound that is too small fails. offs, at most 5, is how many distances from there are tried.
// It tells whether there is such a border.
func decidesAtTheBorder(t *testing.T, name string, words []uint64, word int, more uint64, offs int, draw func(rng *rand.Rand, exact bool) []float64) bool {
	t.Helper()
	at := func(w uint64, exact bool) []float64 {
		words[word] = w
		return draw(rand.New(&replay{words: words, rest: random.Seeded(96)}), exact)
	}
	fast := func(w uint64) []float64 { return at(w, false) }
	lo := words[word] &^ 1 // the lowest bit is a sign
	hi := lo + more
	if hi < lo || slices.Equal(fast(lo), fast(hi)) {
		return false
	}
	lo, hi = border(lo, hi, 2, fast)
	for _, off := range []uint64{0, 1 << 10, 1 << 16, 64, 1 << 20}[:offs] {
		for _, w := range []uint64{lo - off, hi + off} {
			if fast, slow := fast(w), at(w, true); !slices.Equal(fast, slow) {
				t.Fatalf("%s, word %d, %d units from the border: fast %v, exact %v", name, word, off, fast, slow)
			}
		}
	}
	return true
}

// shaped is a word whose uniform number is often near 0 or near 1.
func shaped(rng *rand.Rand) uint64 {
	w, s := rng.Uint64(), rng.IntN(64)
	switch rng.IntN(3) {
	case 0:
		return w >> s
	case 1:
		return ^(w >> s)
	}
	return w
}

// cellOf is the interval of the uniform number of a word.
func cellOf(w uint64) Enclosure {
	u := uniform{nil, new(big.Int).SetUint64(w >> 1), 63}
	lo, hi := u.bounds()
	return Enclosure{lo, hi}
}

// beyond returns how far an interval reaches from v, over err.
func beyond(a Enclosure, v, err float64) float64 {
	e := new(big.Float).SetPrec(300).Sub(a.Hi, big.NewFloat(v))
	f := new(big.Float).SetPrec(300).Sub(big.NewFloat(v), a.Lo)
	if e.Cmp(f) < 0 {
		e = f
	}
	x, _ := e.Float64()
	return x / err
}

// errorRatios collects the largest errors, over their bounds, by name.
type errorRatios map[string]float64

func (e errorRatios) see(t *testing.T, name string, ratio float64) {
	t.Helper()
	if e[name] = max(e[name], ratio); ratio > 1 {
		t.Fatalf("%s: the error is %v times its bound", name, ratio)
	}
}

// check fails where a bound is never near its error.
func (e errorRatios) check(t *testing.T) {
	t.Helper()
	for name, w := range e {
		if w < 0x1p-8 {
			t.Errorf("%s: the bound is never nearer than %v times the error", name, 1/w)
		}
	}
}

// A seed means the same draws for ever, on every platform.
func TestGoldenStreams(t *testing.T) {
	rng := random.Seeded(2024)
	var got []float64
	for range 6 {
		got = append(got, float64(geometric(rng, 0.1, false)), float64(DiscreteLaplace(rng, 0.1)), float64(AddDiscreteGaussian(rng, 0, 10)))
	}
	rng = random.Seeded(2025)
	l := Lattice{Step: 0.5}
	got = append(got, l.AddLaplace(rng, 1, 0.1))
	for _, p := range []float64{1, 2, inf} {
		for _, d := range []int{2, 3} {
			y := make([]float64, d)
			l.AddKNorm(y, rng, y, 0.1, p)
			got = append(got, y...)
		}
	}
	y := make([]float64, 3)
	l.AddNormal(y, rng, y, 10)
	got = append(got, y...)
	rng = random.Seeded(2026)
	for _, rate := range []float64{0.1, 1, 1e6} {
		lat, lon := Globe{Step: 0x1p-23}.AddNoise(rng, 48.2, 16.4, rate)
		got = append(got, lat*0x1p23, lon*0x1p23)
	}
	want := []float64{17, 16, -12, 10, -10, -6, 10, 1, -11, 18, -3, 0, 16, -28, 1, 14, -10, -24,
		0, 19, -1, -1.5, -8.5, -21.5, 1, 45.5, -37, 0.5, 13.5, -20.5, 1.5, 18.5, -23.5, 10.5, -11.5, 1.5, 6.5,
		601967772, 220099175, 50488121, 1325483390, 404331658, 137573013}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
