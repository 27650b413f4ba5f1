package wasserstein

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/dendrogram"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// W1Tree returns the distance of mu and nu, weights on the leaves of t, under
// the path metric: the sum over the edges of their length times the difference
// of what mu and nu have below. Weight k lies on leaf t.Leaves()[k], which is
// point k of t.PathMetric().
//
// The weights may be negative, for signed measures of equal mass. A difference of
// the totals up to 2^-30 of their sizes counts as if it lay at the root; a larger one
// is a [*MassError].
//
// The relative error is about 2^-51, plus the absolute error n*2^-103 times the
// total variation and the height of the tree. The result is +Inf where it would
// overflow. The other errors are [metric.ErrEmpty], [*metric.SizeError] and
// [*metric.ValueError]. O(n) for n nodes.
func W1Tree(t *metric.Tree, mu, nu []float64) (float64, error) {
	const op = "wasserstein: W1Tree"
	if err := fault.Empty(op, "t", fault.Len(t)); err != nil {
		return 0, err
	}
	leaves := t.Leaves()
	if err := checkMeasures(op, mu, nu, len(leaves), len(leaves), true); err != nil {
		return 0, err
	}
	return treeCost(t, treeBelow(t, leaves, mu, nu)), nil
}

// W1TreeNodes is [W1Tree] with weights on all nodes: weight v lies on node v,
// which is point v of t.NodeMetric().
func W1TreeNodes(t *metric.Tree, mu, nu []float64) (float64, error) {
	const op = "wasserstein: W1TreeNodes"
	n := fault.Len(t)
	if err := cmp.Or(fault.Empty(op, "t", n), checkMeasures(op, mu, nu, n, n, true)); err != nil {
		return 0, err
	}
	return treeCost(t, treeBelow(t, nil, mu, nu)), nil
}

// treeBelow returns what mu-nu has at and below each node. Weight k lies on
// nodes[k], on node k where nodes is nil; a nil nu is 0.
func treeBelow(t *metric.Tree, nodes []int, mu, nu []float64) []exact.DD {
	below := make([]exact.DD, t.Len())
	for k, w := range mu {
		v := k
		if nodes != nil {
			v = nodes[k]
		}
		below[v].Hi = w
		if nu != nil {
			below[v] = below[v].AddFloat(-nu[k])
		}
	}
	for _, v := range slices.Backward(t.Preorder()) {
		if p := t.Parent(v); p >= 0 {
			below[p] = below[p].Add(below[v])
		}
	}
	return below
}

// treeCost sums length times |below| over the edges.
func treeCost(t *metric.Tree, below []exact.DD) float64 {
	var cost exact.DD
	for v, d := range below {
		if v != t.Root() {
			cost = cost.AddFloat(float64(t.Length(v) * math.Abs(d.Hi)))
		}
	}
	return sumOrInf(cost)
}

// W1Ultrametric returns the distance of mu and nu, weights on the points of u.
// Signed measures, totals, rounding and errors are as in [W1Tree].
//
// An ultrametric is a tree metric: with every join at half its height and the
// points at 0, the path between two points climbs to their join and back. So the
// distance is half the sum, over the clusters that are joined, of the rise to the
// next join times the difference of mass. O(n).
func W1Ultrametric(u *metric.Ultrametric, mu, nu []float64) (float64, error) {
	const op = "wasserstein: W1Ultrametric"
	n := fault.Len(u)
	if err := cmp.Or(fault.Empty(op, "u", n), checkMeasures(op, mu, nu, n, n, true)); err != nil {
		return 0, err
	}
	order, heights := u.Order(), u.Heights()
	var cost exact.DD
	below := make([]exact.DD, len(heights)) // mass of mu-nu, by join
	dendrogram.Walk(heights, func(gap, left, right int) {
		side := func(k, position int) exact.DD {
			h, mass := 0.0, exact.DD{}
			if k >= 0 {
				h, mass = heights[k], below[k]
			} else {
				i := order[position]
				mass = exact.DD{Hi: mu[i]}.AddFloat(-nu[i])
			}
			cost = cost.AddFloat(float64((heights[gap] - h) / 2 * math.Abs(mass.Hi)))
			return mass
		}
		below[gap] = side(left, gap).Add(side(right, gap+1))
	})
	return sumOrInf(cost), nil
}

// W1Clustered returns the distance of mu and nu, weights on the points of c, by
// the closed form
//
//	r/2 * sum_i |mu_i - nu_i| + (1-r)/2 * sum_C |mu(C) - nu(C)|
//
// over the points i and the clusters C, r = c.Intra() (the metric of IRC24,
// section 5, is that of a tree of depth two). Signed measures, totals, rounding
// and errors are as in [W1Tree]. O(n), no allocation.
func W1Clustered(c *metric.Clustered, mu, nu []float64) (float64, error) {
	const op = "wasserstein: W1Clustered"
	n := fault.Len(c)
	if err := cmp.Or(fault.Empty(op, "c", n), checkMeasures(op, mu, nu, n, n, true)); err != nil {
		return 0, err
	}
	var points, clusters exact.DD
	for lo := 0; lo < len(mu); lo += c.Size() {
		var below exact.DD
		for i := lo; i < lo+c.Size(); i++ {
			points = points.AddFloat(math.Abs(mu[i] - nu[i]))
			below = below.AddFloat(mu[i]).AddFloat(-nu[i])
		}
		clusters = clusters.AddFloat(math.Abs(below.Hi))
	}
	r := c.Intra()
	return float64(r/2*points.Hi) + float64((1-r)/2*clusters.Hi), nil
}
