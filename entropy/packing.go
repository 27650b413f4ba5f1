package entropy

import (
	"context"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/clique"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Proof says what a bound of a packing or covering number rests on.
type Proof string

const (
	// ByPartition is a partition into sets of diameter <= s, of which a
	// separated set has at most one point each.
	ByPartition Proof = "partition"
	// ByPacking is a set of points no two of which fit in one ball.
	ByPacking Proof = "packing"
	// BySearch is a branch and bound, which has no short witness.
	BySearch Proof = "branch and bound"
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

// Packing encloses the packing number N(S, s) of a subset S of f: the largest
// number of points of S with pairwise distances > s, strictly (BSV24). A nil
// subset is all of f; otherwise it lists indices, and one that is listed twice
// counts once. s is finite and >= 0, and N(S, 0) is the number of points of S
// at positive distances.
//
// The number is exact for an ultrametric, where it counts the balls of radius s
// that meet S, and wherever a separated set is found as large as a partition.
// Finding it is NP-hard otherwise: up to 4096 points a branch and bound closes
// the gap for S of some dozens of points, and for larger S with small N; see
// [Options].Nodes. Beyond 4096 points the bounds come from nets and partitions, and
// are exact on a line. Where sets have many points the partitions take the triangle
// inequality of f to hold up to [metric.DefaultTolerance].
//
// A *metric.Ultrametric costs O(n). Otherwise up to 4096 points cost O(|S|^2),
// and the search; more cost some nets of f, near-linear where it has an Index
// with a tree, and |S| N distances where it has none. It runs on one core and
// reports no progress. Errors are ErrEmpty, *ValueError and the context's.
func Packing(f metric.Finite, subset []int, s float64, o *Options) (Count, error) {
	const op = "entropy: Packing"
	pts, err := checkSubset(op, f, subset, s)
	if err != nil {
		return Count{}, err
	}
	o = o.orDefault()
	if u := hierarchyOf(o.context(), f); u != nil {
		return packClusters(u, pts, s), o.context().Err()
	}
	var p packer
	return p.pack(o.context(), f, pts, s, o.nodes())
}

// checkSubset checks the arguments of Packing and Covering and returns the
// subset in ascending order.
func checkSubset(op string, f metric.Finite, subset []int, s float64) ([]int, error) {
	if err := checkPoints(op, f); err != nil {
		return nil, err
	}
	if err := fault.NonNegative(op, "s", s); err != nil {
		return nil, err
	}
	if err := checkDistances(op, f); err != nil {
		return nil, err
	}
	n := f.Len()
	if subset == nil {
		return allPoints(n), nil
	}
	if err := fault.Empty(op, "subset", len(subset)); err != nil {
		return nil, err
	}
	if err := fault.Indices(op, "subset", subset, n); err != nil {
		return nil, err
	}
	pts := slices.Clone(subset)
	slices.Sort(pts)
	return slices.Compact(pts), nil
}

// allPoints returns 0, ..., n-1.
func allPoints(n int) []int {
	pts := make([]int, n)
	for i := range pts {
		pts[i] = i
	}
	return pts
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
	p.Context = ctx
	if len(pts) > matrixPoints {
		return p.packLarge(ctx, f, pts, s, nodes)
	}
	p.far.Far(f.Distance, pts, s)
	if err := ctx.Err(); err != nil {
		return Count{}, err
	}
	set, hi, class, k := p.cliques(nodes)
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
// and a partition into k sets without edges inside. It searches only where clique
// and partition leave a gap.
func (p *packer) cliques(nodes int) (set []int, hi int, class []int32, k int) {
	p.Load(&p.far)
	none := 0
	set, hi = p.Solve(p.far.Len(), &none)
	class, k = p.Partition()
	if hi = min(hi, k); len(set) < hi && nodes > 0 {
		nodes = searchNodes(p.far.Len(), nodes)
		set, hi = p.Solve(hi, &nodes)
		hi = min(hi, k)
	}
	return set, hi, class, k
}

// searchNodes is the number of nodes to spend on m points out of a budget. A
// node takes time in proportion to m^2 at most; large problems get fewer, so
// that the budget bounds the time as well.
func searchNodes(m, nodes int) int {
	const small = 256 // points up to which the budget is spent in full
	r := 1 + (m/small)*(m/small)
	return (nodes + r - 1) / r
}
