package mechanism

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// What is at the ends is never asked about; the rest is answered input by input as by
// the Sticky, and costs its distinct inputs.
func TestTrack_LeavesOutTheEnds(t *testing.T) {
	xs := []int{9, 8, 1, 2, 2, 1, 3, 8, 7}
	for ends, want := range [][]int{xs, xs[1:8], xs[2:7], xs[3:6], xs[4:5], nil, nil} {
		m := newCounting()
		s := testkit.Must(NewSticky(m, nil))
		track := testkit.Must(NewTrack(s, &TrackOptions{Ends: ends}))
		ys := testkit.Must(track.Release(random.Seeded(1), xs))
		var expected [][2]float64
		drawn := m.draws.Load()
		for _, x := range want {
			expected = append(expected, testkit.Must(s.Release(nil, x)))
		}
		_, distinct := pattern(want)
		level := testkit.Must(track.Level(xs))
		if !slices.Equal(ys, expected) || int(drawn) != len(distinct) || m.draws.Load() != drawn || level != m.g.Times(len(distinct)) || track.Guarantee() != m.g {
			t.Errorf("%d at either end: %v, want %v; %d draws, %v", ends, ys, expected, drawn, level)
		}
		// Other ends give the same bits.
		other := slices.Clone(xs)
		for i := range min(ends, len(xs)) {
			other[i], other[len(xs)-1-i] = 100+i, 200+i
		}
		again := testkit.Must(NewTrack(testkit.Must(NewSticky(newCounting(), nil)), &TrackOptions{Ends: ends}))
		if zs := testkit.Must(again.Release(random.Seeded(1), other)); !slices.Equal(zs, ys) {
			t.Errorf("%d at either end: %v, with other ends %v", ends, ys, zs)
		}
	}
}

func TestTrack_Refuses(t *testing.T) {
	m := newCounting()
	s := testkit.Must(NewSticky(m, &StickyOptions[int]{Budget: testkit.Must(NewBudget(m.g.Times(2), nil))}))
	track := testkit.Must(NewTrack(s, &TrackOptions{Ends: 1}))
	ys, err := track.Release(nil, []int{-1, 5, 6, 5, 7, 5, -1})
	if !errors.Is(err, ErrBudget) || len(ys) != 3 || ys[0] != ys[2] || !strings.HasPrefix(err.Error(), "mechanism: Track.Release: xs[4]: Sticky.Release: Budget.Spend: the budget is spent") {
		t.Error(ys, err)
	}
	track = testkit.Must(NewTrack(testkit.Must(NewSticky(m, nil)), &TrackOptions{Ends: 1}))
	if ys, err := track.Release(nil, []int{0, 5, -1, 0}); !errors.Is(err, ErrRefused) || len(ys) != 1 {
		t.Error(ys, err)
	}
	refuse(t, []refused{
		{testkit.Err(NewTrack(s, &TrackOptions{Ends: -1})), "NewTrack: Ends = -1"}, {testkit.Err(NewTrack(s, &TrackOptions{Every: -1})), "NewTrack: Every = -1"},
		{testkit.Err(NewTrack[int, int](nil, nil)), "NewTrack: "}, {testkit.Err(NewTrack(new(Sticky[int, int]), nil)), "NewTrack: "},
	})
}

// Without a Sticky every knot is drawn anew and costs, and nothing else is asked about; the
// answer of the nearest knot stands for the inputs about it.
func TestTrack_ReleasesKnots(t *testing.T) {
	xs := []int{-1, 4, 5, 4, 6, 4, 7, -1} // knots of three: 1, 3 and 5 of the inner six
	m := newCounting()
	track := testkit.Must(NewTrack(m, &TrackOptions{Ends: 1, Every: 2}))
	ys := testkit.Must(track.Release(random.Seeded(1), xs))
	if m.draws.Load() != 3 || len(ys) != 6 || ys[1] == ys[3] || ys[3] == ys[5] {
		t.Errorf("%d draws: %v", m.draws.Load(), ys)
	}
	for i, knot := range []int{1, 1, 3, 3, 5, 5} {
		if ys[i] != ys[knot] {
			t.Errorf("%v at %d, want that of %d", ys[i], i, knot)
		}
	}
	// The inputs between knots change nothing.
	other := []int{9, 3, 5, 2, 6, 1, 7, 9}
	if zs := testkit.Must(track.Release(random.Seeded(1), other)); !slices.Equal(ys, zs) {
		t.Errorf("%v, with other inputs between knots %v", ys, zs)
	}
	if level := testkit.Must(track.Level(xs)); level != m.g.Times(3) || track.Memoized() {
		t.Errorf("%v, memoized: %v", level, track.Memoized())
	}
	sticky := testkit.Must(NewTrack(testkit.Must(NewSticky(m, nil)), &TrackOptions{Every: 2}))
	if level := testkit.Must(sticky.Level([]int{1, 5, 2, 5, 3, 6})); level != m.g.Times(2) || !sticky.Memoized() {
		t.Errorf("through a Sticky: %v, memoized: %v", level, sticky.Memoized())
	}
}

// unsure says the bit x with probability 3/4: ln 3 per unit, by two bits of one word.
type unsure struct{}

func (unsure) Guarantee() Guarantee {
	return testkit.Must(NewGuarantee(math.Nextafter(math.Log(3), 2), 0, ""))
}

func (unsure) Release(rng *rand.Rand, x int) (int, error) {
	if rng.Uint64()&3 == 0 {
		x = 1 - x
	}
	return x, nil
}

// By enumeration of all draws, tracks of four bits: no two differ by more than the level, which some reach.
func TestTrack_LevelHoldsExactly(t *testing.T) {
	for every, knots := range []int{4, 4, 2, 2, 1} {
		track := testkit.Must(NewTrack(unsure{}, &TrackOptions{Every: every}))
		var probs [16]map[[4]int]float64
		for x := range probs {
			xs := []int{x & 1, x >> 1 & 1, x >> 2 & 1, x >> 3}
			probs[x] = map[[4]int]float64{}
			for draw := range 1 << (2 * knots) {
				ys, _ := track.Release(rand.New(&bits{uint64(draw)}), xs)
				probs[x][[4]int(ys)] += 1 / float64(int(1)<<(2*knots))
			}
			if level := testkit.Must(track.Level(xs)); level != (unsure{}).Guarantee().Times(knots) {
				t.Errorf("every %d: %v", every, level)
			}
		}
		most := 0.0
		for _, p := range probs {
			for _, q := range probs {
				for y := range p {
					most = max(most, p[y]/q[y])
				}
			}
		}
		if want := math.Pow(3, float64(knots)); most != want {
			t.Errorf("every %d: the largest ratio is %v, want %v", every, most, want)
		}
	}
}

// What hides a Sticky would show which inputs are equal, while Level would hold against every
// track: through it (0, 0) is never answered by two different bits, and (0, 1) is.
func TestTrack_RefusesHiddenDraws(t *testing.T) {
	same := func(y int) (int, error) { return y, nil }
	hidden := Then(testkit.Must(NewSticky(unsure{}, nil)), same)
	inner := testkit.Must(NewTrack(testkit.Must(NewSticky(unsure{}, nil)), nil))
	for _, err := range []error{testkit.Err(NewTrack(hidden, nil)), testkit.Err(NewTrack(inner, nil)), testkit.Err(NewTrack(Then(hidden, same), nil))} {
		if !errors.Is(err, ErrMemoized) || !strings.HasPrefix(err.Error(), "mechanism: NewTrack: m: ") {
			t.Error(err)
		}
	}
	around := testkit.Must(NewSticky(Then[int](unsure{}, same), nil))
	if track := testkit.Must(NewTrack(around, nil)); !track.Memoized() || testkit.Must(track.Level([]int{0, 1, 0})) != track.Guarantee().Times(2) {
		t.Error(track)
	}
}

// bits gives two bits of a number at a time.
type bits struct{ left uint64 }

func (b *bits) Uint64() uint64 {
	w := b.left & 3
	b.left >>= 2
	return w
}
