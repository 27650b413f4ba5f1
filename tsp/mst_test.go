package tsp

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// Prim's algorithm on all pairs, tested in internal/spanning, is the reference.
func TestMST_IsMinimal(t *testing.T) {
	for name, f := range map[string]metric.Finite{
		"one": plane(1, 1), "two": plane(2, 1), "three": plane(3, 1),
		"plane": plane(400, 1), "lattice": cube(300, 2, 7, metric.Euclidean{}, 2), "random": randomMetric(150, 3),
		"bare": bare{plane(200, 4)}, "high": cube(200, 12, 0, metric.Manhattan{}, 5),
		// Large enough for the kd-tree.
		"tree": plane(2100, 6), "same": cube(2100, 2, 1, metric.Euclidean{}, 7), "ties": cube(2100, 3, 6, metric.Manhattan{}, 8),
	} {
		tree := testkit.Must(MST(t.Context(), f))
		sum := 0.0
		for i := range f.Len() {
			if j := tree.Parent(i); j >= 0 {
				sum += f.Distance(i, j)
				if tree.Length(i) != f.Distance(i, j) {
					t.Fatal(name, i, j)
				}
			} else if i > 0 {
				t.Fatal(name, "root", i)
			}
		}
		want := testkit.Must(OneTreeBound(t.Context(), bare{f}, nil, Path)).Value
		bound := testkit.Must(OneTreeBound(t.Context(), f, nil, Path))
		if math.Abs(sum-want) > 1e-11*want || math.Abs(bound.Value-want) > 1e-11*want || tree.Len() != f.Len() {
			t.Errorf("%s: %v, %v; want %v", name, bound.Value, sum, want)
		}
		if double := testkit.Must(DoubleTree(t.Context(), f, Path)); !slices.Equal(double.Order, tree.Preorder()) {
			t.Error(name, "the tour does not follow the tree")
		}
	}
}
