package emd

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// Clusters is a space of Count clusters of Size items each: item i lies in cluster i/Size,
// two items of one cluster are at distance Within*Diameter, and items of two clusters at
// distance Diameter. It stores nothing. Functions that take a Clusters check it; its own
// methods panic for an item out of range, and for distances without a Diameter.
//
// Source: IRC24, Section 5.
type Clusters struct {
	Count, Size int         // >= 1
	Within      float64     // 0 < Within <= 1
	Diameter    float64     // > 0
	Unit        metric.Unit // of the diameter
}

// check says what is wrong with c.
func (c Clusters) check(op string) error {
	bad := func(arg string, v float64, want string) error {
		return fault.Value(op, "Clusters."+arg, v, want)
	}
	switch {
	case c.Count < 1:
		return bad("Count", float64(c.Count), "a number >= 1")
	case c.Size < 1 || c.Size > math.MaxInt32/c.Count:
		return bad("Size", float64(c.Size), "a number >= 1, and Count*Size below 2^31")
	case !(c.Within > 0 && c.Within <= 1):
		return bad("Within", c.Within, "a number in (0, 1]")
	case !(c.Diameter > 0) || math.IsInf(c.Diameter, 1):
		return bad("Diameter", c.Diameter, "a positive number")
	case c.within() == 0:
		return bad("Within", c.Within, "a number with Within*Diameter > 0 in float64")
	}
	return nil
}

// within is the distance inside a cluster, across that of two clusters.
func (c Clusters) within() float64 { return float64(c.Within * c.across()) }

func (c Clusters) across() float64 {
	if !(c.Diameter > 0) {
		panic(fmt.Sprintf("emd: Clusters.Diameter is %v: want the distance of two clusters", c.Diameter))
	}
	return c.Diameter
}

// distances is what [distancesOf] finds by looking at all distances, but that
// the diameter is Diameter for a single cluster too.
func (c Clusters) distances(op string) (distances, error) {
	e := distances{least: math.Inf(1), positive: math.Inf(1)}
	if err := c.check(op); err != nil {
		return e, err
	}
	e.diameter, e.far = c.Diameter, [2]int{0, c.Len() - 1}
	switch {
	case c.Size > 1:
		e.least = c.within()
	case c.Count > 1:
		e.least = c.Diameter
	}
	e.positive = e.least
	return e, nil
}

// Len returns the number of items.
func (c Clusters) Len() int { return c.Count * c.Size }

// cluster returns the cluster of item i, counted from 0.
func (c Clusters) cluster(i int) int {
	if uint(i) >= uint(c.Len()) {
		panic(fmt.Sprintf("emd: item %d out of range [0, %d)", i, c.Len()))
	}
	return i / c.Size
}

// Distance returns the distance between items i and j.
func (c Clusters) Distance(i, j int) float64 {
	switch a, b := c.cluster(i), c.cluster(j); {
	case a != b:
		return c.across()
	case i != j:
		return c.within()
	}
	return 0
}

// DistancesFrom implements [metric.RowReader].
func (c Clusters) DistancesFrom(i int, dst []float64) []float64 {
	if cap(dst) < c.Len() {
		dst = make([]float64, c.Len())
	}
	return c.fill(i, dst[:c.Len()], c.within(), c.across())
}

// fill writes 0 for item i, in for the rest of its cluster and out elsewhere.
func (c Clusters) fill(i int, dst []float64, in, out float64) []float64 {
	lo := c.cluster(i) * c.Size
	for j := range dst {
		dst[j] = out
	}
	for j := lo; j < lo+c.Size; j++ {
		dst[j] = in
	}
	dst[i] = 0
	return dst
}

// tree returns the tree of depth two whose leaves are the items, in order, and
// whose path metric is c. O(Len()).
func (c Clusters) tree() (*metric.Tree, error) {
	if err := c.check("emd: Clusters"); err != nil {
		return nil, err
	}
	n := 1 + c.Count + c.Len()
	parent, length := make([]int, n), make([]float64, n)
	parent[0] = -1
	for v := 1; v < n; v++ {
		if v > c.Count {
			parent[v], length[v] = 1+(v-1-c.Count)/c.Size, c.within()/2
		} else {
			length[v] = (c.across() - c.within()) / 2
		}
	}
	return metric.NewTree(parent, length)
}

// W1 returns the earth mover's distance of mu and nu, weights on the items: with
// r = Within and P the sums over clusters,
//
//	Diameter * (r/2 * ||mu-nu||_1 + (1-r)/2 * ||P(mu-nu)||_1).
//
// Weights may be negative. Errors are those of [wasserstein.Distance].
// O(Len()).
func (c Clusters) W1(mu, nu []float64) (float64, error) {
	if err := c.check("emd: Clusters.W1"); err != nil {
		return 0, err
	}
	m := fault.Must(metric.NewClustered(c.Count, c.Size, c.Within)) // c is checked
	d, err := wasserstein.Distance(context.Background(), m, mu, nu) // O(n): nothing to cancel
	return c.Diameter * d, err
}
