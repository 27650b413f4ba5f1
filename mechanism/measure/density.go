package measure

import (
	"math"
	"sort"

	"github.com/metricdp/metricdp/internal/fault"
)

// Density returns the density of the released measure: for a point, the mass of its region over the
// region's share of all cells, NaN for what has no cell. It costs no privacy and is safe for
// concurrent use. O(log n) a point.
func (r *Release[P]) Density() func(p P) float64 {
	type region struct {
		lo, hi int // cells
		mass   float64
	}
	space := fault.Must(r, r.check("measure: Release.Density")).s.space
	regions := make([]region, len(r.Weights)) // in the order of their cells
	for i, w := range r.Weights {
		lo, hi := space.Regions.Cells(r.nodes[i])
		regions[i] = region{lo, hi, w}
	}
	return func(p P) float64 {
		c, err := space.Locate(p)
		if err != nil {
			return math.NaN()
		}
		i := sort.Search(len(regions), func(i int) bool { return regions[i].hi > c })
		if i == len(regions) || regions[i].lo > c {
			return 0
		}
		return regions[i].mass / float64(regions[i].hi-regions[i].lo) * float64(space.Cells)
	}
}
