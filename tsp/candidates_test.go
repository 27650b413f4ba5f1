package tsp

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// The nearest neighbors of a point in a cluster are all of that cluster; the
// candidates lead on, with coordinates and without.
func TestCandidates_LeaveTheCluster(t *testing.T) {
	f := clumps(300, 4, 1e-4, 1e-3, 1)
	inSpace := testkit.Must(metric.NewPoints([][]float64{
		{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {99, 0, 0, 0, 0}, {99, 1, 0, 0, 0}, {98, 0, 0, 0, 0},
	}, metric.Euclidean{}))
	for name, c := range map[string]struct {
		f metric.Finite
		k int
	}{"plane": {f, 5}, "bare": {bare{f}, 5}, "five dimensions": {inSpace, 2}} {
		near := testkit.Must(newCandidates(t.Context(), c.f, c.k))
		wide := testkit.Must(near.widen(t.Context(), c.f))
		if parts(c.f.Len(), near) == 1 || parts(c.f.Len(), wide) != 1 {
			t.Errorf("%s: %d parts by near neighbors, %d by all candidates", name, parts(c.f.Len(), near), parts(c.f.Len(), wide))
		}
		for i := range c.f.Len() {
			id, d := wide.lists(i)
			if !slices.IsSorted(d) || len(slices.Compact(slices.Sorted(slices.Values(id)))) != len(id) {
				t.Fatalf("%s: candidates %v at %v", name, id, d)
			}
			for h, j := range id {
				if int(j) == i || d[h] != ordered(c.f, i, int(j)) {
					t.Fatalf("%s: %d is at %v from %d", name, j, d[h], i)
				}
			}
		}
	}
}

// parts counts the components of the graph of candidates.
func parts(n int, c *candidates) int {
	forest := spanning.NewForest(n)
	for i := range n {
		id, _ := c.lists(i)
		for _, j := range id {
			forest.Join(i, int(j))
		}
	}
	return forest.Trees()
}

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
