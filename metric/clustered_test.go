package metric_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// finiteSpace lets the laws of spaces be checked on a finite metric.
func finiteSpace(f metric.Finite) (metric.Space[int], []int) {
	pts := make([]int, f.Len())
	for i := range pts {
		pts[i] = i
	}
	return metric.Func[int](f.Distance), pts
}

func TestClustered_Metric(t *testing.T) {
	for _, c := range []struct {
		clusters, size int
		intra          float64
	}{{1, 1, 1}, {1, 5, 0.2}, {5, 1, 0.2}, {3, 4, 0.3}, {2, 3, 1}, {2, 2, 0x1p-1074}} {
		f := testkit.Must(metric.NewClustered(c.clusters, c.size, c.intra))
		if f.Len() != c.clusters*c.size || f.Clusters() != c.clusters || f.Size() != c.size || f.Intra() != c.intra {
			t.Errorf("%v: accessors disagree", c)
		}
		s, pts := finiteSpace(f)
		spaceLaws(t, s, pts, 0)
		var row []float64
		for i := range pts {
			row = finite.Row(f, i, row)
			for j := range pts {
				want := 1.0
				if i/c.size == j/c.size {
					want = c.intra
				}
				if i == j {
					want = 0
				}
				if got := f.Distance(i, j); got != want || row[j] != want {
					t.Errorf("%v: d(%d, %d) = %v, row %v, want %v", c, i, j, got, row[j], want)
				}
				for k := range pts {
					if f.Distance(i, j) > max(f.Distance(i, k), f.Distance(k, j)) {
						t.Errorf("%v: no ultrametric", c)
					}
				}
			}
			if f.Cluster(i) != i/c.size {
				t.Errorf("%v: Cluster(%d) = %d", c, i, f.Cluster(i))
			}
		}
	}
}

func TestNewClustered_RefusesParameters(t *testing.T) {
	for _, c := range []struct {
		clusters, size int
		intra          float64
		arg            string
	}{
		{0, 1, 1, "clusters"}, {-3, 1, 1, "clusters"}, {2, 0, 1, "size"}, {2, -1, 1, "size"}, {math.MaxInt, 2, 1, "size"},
		{2, 2, 0, "intra"}, {2, 2, -1, "intra"}, {2, 2, 1.1, "intra"}, {2, 2, math.NaN(), "intra"}, {2, 2, math.Inf(1), "intra"},
	} {
		_, err := metric.NewClustered(c.clusters, c.size, c.intra)
		if ve := (*metric.ValueError)(nil); !errors.As(err, &ve) || ve.Arg != c.arg {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestClustered_IndexOutOfRangePanics(t *testing.T) {
	f, _ := metric.NewClustered(2, 3, 0.5)
	for _, ij := range [][2]int{{-1, 0}, {0, -1}, {6, 6}, {0, 6}} {
		t.Run(fmt.Sprint(ij), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f.Distance(ij[0], ij[1])
		})
	}
}
