package check

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// oneOdd has three points at distance 1/2 but for one ordered pair.
type oneOdd struct {
	i, j int
	d    float64
}

func (oneOdd) Len() int { return 3 }
func (f oneOdd) Distance(i, j int) float64 {
	switch {
	case i == f.i && j == f.j:
		return f.d
	case i == j:
		return 0
	}
	return .5
}

func TestDistancesOf_LooksAtEveryDistance(t *testing.T) {
	for i := range 3 {
		for j := range 3 {
			for _, d := range []float64{math.NaN(), -1, math.Inf(1)} {
				if _, err := DistancesOf(t.Context(), "op", oneOdd{i, j, d}); err == nil {
					t.Errorf("takes %v from %d to %d", d, i, j)
				}
			}
			if i == j {
				continue
			}
			at := func(d float64) Distances { return testkit.Must(DistancesOf(t.Context(), "op", oneOdd{i, j, d})) }
			if e := at(9); e.Diameter != 9 || e.Far != [2]int{i, j} {
				t.Errorf("%d to %d: %+v", i, j, e)
			}
			if e := at(.1); e.Least != .1 || e.Positive != .1 || e.Diameter != .5 {
				t.Errorf("%d to %d: %+v", i, j, e)
			}
			if e := at(0); e.Least != 0 || e.Zero != [2]int{i, j} || e.Positive != .5 {
				t.Errorf("%d to %d: %+v", i, j, e)
			}
		}
	}
}
