package scale

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/clique"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
)

// Proof says what an end of a [Count] or [Scale] rests on.
type Proof string

const (
	// ByPartition is a partition into sets of diameter <= s, of which a
	// separated set has at most one point each.
	ByPartition Proof = "partition"
	// BySearch is a branch and bound, which has no short witness.
	BySearch Proof = "branch and bound"
	// ByHierarchy is a count of clusters in the dendrogram of an ultrametric
	// rho2, where greedy sets are largest ones.
	ByHierarchy Proof = "hierarchy"
	// ByPairs is a bound for every pair of points.
	ByPairs Proof = "pairs"
	// ByDiameter is the diameter of the space in rho2, or a bound of it.
	ByDiameter Proof = "diameter"
	// ByAlpha is the upper end at a smaller level: the scales do not increase with alpha.
	ByAlpha Proof = "smaller alpha"
)

// Count encloses a packing number: Lo <= N <= Hi.
type Count struct {
	Lo, Hi int

	// Separated are Lo points pairwise more than s apart, which prove Lo.
	Separated []int

	// Sets is the best partition found into sets of diameter <= s. It proves Hi
	// where Proof is [ByPartition], and has more than Hi sets otherwise.
	Sets  [][]int
	Proof Proof
}

// Exact reports whether the number is known.
func (c Count) Exact() bool { return c.Lo == c.Hi }

// String is "[Lo, Hi]".
func (c Count) String() string { return fmt.Sprintf("[%d, %d]", c.Lo, c.Hi) }

// matrixPoints is the number of points up to which a packing problem is taken
// as a bit matrix: 2 MiB, and 8 million distances to fill it.
const matrixPoints = 4096

// Packing encloses the packing number N(S, s) of a subset S of f: the largest number of points of
// S with pairwise distances > s >= 0, strictly (BSV24). A nil subset is all of f, otherwise it
// lists indices, whose repetitions do not count.
//
// The number is exact for an ultrametric and on a line; it is NP-hard otherwise, and mostly found
// for S of some dozens of points ([Options].Nodes). The triangle inequality is taken to hold up to
// [metric.DefaultTolerance]. A *metric.Ultrametric costs O(n), others up to 4096 points O(|S|^2)
// and the search, more points some nets of f.
func Packing(ctx context.Context, f metric.Finite, subset []int, s float64, o *Options) (Count, error) {
	const op = "scale: Packing"
	pts, err := checkSubset(op, f, subset, s)
	if err != nil {
		return Count{}, err
	}
	if u := spaces.HierarchyOf(ctx, f); u != nil {
		return packClusters(u, pts, s), ctx.Err()
	}
	var p packer
	return p.pack(ctx, f, pts, s, budget(spaces.OrDefault(o).Nodes))
}

// checkSubset checks the arguments and returns the subset in ascending order.
func checkSubset(op string, f metric.Finite, subset []int, s float64) ([]int, error) {
	if err := cmp.Or(fault.NonNegative(op, "s", s), spaces.CheckMetric(op, f)); err != nil {
		return nil, err
	}
	n := f.Len()
	if subset == nil {
		return spaces.AllPoints(n), nil
	}
	if err := cmp.Or(fault.Empty(op, "subset", len(subset)), fault.Indices(op, "subset", subset, n)); err != nil {
		return nil, err
	}
	pts := slices.Clone(subset)
	slices.Sort(pts)
	return slices.Compact(pts), nil
}

// packer bounds packing numbers one after another with the same buffers. The
// zero value is ready; not for concurrent use.
type packer struct {
	clique.Solver
	far clique.Graph
}

// pack is Packing on checked arguments, for a metric that is no ultrametric.
// pts is ascending and not empty.
func (p *packer) pack(ctx context.Context, f metric.Finite, pts []int, s float64, nodes int) (Count, error) {
	if len(pts) > matrixPoints {
		return p.packLarge(ctx, f, pts, s, nodes)
	}
	if err := p.far.Far(ctx, f.Distance, pts, s); err != nil {
		return Count{}, err
	}
	set, hi, class, k := p.cliques(ctx, nodes)
	count := Count{Lo: len(set), Hi: hi, Sets: make([][]int, k), Proof: ByPartition}
	if hi < k {
		count.Proof = BySearch
	}
	for _, i := range set {
		count.Separated = append(count.Separated, pts[i])
	}
	slices.Sort(count.Separated)
	for i, c := range class {
		count.Sets[c] = append(count.Sets[c], pts[i])
	}
	return count, ctx.Err()
}

// cliques bounds the clique number of the graph far: a clique, an upper bound,
// and a partition into k sets without edges inside.
func (p *packer) cliques(ctx context.Context, nodes int) (set []int, hi int, class []int32, k int) {
	p.Load(&p.far)
	none := 0
	set, hi = p.Solve(ctx, p.far.Len(), &none)
	class, k = p.Partition()
	if hi = min(hi, k); len(set) < hi && nodes > 0 {
		nodes = searchNodes(p.far.Len(), nodes)
		set, hi = p.Solve(ctx, hi, &nodes)
		hi = min(hi, k)
	}
	return set, hi, class, k
}

// searchNodes is the number of nodes for m points out of a budget: large
// problems get fewer, so that it bounds the time as well.
func searchNodes(m, nodes int) int {
	const small = 256 // points up to which the budget is spent in full
	r := 1 + (m/small)*(m/small)
	return (nodes + r - 1) / r
}

// packLarge is pack without a matrix of all pairs.
func (p *packer) packLarge(ctx context.Context, f metric.Finite, pts []int, s float64, nodes int) (Count, error) {
	g := f
	if len(pts) < f.Len() {
		var err error
		if g, err = metric.Subset(f, pts); err != nil {
			return Count{}, err
		}
	}
	best := Count{Hi: len(pts) + 1}
	take := func(set []int, hi int, sets [][]int) {
		if len(set) > best.Lo {
			best.Lo, best.Separated = len(set), set
		}
		if sets != nil && (best.Sets == nil || len(sets) < len(best.Sets)) {
			best.Sets = sets
		}
		best.Hi = min(best.Hi, hi)
	}
	order := sweep(g)
	for _, order := range [][]int{nil, order} {
		set, err := metric.Net(ctx, g, s, order)
		if err != nil {
			return Count{}, err
		}
		take(set, best.Hi, nil)
	}
	sets := sweepSets(ctx, g, s, order)
	if sets == nil {
		var err error
		if sets, err = clusterSets(ctx, g, s); err != nil {
			return Count{}, err
		}
	}
	take(nil, len(sets), sets)
	if best.Lo < best.Hi {
		set, hi, sets, err := p.core(ctx, g, s, nodes)
		if err != nil {
			return Count{}, err
		}
		if sets != nil {
			take(set, hi, sets)
		}
	}
	best.Proof = ByPartition
	if best.Hi < len(best.Sets) {
		best.Proof = BySearch
	}
	if len(pts) < f.Len() {
		for k, i := range best.Separated {
			best.Separated[k] = pts[i]
		}
		for _, set := range best.Sets {
			for k, i := range set {
				set[k] = pts[i]
			}
		}
	}
	slices.Sort(best.Separated)
	return best, ctx.Err()
}

// sweep orders the points by their distance from a point at the rim, in which
// greedy sets are denser than in a random order.
func sweep(g metric.Finite) []int {
	ix := metric.NewIndex(g)
	rim, _ := ix.Farthest(0)
	return spaces.Ascending(finite.Row(g, rim, nil))
}

// sweepWork is the number of distances that sweepSets may look at: a second.
const sweepWork = 1 << 26

// sweepSets partitions g into sets of diameter at most s: the first point in the given order that
// has no set yet opens one, and what lies within s of it joins it, in that order, where it lies
// within s of all its points. On a line that is a least partition. It is nil where sets have too
// many points to look at all pairs.
func sweepSets(ctx context.Context, g metric.Finite, s float64, order []int) [][]int {
	ix := metric.NewIndex(g)
	place := make([]int, len(order))
	for k, i := range order {
		place[i] = k
	}
	done := make([]bool, len(order))
	var sets [][]int
	var ball []int
	work := 0
	for _, first := range order {
		if done[first] {
			continue
		}
		ball = ix.Ball(first, s, ball[:0])
		slices.SortFunc(ball, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
		var set []int
	next:
		for _, i := range ball {
			if done[i] {
				continue
			}
			if work > sweepWork || ctx.Err() != nil {
				return nil
			}
			for _, j := range set {
				if work++; g.Distance(i, j) > s {
					continue next
				}
			}
			set = append(set, i)
			done[i] = true
		}
		work += len(ball)
		sets = append(sets, set)
	}
	return sets
}

// clusterSets partitions g into the points nearest to each center of an s/2-net.
func clusterSets(ctx context.Context, g metric.Finite, s float64) ([][]int, error) {
	centers, err := metric.Net(ctx, g, s/2*spaces.SlackDown, nil)
	if err != nil {
		return nil, err
	}
	nearest, _, err := metric.Assign(ctx, g, centers)
	if err != nil {
		return nil, err
	}
	return group(nearest, len(centers)), nil
}

// group returns the nonempty sets of the points with one label in [0, k).
func group(label []int, k int) [][]int {
	sets := make([][]int, k)
	for i, l := range label {
		sets[l] = append(sets[l], i)
	}
	return slices.DeleteFunc(sets, func(s []int) bool { return len(s) == 0 })
}

// The core of a large problem is a net of it at a distance of s/4, or the finest of coreHalvings
// further halvings, of at most corePoints points: enough to see the shape of sets of diameter s,
// few enough for a bit matrix that is quick.
const (
	corePoints   = 2048
	coreHalvings = 6
)

// coreOf returns the core of g, the cell of each point, as a place in the net whose point is
// nearest, and the radius of each cell; net is nil where a net at s/4 has too many points already.
func coreOf(ctx context.Context, g metric.Finite, s float64) (net, cell []int, radius []float64, err error) {
	for k, eps := 0, s/4; k <= coreHalvings; k, eps = k+1, eps/2 {
		finer, err := metric.Net(ctx, g, eps, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		if len(finer) > corePoints {
			break
		}
		net = finer
	}
	if net == nil {
		return nil, nil, nil, nil
	}
	cell, dist, err := metric.Assign(ctx, g, net)
	if err != nil {
		return nil, nil, nil, err
	}
	radius = make([]float64, len(net))
	for i, c := range cell {
		radius[c] = max(radius[c], dist[i])
	}
	return net, cell, radius, nil
}

// core bounds the packing number through a net T finer than s. What is separated in T is separated.
// A separated set of g has at most one point in the cell of each t, and d(t,u) + r_t + r_u > s for
// the cells of any two of its points, r the radii: so it is no larger than a clique of the graph of
// these pairs. sets is nil where T would be too large.
func (p *packer) core(ctx context.Context, g metric.Finite, s float64, nodes int) (set []int, hi int, sets [][]int, err error) {
	net, cell, radius, err := coreOf(ctx, g, s)
	if err != nil || net == nil {
		return nil, 0, nil, err
	}
	if err := p.far.Far(ctx, g.Distance, net, s); err != nil {
		return nil, 0, nil, err
	}
	in, _, _, _ := p.cliques(ctx, nodes)
	for _, i := range in {
		set = append(set, net[i])
	}
	err = p.far.Far(ctx, func(a, b int) float64 {
		return g.Distance(net[a], net[b]) + radius[a] + radius[b]
	}, spaces.AllPoints(len(net)), s*spaces.SlackDown)
	if err != nil {
		return nil, 0, nil, err
	}
	_, hi, class, k := p.cliques(ctx, nodes)
	label := make([]int, len(cell))
	for i, c := range cell {
		label[i] = int(class[c])
	}
	return set, hi, group(label, k), nil
}
