package spanning

import (
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// Every join unites two runs of positions, adjacent at its gap, at a height that
// is at least those within, and above them to the right; the last one has all.
func TestDendrogram_JoinsNeighboringRuns(t *testing.T) {
	r := random.Seeded(1)
	for n := range 30 {
		h := make([]float64, n)
		for i := range h {
			h[i] = float64(r.IntN(1 + n/2)) // with ties
		}
		type run struct{ lo, hi int }
		done := make(map[int]run)
		var last run
		Dendrogram(h, func(gap, left, right int) {
			side := func(k, point int) run {
				if k < 0 {
					return run{point, point}
				}
				part, ok := done[k]
				if !ok || h[k] > h[gap] || k < gap && h[k] == h[gap] {
					t.Errorf("%v: gap %d is joined at %d", h, k, gap)
				}
				return part
			}
			a, b := side(left, gap), side(right, gap+1)
			if a.hi != gap || b.lo != gap+1 {
				t.Errorf("%v: gap %d joins %v and %v", h, gap, a, b)
			}
			last = run{a.lo, b.hi}
			done[gap] = last
		})
		if len(done) != n || last != (run{0, n}) {
			t.Errorf("%v: %d joins, the last of %v", h, len(done), last)
		}
	}
}
