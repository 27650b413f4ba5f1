package tsp

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

// Prim's algorithm on all pairs, tested in internal/spanning, is the reference.
func TestSpanningTree_IsMinimal(t *testing.T) {
	for name, f := range map[string]metric.Finite{
		"one": plane(1, 1), "two": plane(2, 1), "three": plane(3, 1),
		"plane": plane(400, 1), "lattice": cube(300, 2, 7, metric.Euclidean{}, 2), "random": randomMetric(150, 3),
		"bare": bare{plane(200, 4)}, "high": cube(200, 12, 0, metric.Manhattan{}, 5),
		// Large enough for the kd-tree.
		"tree": plane(2100, 6), "same": cube(2100, 2, 1, metric.Euclidean{}, 7), "ties": cube(2100, 3, 6, metric.Manhattan{}, 8),
	} {
		_, parent, err := heldkarp.SpanningTree(t.Context(), "", f)
		if err != nil || len(parent) != f.Len() {
			t.Fatal(name, err)
		}
		sum := 0.0
		for i, j := range parent {
			if j >= 0 {
				sum += f.Distance(i, j)
			} else if i > 0 {
				t.Fatal(name, "root", i)
			}
		}
		want := testkit.Must(oneTreeBound(t.Context(), bare{f}, nil, Open)).Value
		bound := testkit.Must(oneTreeBound(t.Context(), f, nil, Open))
		if math.Abs(sum-want) > 1e-11*want || math.Abs(bound.Value-want) > 1e-11*want {
			t.Errorf("%s: %v, %v; want %v", name, bound.Value, sum, want)
		}
	}
}
