package metric_test

import (
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

func TestClustered_Metric(t *testing.T) {
	for _, c := range []struct {
		clusters, size int
		intra          float64
	}{{1, 1, 1}, {1, 5, 0.2}, {5, 1, 0.2}, {3, 4, 0.3}, {2, 3, 1}, {2, 2, 0x1p-1074}} {
		f := testkit.Must(metric.NewClustered(c.clusters, c.size, c.intra))
		if f.Len() != c.clusters*c.size || f.Clusters() != c.clusters || f.Size() != c.size || f.Intra() != c.intra {
			t.Errorf("%v: accessors disagree", c)
		}
		if err := metrictest.TestFinite(t.Context(), f, &metrictest.Options{Ultrametric: true}); err != nil {
			t.Error(err)
		}
		for i := range f.Len() {
			for j := range f.Len() {
				want := 1.0
				if i/c.size == j/c.size {
					want = c.intra
				}
				if i == j {
					want = 0
				}
				if got := f.Distance(i, j); got != want {
					t.Errorf("%v: d(%d, %d) = %v, want %v", c, i, j, got, want)
				}
			}
		}
	}
}
