package spaces

import (
	"context"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// hierarchyPoints is the number of points up to which an unknown metric is
// checked in full for being an ultrametric, at n^2 distances twice.
const hierarchyPoints = 1 << 13

// hierarchyTriples is the number of random triples looked at first: a metric
// far from an ultrametric does not pass.
const hierarchyTriples = 256

// HierarchyOf returns f as an *metric.Ultrametric with the same distances, or
// nil where it is none or is too large to tell.
func HierarchyOf(ctx context.Context, f metric.Finite) *metric.Ultrametric {
	n := f.Len()
	switch g := f.(type) {
	case *metric.Ultrametric:
		return g
	case *metric.Clustered:
	default:
		if n > hierarchyPoints {
			return nil
		}
		r := random.Seeded(1)
		for range hierarchyTriples {
			i, j, k := r.IntN(n), r.IntN(n), r.IntN(n)
			if f.Distance(i, j) > max(f.Distance(i, k), f.Distance(k, j)) {
				return nil
			}
		}
	}
	u, err := metric.AsUltrametric(ctx, f)
	if err != nil {
		return nil
	}
	return u
}
