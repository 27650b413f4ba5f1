package mechanism

import (
	"errors"
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
		{testkit.Err(NewTrack(s, &TrackOptions{Ends: -1})), "NewTrack: Ends = -1"},
		{testkit.Err(NewTrack[int, int](nil, nil)), "NewTrack: "}, {testkit.Err(NewTrack(new(Sticky[int, int]), nil)), "NewTrack: "},
	})
}
