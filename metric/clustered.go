package metric

import (
	"cmp"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
)

// Clustered is the metric of IRC24, Section 6.2, on clusters*size points: point i lies in cluster
// i/size, points of two clusters are at distance 1 ([Clustered.Scaled]: another) and two points of
// one cluster at a distance up to that. It is an ultrametric. It stores nothing: memory O(1).
type Clustered struct {
	clusters, size int
	intra, inter   float64
	unit           Unit
}

// NewClustered returns the clustered metric. clusters and size are at least 1,
// 0 < intra <= 1; a [*ValueError] names the argument that is not.
func NewClustered(clusters, size int, intra float64) (*Clustered, error) {
	const op = "metric: NewClustered"
	if clusters < 1 {
		return nil, fault.Value(op, "clusters", float64(clusters), "at least 1")
	}
	if size < 1 || size > math.MaxInt/clusters {
		return nil, fault.Value(op, "size", float64(size), "at least 1, and clusters*size an int")
	}
	if !(intra > 0 && intra <= 1) {
		return nil, fault.Value(op, "intra", intra, "a number in (0, 1]")
	}
	return &Clustered{clusters, size, intra, 1, ""}, nil
}

// Scaled returns c with all distances times factor > 0, in this unit. A [*ValueError] reports a
// factor that is not positive, or leaves no distance within a cluster.
func (c *Clustered) Scaled(factor float64, unit Unit) (*Clustered, error) {
	const op = "metric: Clustered.Scaled"
	if err := cmp.Or(fault.Empty(op, "c", fault.Len(c)), fault.Name(op, "unit", string(unit))); err != nil {
		return nil, err
	}
	s := &Clustered{c.clusters, c.size, float64(c.intra * factor), float64(c.inter * factor), unit}
	if !(s.intra > 0 && s.inter <= math.MaxFloat64) {
		return nil, fault.Value(op, "factor", factor, "a positive number, and all distances too")
	}
	return s, nil
}

// Len returns the number of points.
func (c *Clustered) Len() int { return c.clusters * c.size }

// Clusters returns the number of clusters.
func (c *Clustered) Clusters() int { return c.clusters }

// Size returns the number of points of each cluster.
func (c *Clustered) Size() int { return c.size }

// Intra returns the distance between two points of one cluster.
func (c *Clustered) Intra() float64 { return c.intra }

// Inter returns the distance between points of two clusters.
func (c *Clustered) Inter() float64 { return c.inter }

// Unit returns the unit of the distances.
func (c *Clustered) Unit() Unit { return c.unit }

func (c *Clustered) cluster(i int) int {
	if uint(i) >= uint(c.Len()) {
		panic(fmt.Sprintf("metric: index %d out of range [0, %d)", i, c.Len()))
	}
	return i / c.size
}

// Distance returns the distance between points i and j.
func (c *Clustered) Distance(i, j int) float64 {
	switch a, b := c.cluster(i), c.cluster(j); {
	case a != b:
		return c.inter
	case i != j:
		return c.intra
	default:
		return 0
	}
}

// DistancesFrom implements [RowReader].
func (c *Clustered) DistancesFrom(i int, dst []float64) []float64 {
	lo := c.cluster(i) * c.size
	dst = finite.Grow(dst, c.Len())
	for j := range dst {
		dst[j] = c.inter
		if j >= lo && j < lo+c.size {
			dst[j] = c.intra
		}
	}
	dst[i] = 0
	return dst
}

// ultrametric lets the points stand cluster by cluster, as they are numbered.
func (c *Clustered) ultrametric(op string) (*Ultrametric, error) {
	n := c.Len()
	if err := tableSize(op, "f", n); err != nil {
		return nil, err
	}
	heights := make([]float64, n-1)
	for p := range heights {
		heights[p] = c.Distance(p, p+1)
	}
	u := newUltrametric(ascending(n), heights)
	u.unit = c.unit
	return u, nil
}
