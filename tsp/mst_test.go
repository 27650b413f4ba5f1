package tsp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// kruskal is the length of a minimum spanning tree by Kruskal's algorithm on
// all pairs.
func kruskal(f metric.Finite) float64 {
	var edges []edge
	for i := range f.Len() {
		for j := range i {
			edges = append(edges, edge{f.Distance(i, j), int32(j), int32(i)})
		}
	}
	slices.SortFunc(edges, edge.compare)
	trees, length := spanning.NewForest(f.Len()), 0.0
	for _, e := range edges {
		if trees.Join(int(e.i), int(e.j)) {
			length += e.d
		}
	}
	return length
}

func TestMST_EqualsKruskal(t *testing.T) {
	for name, f := range map[string]metric.Finite{
		"one": plane(1, 1), "two": plane(2, 1), "three": plane(3, 1),
		"plane": plane(400, 1), "lattice": cube(300, 2, 7, metric.Euclidean{}, 2), "random": randomMetric(150, 3),
		"bare": bare{plane(200, 4)}, "high": cube(200, 12, 0, metric.Manhattan{}, 5),
		// Large enough for the kd-tree, to be held against Prim's algorithm.
		"tree": plane(2100, 6), "same": cube(2100, 2, 1, metric.Euclidean{}, 7), "ties": cube(2100, 3, 6, metric.Manhattan{}, 8),
	} {
		tree := testkit.Must(MST(t.Context(), f))
		sum := 0.0
		for _, e := range tree.Edges() {
			if e.Length != f.Distance(e.I, e.J) || tree.Parent[e.J] != e.I {
				t.Fatal(name, e)
			}
			sum += e.Length
		}
		var want float64
		if f.Len() < 1000 {
			want = kruskal(f)
		} else if prim, err := MST(t.Context(), bare{f}); err == nil {
			want = prim.Length
		}
		if math.Abs(sum-want) > 1e-11*want || tree.Length > sum*(1+1e-11) || tree.Length < sum*(1-1e-11) {
			t.Errorf("%s: %v, %v; want %v", name, tree.Length, sum, want)
		}
		if _, err := metric.NewTree(tree.Parent, tree.Lengths); err != nil || tree.Len() != f.Len() || len(tree.Edges()) != f.Len()-1 {
			t.Error(name, "no tree:", err)
		}
	}
}

// Of metric.Tree's preorder this is the definition.
func TestSpanningTree_PreorderIsThatOfTheTree(t *testing.T) {
	tree := testkit.Must(MST(t.Context(), plane(300, 1)))
	other := testkit.Must(metric.NewTree(tree.Parent, tree.Lengths))
	if !slices.Equal(tree.Preorder(), other.Preorder()) {
		t.Error(tree.Preorder(), other.Preorder())
	}
}

func BenchmarkMST(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		f := plane(n, 1)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				testkit.Must(MST(b.Context(), f))
			}
		})
	}
}
