package scale

import (
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// TestHierarchy_Same: what is recognized has the distances it had.
func TestHierarchy_Same(t *testing.T) {
	clusters := testkit.Must(metric.NewClustered(3, 5, .5))
	one := testkit.Must(metric.NewClustered(1, 1, .5))
	for _, f := range []metric.Finite{clusters, one, dense(clusters), dense(randomSpace(12, 3)), randomSpace(12, 7)} {
		u := spaces.HierarchyOf(t.Context(), f)
		if u == nil {
			t.Fatal("not recognized")
		}
		for i := range f.Len() {
			for j := range f.Len() {
				if u.Distance(i, j) != f.Distance(i, j) {
					t.Fatalf("%d, %d: %v, was %v", i, j, u.Distance(i, j), f.Distance(i, j))
				}
			}
		}
	}
}

// TestHierarchy_Near: one distance that is off in its last bit is noticed.
func TestHierarchy_Near(t *testing.T) {
	upper := []float64{1, 1, 1, 1, 1, 1 + 0x1p-52}
	f := testkit.Must(metric.NewDense(4, upper))
	if spaces.HierarchyOf(t.Context(), f) != nil || spaces.HierarchyOf(t.Context(), space.Halton(30)) != nil {
		t.Error("taken for an ultrametric")
	}
}
