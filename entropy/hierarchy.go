package entropy

import (
	"context"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

// hierarchyPoints is the number of points up to which an unknown metric is
// checked in full for being an ultrametric, at n^2 distances twice. The check
// runs only where no random triple speaks against it.
const hierarchyPoints = 1 << 13

// hierarchyTriples is the number of random triples looked at first. They cost
// nothing beside anything else, and a metric that is far from an ultrametric
// does not pass.
const hierarchyTriples = 256

// hierarchyOf returns f as an *metric.Ultrametric with the same distances, or
// nil where it is none or is too large to tell.
func hierarchyOf(ctx context.Context, f metric.Finite) *metric.Ultrametric {
	n := f.Len()
	switch g := f.(type) {
	case *metric.Ultrametric:
		return g
	case *metric.Clustered:
	default:
		if n > hierarchyPoints {
			return nil
		}
		r := rng.Seeded(1)
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

// packClusters is Packing for an ultrametric: the balls of radius s are the
// sets, and one point of each is a separated set.
func packClusters(u *metric.Ultrametric, pts []int, s float64) Count {
	ball := u.Clusters(s)
	number := make(map[int]int)
	c := Count{Proof: ByPartition}
	for _, i := range pts {
		k, ok := number[ball[i]]
		if !ok {
			k = len(c.Sets)
			number[ball[i]] = k
			c.Sets = append(c.Sets, nil)
			c.Separated = append(c.Separated, i)
		}
		c.Sets[k] = append(c.Sets[k], i)
	}
	c.Lo, c.Hi = len(c.Sets), len(c.Sets)
	return c
}
