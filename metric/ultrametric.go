package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/spanning"
)

// Ultrametric is a finite metric with the strong triangle inequality d(i,j) <= max(d(i,k), d(k,j)).
// Its points stand in a row with a height between each two neighbors, as the leaves of its
// dendrogram do, and the distance of two points is, exactly, the largest height between them. A
// distance costs O(1), all from a point O(n), memory is O(n log n).
type Ultrametric struct {
	order   []int // order[p] is the point at position p
	pos     []int // pos[order[p]] = p
	heights rangeMax[float64]
	unit    Unit
}

// NewUltrametric returns the ultrametric on n = len(order) points that stand in the given order,
// each index below n once, with the n-1 given heights between neighbors, finite and >= 0:
//
//	d(order[p], order[q]) = max(heights[p:q]) for p < q.
//
// Both slices are copied. The errors are [ErrEmpty], [*SizeError], [*ValueError] and
// [*MemoryError]. O(n log n).
func NewUltrametric(order []int, heights []float64) (*Ultrametric, error) {
	const op = "metric: NewUltrametric"
	n := len(order)
	if err := cmp.Or(tableSize(op, "order", n), fault.Size(op, "heights", len(heights), n-1),
		fault.Permutation(op, "order", order, n), fault.AllNonNegative(op, "heights", heights)); err != nil {
		return nil, err
	}
	return newUltrametric(slices.Clone(order), slices.Clone(heights)), nil
}

// newUltrametric takes checked slices, and keeps them.
func newUltrametric(order []int, heights []float64) *Ultrametric {
	return &Ultrametric{order: order, pos: inverse(order), heights: newRangeMax(heights)}
}

// Merge joins the clusters A and B of a dendrogram at a height. See [FromLinkage].
type Merge struct {
	A, B   int
	Height float64
}

// FromLinkage returns the ultrametric of a dendrogram over n points, given by its n-1 merges as
// scipy's linkage numbers them: cluster i < n is the point i alone, cluster n+k is made by
// merges[k] out of two earlier clusters, each used once. Two points lie at the height of the merge
// that joins them, finite and at least those of the merges below. The errors are [*ValueError],
// with the merge as Index, [*SizeError], [ErrEmpty] and [*MemoryError]. O(n log n).
func FromLinkage(n int, merges []Merge) (*Ultrametric, error) {
	const op = "metric: FromLinkage"
	if err := cmp.Or(tableSize(op, "n", n), fault.Size(op, "merges", len(merges), n-1)); err != nil {
		return nil, err
	}
	// A cluster is a linked list of points with the height after each.
	first, last := make([]int, 2*n-1), make([]int, 2*n-1)
	used := make([]bool, 2*n-1)
	next, after := make([]int, n), make([]float64, n)
	for i := range n {
		first[i], last[i] = i, i
	}
	for k, m := range merges {
		for _, c := range [2]int{m.A, m.B} {
			if c < 0 || c >= n+k || used[c] {
				return nil, &ValueError{Op: op, Arg: "clusters of merges", Index: k, Value: float64(c),
					Want: fmt.Sprintf("an index in [0, %d) that no merge has used", n+k)}
			}
			used[c] = true
			low := 0.0
			if c >= n {
				low = merges[c-n].Height
			}
			if !(m.Height >= low && m.Height <= math.MaxFloat64) {
				return nil, &ValueError{Op: op, Arg: "heights of merges", Index: k, Value: m.Height,
					Want: fmt.Sprintf("a finite number, at least the height %v of cluster %d", low, c)}
			}
		}
		next[last[m.A]], after[last[m.A]] = first[m.B], m.Height
		first[n+k], last[n+k] = first[m.A], last[m.B]
	}
	order, heights := make([]int, n), make([]float64, n-1)
	i := first[2*n-2]
	for p := range order {
		order[p] = i
		if p < len(heights) {
			heights[p] = after[i]
		}
		i = next[i]
	}
	return newUltrametric(order, heights), nil
}

// Len returns the number of points.
func (u *Ultrametric) Len() int { return len(u.order) }

// Unit returns that of the metric that it was made of.
func (u *Ultrametric) Unit() Unit { return u.unit }

// String is for people: "ultrametric on 5 points".
func (u *Ultrametric) String() string { return fmt.Sprintf("ultrametric on %d points", u.Len()) }

// Distance returns the distance between points i and j.
func (u *Ultrametric) Distance(i, j int) float64 {
	p, q := u.pos[i], u.pos[j]
	switch {
	case p < q:
		return u.heights.max(p, q)
	case p > q:
		return u.heights.max(q, p)
	}
	return 0
}

// DistancesFrom implements [RowReader].
func (u *Ultrametric) DistancesFrom(i int, dst []float64) []float64 {
	dst = finite.Grow(dst, len(u.order))
	h, p := u.heights.values(), u.pos[i]
	dst[i] = 0
	m := 0.0
	for q := p; q < len(h); q++ {
		m = max(m, h[q])
		dst[u.order[q+1]] = m
	}
	m = 0
	for q := p - 1; q >= 0; q-- {
		m = max(m, h[q])
		dst[u.order[q]] = m
	}
	return dst
}

// Order returns a copy of the order the points stand in.
func (u *Ultrametric) Order() []int { return slices.Clone(u.order) }

// Heights returns a copy of the n-1 heights between neighbors in that order.
func (u *Ultrametric) Heights() []float64 { return slices.Clone(u.heights.values()) }

// Clusters returns, for every point, the number of its closed ball of radius s: two points have the
// same number where their distance is at most s. The balls are numbered 0, 1, ... by their smallest
// index. For s negative or NaN every point has its own. O(n).
func (u *Ultrametric) Clusters(s float64) []int {
	h := u.heights.values()
	label := make([]int, len(u.order)) // first the run of the ball
	run := 0
	for p, i := range u.order {
		if p > 0 && !(h[p-1] <= s) {
			run++
		}
		label[i] = run
	}
	number := make([]int, run+1) // of a run, plus 1
	count := 0
	for i, r := range label {
		if number[r] == 0 {
			count++
			number[r] = count
		}
		label[i] = number[r] - 1
	}
	return label
}

// rangeMax returns the largest number of any stretch of a list in O(1). levels[l][p] is the largest
// of the 2^l numbers from p on, so two entries of one level cover a stretch.
type rangeMax[T cmp.Ordered] struct{ levels [][]T }

// newRangeMax keeps v. It takes O(n log n) time and memory.
func newRangeMax[T cmp.Ordered](v []T) rangeMax[T] {
	levels := [][]T{v}
	for half := 1; 2*half <= len(v); half *= 2 {
		below := levels[len(levels)-1]
		level := make([]T, len(v)-2*half+1)
		for p := range level {
			level[p] = larger(below[p], below[p+half])
		}
		levels = append(levels, level)
	}
	return rangeMax[T]{levels}
}

func (r rangeMax[T]) values() []T {
	if r.levels == nil { // of a zero Ultrametric
		return nil
	}
	return r.levels[0]
}

// max returns the largest of the numbers lo, ..., hi-1. lo < hi.
func (r rangeMax[T]) max(lo, hi int) T {
	l := bits.Len(uint(hi-lo)) - 1
	level := r.levels[l]
	return larger(level[lo], level[hi-1<<l])
}

// larger is max without its care for NaN, which the lists never hold.
func larger[T cmp.Ordered](a, b T) T {
	if a < b {
		return b
	}
	return a
}

// tableSize checks that there are n entries, and memory for a rangeMax over them.
func tableSize(op, arg string, n int) error {
	return cmp.Or(fault.Empty(op, arg, n), fault.Memory(op, float64(n)*float64(bits.Len(uint(n))), 8))
}

func ascending(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func inverse(perm []int) []int {
	inv := make([]int, len(perm))
	for p, i := range perm {
		inv[i] = p
	}
	return inv
}

// Subdominant returns the largest ultrametric that is nowhere above f, that of single linkage: the
// least, over all ways from i to j, of the longest step. A negative or non-finite distance is a
// [*Violation], no points are [ErrEmpty]. f needs no triangle inequality. O(n^2) time, O(n) memory
// beside the result.
func Subdominant(ctx context.Context, f Finite) (*Ultrametric, error) {
	u, _, err := subdominant(ctx, "metric: Subdominant", f)
	return u, err
}

// ValidateUltrametric returns nil where f(i,j) <= (1+tol) u(i,j) for all pairs, u being the
// subdominant ultrametric of f, tol >= 0. Otherwise the error is a [*Violation] of
// [UltrametricLaw], a triple with positive Excess, which may be less than tol grants, because f can
// rise above u in many small steps. Other errors are those of [Subdominant], and a [*ValueError]
// for tol. O(n^2) time on every core, O(n) memory for each.
func ValidateUltrametric(ctx context.Context, f Finite, tol float64) error {
	const op = "metric: ValidateUltrametric"
	if err := fault.NonNegative(op, "tol", tol); err != nil {
		return err
	}
	_, err := ultrametric(ctx, op, f, tol)
	return err
}

// AsUltrametric returns f as an [Ultrametric] with the same distances, or the error of
// [ValidateUltrametric] at tol = 0. O(1) for an *Ultrametric, O(n log n) for a [*Clustered],
// otherwise O(n^2) on every core.
func AsUltrametric(ctx context.Context, f Finite) (*Ultrametric, error) {
	const op = "metric: AsUltrametric"
	switch f := f.(type) {
	case *Ultrametric:
		if f != nil {
			return f, nil
		}
	case *Clustered:
		if f != nil && f.Len() > 0 {
			return f.ultrametric(op)
		}
	}
	return ultrametric(ctx, op, f, 0)
}

// ultrametric returns the subdominant ultrametric of f where f is nowhere more
// than 1+tol times as large.
func ultrametric(ctx context.Context, op string, f Finite, tol float64) (*Ultrametric, error) {
	u, parent, err := subdominant(ctx, op, f)
	if err != nil {
		return nil, err
	}
	err = firstViolation(ctx, op, f.Len(), 16, func(_, lo, hi int) *Violation {
		var a, b []float64
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			a, b = finite.Row(f, i, a), u.DistancesFrom(i, b)
			for j := i + 1; j < len(a); j++ {
				if !(a[j] <= b[j]*(1+tol)) {
					return stepAbove(f, u, parent, i, j)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

// stepAbove returns a triple against the strong triangle inequality, given a pair with f(i,j) >
// u(i,j).
//
// All steps of the way from i to j in the minimum spanning tree are at most b = u(i,j). Where the
// distance from i passes b, from stop p to stop q, f(i,q) exceeds f(i,p) and f(p,q). The triple
// returned is the one on the way with the largest excess.
func stepAbove(f Finite, u *Ultrametric, parent []int, i, j int) *Violation {
	// Climb to where the two branches meet. Parents stand earlier in the order.
	var up, down []int
	for x, y := i, j; x != y; {
		if u.pos[x] > u.pos[y] {
			x = parent[x]
			up = append(up, x)
		} else {
			down = append(down, y)
			y = parent[y]
		}
	}
	slices.Reverse(down)
	stops := append(up, down...) // p1, ..., j, and the meeting point once
	worst := &Violation{Axiom: UltrametricLaw, I: i, J: j, K: -1}
	for t := 1; t < len(stops); t++ {
		p, q := stops[t-1], stops[t]
		if excess := f.Distance(i, q) - max(f.Distance(i, p), f.Distance(p, q)); excess > worst.Excess {
			worst.J, worst.K, worst.Excess = q, p, excess
		}
	}
	return worst
}

// subdominant runs Prim's algorithm from point 0. parent is the minimum spanning tree it finds;
// that of point 0 is -1.
//
// The order in which the points join, with the length of the edge that brings each, is the
// subdominant ultrametric u as it stands. Let b be the largest of these lengths after a, up to and
// including c. (1) u(a,c) >= b: before the point of length b joined, no edge shorter than b left
// the set, which held a and not c. (2) u(a,c) <= b, as edges of at most b connect all points from a
// to c, by induction on c: c came by such an edge from some p. Where p comes before a, that edge
// was on offer since p joined, so all points after p, up to c, came by edges of at most b: start
// from p in place of a. Now p is one of the points before c, which are connected.
func subdominant(ctx context.Context, op string, f Finite) (u *Ultrametric, parent []int, err error) {
	n := fault.Len(f)
	if err := tableSize(op, "f", n); err != nil {
		return nil, nil, err
	}
	edges, err := spanning.Prim(ctx, f, nil, func(i, j int, d float64) error {
		return &Violation{Op: op, Axiom: FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)}
	})
	if err != nil {
		return nil, nil, err
	}
	order, heights := make([]int, 1, n), make([]float64, 0, n-1)
	parent = make([]int, n)
	parent[0] = -1
	for _, e := range edges {
		i, j := int(e.I), int(e.J)
		order, heights, parent[j] = append(order, j), append(heights, f.Distance(i, j)), i
	}
	u = newUltrametric(order, heights)
	u.unit = UnitOf(f)
	return u, parent, nil
}
