package measure

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// Runs of any lengths, added in any order, are what a map counts, and so few that
// a cell is never compared more than a few times.
func TestRuns_AreAMap(t *testing.T) {
	r := random.Seeded(1)
	for _, cells := range []int{1, 50, math.MaxInt} {
		var s runs
		want := map[int]int64{}
		for range 300 {
			x := make([]int, r.IntN(1<<r.IntN(10)))
			for i := range x {
				x[i] = r.IntN(cells)
				want[x[i]]++
			}
			s = s.add(newRun(x))
			for i := 1; i < len(s); i++ {
				if len(s[i].cells) == 0 || len(s[i-1].cells) < 2*len(s[i].cells) {
					t.Fatalf("a run of %d cells before one of %d", len(s[i-1].cells), len(s[i].cells))
				}
			}
		}
		got := s.all()
		if !slices.Equal(got.cells, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("of %d: wrong cells", cells)
		}
		for i, c := range got.cells {
			if got.n[i] != want[c] {
				t.Fatalf("of %d: %d records in cell %d, want %d", cells, got.n[i], c, want[c])
			}
		}
	}
}
