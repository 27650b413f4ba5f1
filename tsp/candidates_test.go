package tsp

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// The search of the tree finds what a scan of all points finds, ties apart.
func TestOrthants_EqualAScan(t *testing.T) {
	for name, f := range map[string]metric.Finite{
		"plane":   plane(200, 1),
		"lattice": gridOf(100),
		"space":   cube(200, 3, 4, metric.Manhattan{}, 1),
		"line":    cube(100, 1, 0, metric.Euclidean{}, 1),
	} {
		e, _ := f.(metric.Embedded).Embed()
		found := testkit.Must(orthants(t.Context(), f))
		for i := range f.Len() {
			x := e.Coords[i*e.Dim : (i+1)*e.Dim]
			var want []float64
			for below := range 1 << e.Dim {
				var d []float64
				for j := range f.Len() {
					side := 0
					for a, v := range e.Coords[j*e.Dim : (j+1)*e.Dim] {
						if v < x[a] {
							side |= 1 << a
						}
					}
					if side == below && f.Distance(i, j) > 0 {
						d = append(d, f.Distance(i, j))
					}
				}
				slices.Sort(d)
				want = append(want, d[:min(len(d), perOrthant)]...)
			}
			var got []float64
			for _, j := range found[i] {
				got = append(got, f.Distance(i, int(j)))
			}
			near := func(a, b float64) int {
				if math.Abs(a-b) < 1e-12 {
					return 0
				}
				return cmp.Compare(a, b)
			}
			if slices.CompareFunc(got, want, near) != 0 {
				t.Fatalf("%s, point %d: distances %v, want %v", name, i, got, want)
			}
		}
	}
}
