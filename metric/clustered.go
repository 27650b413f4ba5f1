package metric

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
)

// Clustered is the metric of IRC24, section 5, on clusters*size points: point i
// lies in cluster i/size, two points of one cluster are at distance intra <= 1
// and points of two clusters at distance 1. It is an ultrametric, and the leaf
// metric of a tree of depth two. It stores nothing: memory O(1).
type Clustered struct {
	clusters, size int
	intra          float64
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
	return &Clustered{clusters, size, intra}, nil
}

// Len returns the number of points.
func (c *Clustered) Len() int { return c.clusters * c.size }

// Clusters returns the number of clusters.
func (c *Clustered) Clusters() int { return c.clusters }

// Size returns the number of points of each cluster.
func (c *Clustered) Size() int { return c.size }

// Intra returns the distance between two points of one cluster.
func (c *Clustered) Intra() float64 { return c.intra }

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
		return 1
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
		dst[j] = 1
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
	if err := tableSize(op, n); err != nil {
		return nil, err
	}
	heights := make([]float64, n-1)
	for p := range heights {
		heights[p] = c.Distance(p, p+1)
	}
	return newUltrametric(ascending[int](n), heights), nil
}
